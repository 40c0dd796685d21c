"""Extracts show what the articles agree on, in the wanted language, and never twice."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from newsrec.cluster import Extractive, articles_of
from newsrec.cluster.articles import spread
from newsrec.cluster.extract import (
    MOST_SENTENCES,
    MOST_TEXTS,
    Sentence,
    centrality,
    sentences_of,
    weights,
)
from newsrec.encode import load_encoder
from newsrec.errors import ConfigError, DataError
from newsrec.types import Article, Strings, Texts

WORDS = (
    "harbour",
    "strike",
    "wages",
    "crane",
    "ballet",
    "satama",
    "lakko",
    "palkka",
    "nosturi",
    "tanssi",
)
MEANING = {word: i % 5 for i, word in enumerate(WORDS)}


def embed(texts: Sequence[str]) -> np.ndarray:
    """``(n, 6)``: counts of five meanings that English and Finnish words share, and a constant."""
    rows = np.zeros((len(texts), 6), np.float32)
    rows[:, 5] = 0.1
    for row, text in zip(rows, texts, strict=True):
        for word, meaning in MEANING.items():
            row[meaning] += text.lower().count(word)
    return rows


DOCKERS = "The harbour strike over wages went on, and no crane moved."
BALLET = "A ballet opened in the old theatre of the town yesterday."
LAKKO = "Satama seisoi, kun lakko palkka-asiasta jatkui eikä nosturi liikkunut."


def article(row: int, language: str, *prose: str, title: str = "") -> Article:
    return Article(row, language, title, " ".join(prose))


def test_the_sentence_that_other_languages_confirm_comes_first() -> None:
    articles = [
        article(0, "eng", BALLET, DOCKERS),
        article(1, "fin", LAKKO),
        article(2, "fin", "Lakko pysäytti satama-alueen, ja palkka ratkaisee nyt kaiken."),
    ]
    summary = Extractive(embed, n_sentences=1)(articles, "eng")
    assert summary.text == DOCKERS
    assert (summary.language, summary.rows, summary.by) == ("eng", (0,), "extractive")


def test_a_sentence_far_from_the_others_is_left_out() -> None:
    articles = [
        article(0, "eng", DOCKERS, BALLET),
        article(1, "eng", "Wages are why the strike at the harbour began a week ago."),
        article(2, "fin", LAKKO),
    ]
    assert BALLET not in Extractive(embed)(articles, "eng").sentences


def test_the_same_twice_is_shown_once() -> None:
    again = DOCKERS.replace("went on", "goes on")
    articles = [article(0, "eng", DOCKERS), article(1, "eng", again), article(2, "eng", DOCKERS)]
    assert Extractive(embed)(articles, "eng").sentences == (DOCKERS,)


def test_one_long_article_does_not_outvote_the_others() -> None:
    long = article(
        0, "eng", *[f"The ballet number {i} was danced before {i} guests." for i in range(8)]
    )
    short = [article(row, "eng", DOCKERS.replace("no", f"{row}")) for row in range(1, 5)]
    assert "strike" in Extractive(embed)([long, *short], "eng").sentences[0]


def test_one_frequent_language_does_not_outvote_the_others() -> None:
    many = [
        article(row, "fin", "Tanssi alkoi kaupungin teatterissa eilen illalla.")
        for row in range(20)
    ]
    few = [
        article(30, "eng", DOCKERS, BALLET),
        article(31, "ron", "La harbour continua strike pentru wages."),
        article(32, "tur", "Bir harbour strike daha, wages ve crane."),
    ]
    assert Extractive(embed)([*many, *few], "eng").sentences[0] == DOCKERS


def test_weights_are_alike_by_language_article_and_sentence() -> None:
    found = sentences_of(
        [article(0, "eng", DOCKERS, BALLET), article(1, "eng", DOCKERS), article(0, "fin", LAKKO)]
    )
    assert weights(found).tolist() == [0.125, 0.125, 0.25, 0.5]


@settings(deadline=None)
@given(st.integers(2, 12), st.integers(0, 2**32 - 1))
def test_centrality_is_the_weighted_mean_cosine_to_the_others(n: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    vectors = rng.standard_normal((n, 4)).astype(np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    weight = rng.dirichlet(np.ones(n))
    found = centrality(vectors, weight)
    for i in range(n):
        others = [j for j in range(n) if j != i]
        slow = sum(weight[j] * float(vectors[i] @ vectors[j]) for j in others)
        assert found[i] * sum(weight[j] for j in others) == pytest.approx(slow, abs=1e-5)


def test_without_the_language_the_one_of_most_articles_is_shown_and_named() -> None:
    articles = [article(0, "eng", DOCKERS), article(1, "fin", LAKKO), article(2, "fin", LAKKO)]
    summary = Extractive(embed)(articles, "jpn")
    assert (summary.language, summary.sentences) == ("fin", (LAKKO,))


def test_the_article_of_the_lead_comes_first_and_keeps_its_order() -> None:
    setting = "Cranes at the harbour are old, says the crane drivers' union."
    articles = [
        article(4, "eng", setting, DOCKERS),
        article(1, "eng", "Higher wages would end the strike within a day, they say."),
        article(5, "fin", LAKKO),
    ]
    assert Extractive(embed)(articles, "eng").rows == (4, 4, 1)
    assert Extractive(embed)(articles, "eng").sentences[:2] == (setting, DOCKERS)


def test_titles_alone_are_shown_with_a_full_stop() -> None:
    titles = [Article(0, "eng", "Harbour strike goes on"), Article(1, "eng", "Wages at the centre")]
    assert Extractive(embed)(titles, "eng").text == "Harbour strike goes on. Wages at the centre."
    japanese = [Article(0, "jpn", "港でストが続く"), Article(1, "jpn", "賃金が焦点だ")]
    apart = Extractive(lambda texts: np.array([[3, 0], [1, 1]], np.float32))
    assert apart(japanese, "ja").text == "港でストが続く。賃金が焦点だ。"


def test_prose_goes_before_titles_and_by_lines() -> None:
    articles = [Article(0, "eng", "Harbour strike: wages, wages", f"Yes. By A. Wages. {DOCKERS}")]
    assert Extractive(embed, n_sentences=1)(articles, "eng").text == DOCKERS


def test_no_text_gives_no_summary_and_no_article_is_an_error() -> None:
    empty = Extractive(embed)([Article(0, "eng", " ", "\n")], "fin")
    assert (empty.text, empty.language, empty.sentences) == ("", "fin", ())
    with pytest.raises(DataError, match="0 articles"):
        Extractive(embed)([], "fin")


def test_bad_input_is_named() -> None:
    with pytest.raises(ConfigError, match="n_sentences: 4"):
        Extractive(embed, n_sentences=4)
    with pytest.raises(DataError, match="expected ISO 639-3: 'fin'"):
        Extractive(embed)([article(0, "fi", LAKKO)], "fin")
    with pytest.raises(DataError, match=r"embed gave \(1, 2\) for 2"):
        Extractive(lambda _: np.ones((1, 2), np.float32))(
            [article(0, "eng", DOCKERS, BALLET)], "eng"
        )
    with pytest.raises(DataError, match="finite"):
        Extractive(lambda t: np.full((len(t), 2), np.nan, np.float32))(
            [article(0, "eng", DOCKERS)], "eng"
        )


def test_zero_vectors_still_give_a_summary() -> None:
    zero = Extractive(lambda texts: np.zeros((len(texts), 3), np.float32))
    assert zero([article(0, "eng", DOCKERS, BALLET)], "eng").sentences[0] == DOCKERS


def test_a_large_cluster_is_read_in_part_and_its_inputs_stay() -> None:
    seen: list[int] = []

    def counting(texts: Sequence[str]) -> np.ndarray:
        seen.append(len(texts))
        return embed(texts)

    body = " ".join(f"The harbour strike has gone on for {i} days now." for i in range(60))
    articles = [Article(i, ("eng", "fin", "som")[i % 3], "Strike", "", body) for i in range(3000)]
    before = list(articles)
    Extractive(counting)(articles, "eng")
    assert seen == [MOST_TEXTS * (MOST_SENTENCES + 1)]
    assert articles == before


def test_half_of_what_is_read_is_in_the_wanted_language() -> None:
    articles = [Article(i, "eng" if i % 10 else "fin", "t") for i in range(1000)]
    articles += [Article(5000, "som", "t")]
    read = spread(articles, "eng", 100)
    assert len(read) == 100
    count = {code: sum(a.language == code for a in read) for code in ("eng", "fin", "som")}
    assert count == {"eng": 50, "fin": 49, "som": 1}
    assert len({a.row for a in read}) == 100


TEXTS = st.lists(
    st.sampled_from([DOCKERS, BALLET, LAKKO, "Yes.", "賃金が問題だ。", *WORDS]), max_size=4
)
CLUSTERS = st.lists(
    st.builds(
        lambda row, code, title, prose: Article(row, code, title, " ".join(prose)),
        st.integers(0, 5), st.sampled_from(["eng", "fin", "jpn"]), st.sampled_from(["", "Wages"]),
        TEXTS,
    ),
    min_size=1, max_size=8,
)  # fmt: skip


@settings(deadline=None)
@given(CLUSTERS, st.sampled_from(["eng", "fin", "jpn", "som"]), st.randoms())
def test_order_of_articles_changes_nothing(
    articles: list[Article], wanted: str, random: object
) -> None:
    summarise = Extractive(embed)
    first = summarise(articles, wanted)
    mixed = list(articles)
    random.shuffle(mixed)  # type: ignore[attr-defined]
    assert summarise(mixed, wanted) == first
    assert len(first.sentences) == len(first.rows) <= 3
    assert len(set(first.sentences)) == len(first.sentences)
    spoken = {a.language for a in articles if (a.title + a.abstract).strip()}
    assert first.language == (wanted if wanted in spoken or not spoken else first.language)
    assert first.language in spoken or not spoken


def test_articles_of_reads_every_language_that_has_the_row() -> None:
    def shelf(language: str, present: list[bool], body: Strings | None = None) -> Texts:
        titles = [f"{language}{i}" if p else "" for i, p in enumerate(present)]
        return Texts(
            language, Strings.pack(titles), Strings.pack(["a", "b"]), np.array(present), body
        )

    shelves = [shelf("eng", [True, True], Strings.pack(["x", "y"])), shelf("fin", [False, True])]
    found = articles_of(np.array([0, 1]), shelves)
    assert found == [
        Article(0, "eng", "eng0", "a", "x"),
        Article(1, "eng", "eng1", "b", "y"),
        Article(1, "fin", "fin1", "b", ""),
    ]


def test_with_the_built_in_encoder_a_finnish_summary_of_two_languages() -> None:
    fact = "Kaupunki laskee bussilippujen hintaa tammikuussa, kertoo liikennelautakunta."
    articles = [
        article(0, "fin", "Kuvassa lautakunnan puheenjohtaja vuonna 2019 kesäkuussa.", fact),
        article(
            0, "eng", "The city will make bus tickets cheaper in January, says its transport board."
        ),
        article(1, "eng", "Cheaper bus tickets from January: the city council has agreed at last."),
    ]
    summary = Extractive(load_encoder("mini").encode, n_sentences=1)(articles, "fin")
    assert (summary.text, summary.language) == (fact, "fin")


def test_a_sentence_knows_where_it_stood() -> None:
    found = sentences_of([Article(3, "eng", "Title here", "Title here First one. First one.")])
    assert found == [
        Sentence("Title here", 3, "eng", 0),
        Sentence("Title here First one.", 3, "eng", 1),
        Sentence("First one.", 3, "eng", 2),
    ]
