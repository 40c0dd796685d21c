"""Keywords of clusters over languages."""

from __future__ import annotations

import numpy as np
import pytest

from newsrec.cluster import Keyword, class_weights, cluster_keywords, count_words
from newsrec.corpus.sample import LANGUAGES, read_news, read_texts
from newsrec.errors import DataError
from tests.cluster.shelves import ENCODER, ENGLISH, FINNISH, texts, tree

TWO = (0, 0, 0, 1, 1, 1)


def shown(found: tuple[Keyword, ...]) -> list[str]:
    return [one.word for one in found]


def test_the_formula_is_berttopics_and_damped_by_what_is_everywhere() -> None:
    counts = count_words(texts("eng", [("ferry news", ""), ("vaccine news", "vaccine")]))
    weights = class_weights(counts, np.array([0, 1])).toarray()
    where = counts.words.index
    # 5 words in 2 classes: A = 2.5. ferry: tf 1/2, f 1; vaccine: tf 2/3, f 2; news: tf 1/2, f 2.
    assert weights[0, where("ferry")] == pytest.approx(0.5 * np.log(1 + 2.5) * (1 - 0.2 / 0.5))
    assert weights[1, where("vaccine")] == pytest.approx(2 / 3 * np.log(2.25) * (1 - 0.4 * 1.5))
    assert weights[0, where("news")] == pytest.approx(0.5 * np.log(2.25) * (1 - 0.4 * 2))
    assert weights[1, where("news")] == 0  # rarer in that class than in all


def test_keywords_do_not_depend_on_the_order_of_articles() -> None:
    order = np.random.default_rng(3).permutation(6)
    labels = np.array(TWO)
    straight = cluster_keywords(tree(labels), 0, [count_words(texts("eng", ENGLISH))])
    mixed = texts("eng", [ENGLISH[i] for i in order])
    assert cluster_keywords(tree(labels[order]), 0, [count_words(mixed)]) == straight


def test_a_word_in_every_class_never_leads() -> None:
    chant = [(f"Klaxo {title}", f"klaxo {abstract}") for title, abstract in ENGLISH]
    for found in cluster_keywords(tree(TWO), 0, [count_words(texts("eng", chant))]):
        assert found
        assert "klaxo" not in shown(found)[:3]
    # Without a list the same holds for stop words: Faroese has none.
    found = cluster_keywords(tree(TWO), 0, [count_words(texts("fao", ENGLISH))], k=3)
    assert all("the" not in shown(one) for one in found)


def test_numerals_and_stop_words_are_no_keywords() -> None:
    rows = [("In 2024 the 12 ferries", "They were 3"), ("In 2024 the vaccine", "It was २०")]
    for found in cluster_keywords(tree((0, 1)), 0, [count_words(texts("eng", rows))], k=50):
        assert {one.word for one in found} <= {"ferries", "vaccine"}


def test_the_same_string_in_two_languages_is_shown_once() -> None:
    rows = [("Zorblax", "zorblax ferry"), ("vaccine", "")]
    counts = [count_words(texts(code, rows)) for code in ("eng", "fin")]
    first = cluster_keywords(tree((0, 1)), 0, counts, language="fin")[0]
    assert shown(first).count("zorblax") == 1
    assert first[0].language == "fin"
    assert first[0].languages == ("eng", "fin")


def test_translations_are_shown_once_in_the_language_asked_for() -> None:
    counts = [count_words(texts("eng", ENGLISH)), count_words(texts("fin", FINNISH))]
    for language, expected, other in (("eng", "vaccine", "rokote"), ("fin", "rokote", "vaccine")):
        found = cluster_keywords(tree(TWO), 0, counts, language=language, embed=ENCODER.encode)[1]
        assert expected in shown(found)
        assert other not in shown(found)
    apart = cluster_keywords(tree(TWO), 0, counts, k=20)[1]
    assert {"vaccine", "rokote"} <= set(shown(apart))


def test_one_article_and_clusters_without_words_are_fine() -> None:
    one = cluster_keywords(tree((0,)), 0, [count_words(texts("eng", ENGLISH[:1]))])
    assert shown(one[0])[:2] == ["ferry", "strike"]
    empty = texts("eng", ENGLISH[:2], [True, False])
    assert cluster_keywords(tree((0, 1)), 0, [count_words(empty)])[1] == ()
    with pytest.raises(DataError, match="labels"):
        class_weights(count_words(empty), np.zeros(3, np.int64))


def test_all_languages_of_the_sample_together() -> None:
    news = read_news()
    counts = [count_words(read_texts(language, news)) for language in LANGUAGES]
    themes = tree(news.category)
    found = cluster_keywords(themes, 0, counts, language="eng", embed=ENCODER.encode)
    by_name = dict(zip(news.category_names, map(shown, found), strict=True))
    assert "voting" in by_name["politics"]
    assert "school" in by_name["life"]
    for one in found:
        assert len(one) == 8
        assert len(set(shown(one))) == 8
