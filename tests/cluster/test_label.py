"""Names of clusters in the reader's language, and the articles that stand for them."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest

from newsrec.cluster import Labeller, label_clusters, stop_words
from newsrec.cluster.words import words
from newsrec.corpus.sample import LANGUAGES, read_news, read_texts
from newsrec.errors import ConfigError, DataError
from newsrec.types.clusters import ClusterTree
from tests.cluster.shelves import ENCODER, ENGLISH, FINNISH, texts, tree, vectors

NESTED = ((0,) * 6, (0, 0, 0, 1, 1, 1))


def labeller(*shelves, levels=NESTED) -> Labeller:
    by_language = {shelf.language: shelf for shelf in shelves}
    found = {language: vectors(shelf) for language, shelf in by_language.items()}
    return Labeller(tree(*levels), by_language, found, ENCODER.encode)


@pytest.fixture(scope="module")
def sample() -> tuple[ClusterTree, Labeller]:
    news = read_news()
    shelf = {language: read_texts(language, news) for language in LANGUAGES}
    themes = tree(news.category, news.subcategory, news.story)
    found = {language: vectors(one) for language, one in shelf.items()}
    return themes, Labeller(themes, shelf, found, ENCODER.encode)


def test_names_are_what_members_say_again_and_again() -> None:
    first, second = labeller(texts("eng", ENGLISH)).label(1, "eng")
    assert first.text.startswith("Ferry strike")
    assert second.text.startswith("Measles vaccine")
    assert (first.source, first.language, first.cluster) == ("members", "eng", 0)


def test_names_do_not_depend_on_the_order_of_articles() -> None:
    straight = labeller(texts("eng", ENGLISH))
    for seed in range(5):
        order = np.random.default_rng(seed).permutation(6)
        levels = [np.array(level)[order] for level in NESTED]
        mixed = labeller(texts("eng", [ENGLISH[i] for i in order]), levels=levels)
        for level in (0, 1):
            assert mixed.label(level, "eng") == straight.label(level, "eng")
        there = straight.medoids(1)["eng"]
        assert order[mixed.medoids(1)["eng"]].tolist() == there.tolist()


def test_a_cluster_without_members_in_the_language_is_named_by_neighbours() -> None:
    finnish = texts("fin", FINNISH, [True, True, True, True, False, False])
    english = texts("eng", ENGLISH, [False, False, False, False, True, True])
    found = labeller(finnish, english, levels=((0, 0, 0, 1, 2, 2),)).label(0, "fin")
    assert [one.source for one in found] == ["members", "members", "neighbours"]
    assert found[2].language == "fin"
    assert found[2].text
    assert set(words(found[2].text, "fin")) <= {
        word for row in FINNISH[:4] for text in row for word in words(text, "fin")
    }


def test_with_nothing_in_the_language_any_other_serves() -> None:
    for one in labeller(texts("fin", FINNISH)).label(1, "tha"):
        assert one.source == "other language"
        assert one.language == "fin"
        assert one.text


def test_empty_clusters_single_articles_and_duplicates() -> None:
    nothing = labeller(texts("eng", ENGLISH, [True] * 3 + [False] * 3)).label(1, "swh")
    assert nothing[1].text == ""
    assert nothing[1].source == "none"
    alone = labeller(texts("eng", ENGLISH[:1]), levels=((0,),))
    assert alone.label(0, "eng")[0].text == ENGLISH[0][0]
    assert alone.medoids(0)["eng"].tolist() == [0]
    twins = labeller(texts("eng", ENGLISH[:2] * 2), levels=((0,) * 4, (0, 0, 1, 1)))
    first, second = twins.label(1, "eng")
    assert first.text != second.text
    digits = labeller(texts("eng", [("2024", "12"), ("The", "of")]), levels=((0, 0),))
    assert digits.label(0, "eng")[0].text in ("2024", "The")


def test_only_what_is_asked_for_in_that_order(sample: tuple[ClusterTree, Labeller]) -> None:
    _, named = sample
    everything = named.label(1, "eng")
    some = named.label(1, "eng", [7, 2, 7])
    assert [one.cluster for one in some] == [7, 2, 7]
    assert some == (everything[7], everything[2], everything[7])
    assert (
        named.medoids(1, [7, 2, 7])["fin"].tolist() == named.medoids(1)["fin"][[7, 2, 7]].tolist()
    )


@pytest.mark.parametrize("language", LANGUAGES)
def test_names_in_every_language(language: str, sample: tuple[ClusterTree, Labeller]) -> None:
    themes, named = sample
    for level in range(3):
        found = named.label(level, language)
        parents = themes.parents(level)
        for one in found:
            assert one.source == "members"
            assert one.language == language
            assert not any(c.isnumeric() and c.isdecimal() for c in one.text)
            for part in one.parts:
                first, last = part.split()[0].casefold(), part.split()[-1].casefold()
                assert not {first, last} & stop_words(language)
        pairs = [(int(parents[one.cluster]), one.text) for one in found]
        assert len(set(pairs)) == len(pairs)


def test_names_of_the_sample_make_sense(sample: tuple[ClusterTree, Labeller]) -> None:
    news, named = read_news(), sample[1]
    topics = dict(zip(news.subcategory_names, named.label(1, "eng"), strict=True))
    for topic, word in {
        "elections": "Voting", "space": "Telescope", "football": "Football", "film": "Film",
        "medicine": "Malaria vaccine", "education": "School", "travel": "Night train",
    }.items():  # fmt: skip
        assert topics[topic].text.startswith(word)
    themes = named.label(0, "jpn")
    assert all(one.text for one in themes)


def test_medoids_are_the_most_central_articles(sample: tuple[ClusterTree, Labeller]) -> None:
    themes, named = sample
    for level in range(3):
        for rows in named.medoids(level).values():
            assert themes.labels[level][rows].tolist() == list(range(themes.n_clusters[level]))
    lone = labeller(texts("eng", ENGLISH), texts("fin", FINNISH, [True] + [False] * 5))
    assert lone.medoids(1)["fin"].tolist() == [0, -1]


def test_wrong_input_is_named() -> None:
    shelf = texts("eng", ENGLISH)
    named = labeller(shelf)
    with pytest.raises(ConfigError, match="level 2: the tree has 2 levels"):
        named.label(2, "eng")
    with pytest.raises(ConfigError, match="cluster 9"):
        named.label(1, "eng", [9])
    with pytest.raises(DataError, match="the tree has 2 articles"):
        Labeller(tree((0, 1)), {"eng": shelf}, {"eng": vectors(shelf)}, ENCODER.encode)
    with pytest.raises(DataError, match="no vectors"):
        Labeller(tree(*NESTED), {"eng": shelf}, {}, ENCODER.encode)


def test_one_call_does_it_and_loads_nothing_heavy() -> None:
    shelf = texts("eng", ENGLISH)
    named = label_clusters(
        tree(*NESTED),
        1,
        {"eng": shelf},
        "en",
        vectors={"eng": vectors(shelf)},
        embed=ENCODER.encode,
    )
    assert named == labeller(shelf).label(1, "eng")
    code = (
        "import sys\nfrom tests.cluster.test_label import *\n"
        "labeller(texts('eng', ENGLISH)).label(1, 'eng')\n"
        "heavy = {'torch', 'pandas', 'sklearn', 'scipy', 'rjieba', 'sudachipy', 'pythainlp'}\n"
        "print(sorted(heavy & set(sys.modules)))\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.stdout.strip() == "[]", done.stderr


def test_a_child_is_not_called_like_a_parent_of_one_name() -> None:
    from newsrec.cluster.forms import echoes

    levels = ((0, 0, 0, 1, 1, 1), (0, 0, 1, 2, 3, 3), (0, 1, 2, 3, 4, 5))
    labels = labeller(texts("eng", ENGLISH), levels=levels)
    parents = {one.cluster: one for one in labels.label(0, "eng")}
    assert any(len(one.parts) == 1 for one in parents.values())
    for child, above in zip(labels.label(1, "eng"), (0, 0, 1, 1), strict=True):
        if len(parents[above].parts) == 1:
            said = words(" ".join(parents[above].parts), "eng")
            assert not echoes(tuple(words(child.text, "eng")), said)
