"""Varied lists: what is asked for holds, whatever the reader and the shelf."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from newsrec.cluster import ClusteredShelf, save_clusters
from newsrec.corpus import Corpus
from newsrec.corpus.readers import reading
from newsrec.corpus.sample import open_sample
from newsrec.encode import load_encoder
from newsrec.errors import ConfigError, DataError
from newsrec.pipeline.clusters import aspects, clusters
from newsrec.pipeline.page import Recommendations, recommend
from newsrec.pipeline.request import Request
from newsrec.pipeline.shelf import last_moment
from newsrec.pipeline.variety import Variety
from newsrec.pipeline.vectors import Vectors
from newsrec.rerank import RERANKERS
from newsrec.types.clusters import dense

ENCODER = load_encoder("mini")


@pytest.fixture(scope="module")
def corpus() -> Corpus:
    return open_sample()


def page(corpus: Corpus, user: str, languages: str, variety: Variety | None, k: int = 8,
         ) -> Recommendations:  # fmt: skip
    return recommend(corpus, Request(user, languages, k=k), variety=variety, encoder=ENCODER)


def counts(corpus: Corpus, found: Recommendations, aspect: str) -> Counter[int]:
    classes = aspects(corpus, clusters(corpus, Vectors(corpus, ENCODER)))[aspect]
    return Counter(classes[corpus.news.rows([item.id for item in found.items])].tolist())


@pytest.mark.parametrize("user", ["U123", "a stranger"])
@pytest.mark.parametrize("languages", ["fin", "fin,eng,jpn"])
@pytest.mark.parametrize("at_most", [{"story": 1}, {"topic": 1}, {"story": 1, "topic": 2}])
def test_limits_hold(corpus: Corpus, user: str, languages: str, at_most: Mapping[str, int]) -> None:
    found = page(corpus, user, languages, Variety(at_most=at_most))
    assert len(found.items) == 8
    for aspect, n in at_most.items():
        assert max(counts(corpus, found, aspect).values()) <= n
    ids = [item.id for item in found.items]
    assert len(set(ids)) == len(ids)


def test_a_story_is_told_in_the_best_of_the_readers_languages(corpus: Corpus) -> None:
    found = page(corpus, "U123", "fin,eng", Variety(at_most={"story": 1}))
    assert {item.language for item in found.items} == {"fin"}
    found = page(corpus, "U123", "eng,fin", Variety(at_most={"story": 1}))
    assert {item.language for item in found.items} == {"eng"}


def test_more_of_a_story_may_come_when_asked_for(corpus: Corpus) -> None:
    one = page(corpus, "U123", "fin", None, k=30)
    two = page(corpus, "U123", "fin", Variety(at_most={"story": 2}), k=30)
    assert max(counts(corpus, one, "story").values()) == 1
    assert max(counts(corpus, two, "story").values()) == 2


@pytest.mark.parametrize("user", ["U123", "a stranger"])
@pytest.mark.parametrize("name", sorted(RERANKERS))
def test_no_diversity_is_the_order_of_scores(corpus: Corpus, user: str, name: str) -> None:
    plain = page(corpus, user, "fin", None)
    same = page(corpus, user, "fin", Variety(rerank=name, diversity=0))
    assert [item.id for item in same.items] == [item.id for item in plain.items]


@pytest.mark.parametrize("name", ["mmr", "dpp", "xquad:aspect=theme", "pm2:aspect=topic"])
def test_diversity_spreads_the_list_over_more_themes(corpus: Corpus, name: str) -> None:
    plain = page(corpus, "U123", "eng", None)
    varied = page(corpus, "U123", "eng", Variety(rerank=name, diversity=0.9))
    assert len(counts(corpus, varied, "theme")) >= len(counts(corpus, plain, "theme"))
    assert [item.id for item in varied.items] != [item.id for item in plain.items]


def test_every_item_says_its_theme_and_topic(corpus: Corpus) -> None:
    found = page(corpus, "U123", "fin", Variety(diversity=0.3, at_most={"story": 1}))
    for item in found.items:
        assert item.clusters is not None
        assert list(item.clusters) == ["theme", "topic"]
        assert all(item.clusters.values())
    assert found.to_dict()["items"][0]["clusters"] == found.items[0].clusters
    assert page(corpus, "U123", "fin", None).items[0].clusters is None


def test_articles_of_one_cluster_are_under_one_name(corpus: Corpus) -> None:
    found = page(corpus, "U123", "fin", Variety(diversity=0.3), k=40)
    classes = aspects(corpus, clusters(corpus, Vectors(corpus, ENCODER)))["theme"]
    theme = classes[corpus.news.rows([item.id for item in found.items])]
    named = {int(c): {i.clusters["theme"] for i, t in zip(found.items, theme, strict=True)
                      if t == c and i.clusters} for c in theme}  # fmt: skip
    assert all(len(names) == 1 for names in named.values())


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"diversity": 1.5}, "--diversity: 1.5"),
        ({"diversity": float("nan")}, "--diversity: nan"),
        ({"rerank": "shuffle"}, "unknown re-ranker 'shuffle'"),
        ({"rerank": "mmr:colour=red"}, "colour"),
        ({"rerank": "quota:at_most=2"}, "at_most"),
        ({"rerank": "manner:weights=theme"}, "weights"),
        ({"rerank": "mmr:k"}, "expected key=value"),
        ({"rerank": "mmr:relevance_weight=0.5", "diversity": 0.5}, "leave one out"),
        ({"at_most": {"story": 0}}, "--max-per-story: 0"),
    ],
)
def test_what_cannot_be_meant_is_refused(fields: dict[str, object], said: str) -> None:
    with pytest.raises(ConfigError, match=said):
        Variety(**fields)  # type: ignore[arg-type]


def test_an_aspect_that_there_is_not_is_named(corpus: Corpus) -> None:
    with pytest.raises(DataError, match="no aspect 'mood'"):
        page(corpus, "U123", "fin", Variety(rerank="xquad:aspect=mood", diversity=0.5))


def test_stories_that_the_corpus_names_win_over_found_ones(corpus: Corpus) -> None:
    shelf = clusters(corpus, Vectors(corpus, ENCODER))
    story = aspects(corpus, shelf)["story"]
    assert np.array_equal(story, corpus.news.story)


def test_stories_that_were_read_are_not_told_again(corpus: Corpus, tmp_path: Path) -> None:
    """Also when only the clusters know that two articles tell one story."""
    shelf = clusters(corpus, Vectors(corpus, ENCODER))
    read = page(corpus, "U123", "fin", None).items[0]
    assert read.because is not None
    first, again = corpus.news.rows([read.because.id, read.id])
    labels = shelf.tree.labels.copy()
    labels[:, again] = labels[:, first]
    labels = np.stack([dense(row) for row in labels])
    told = replace(shelf.tree, labels=labels)
    path = tmp_path / "c.npz"
    save_clusters(path, ClusteredShelf.new(told, shelf.articles, shelf.made))
    unlinked = replace(corpus.news, story=np.full(len(corpus.news), -1, np.int32))
    bare = replace(corpus)
    object.__setattr__(bare, "news", unlinked)
    varied = page(bare, "U123", "fin", Variety(at_most={"story": 1}, clusters=path), k=40)
    assert read.id not in {item.id for item in varied.items}
    plain = page(bare, "U123", "fin", Variety(at_most={"topic": 9}, clusters=path), k=40)
    assert read.id in {item.id for item in plain.items}


def test_a_story_read_long_ago_is_not_told_again(
    corpus: Corpus, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Older clicks than those that count for relevance were read all the same."""
    monkeypatch.setattr("newsrec.pipeline.history.LIMIT", 1)
    read = reading(corpus, "U123", last_moment(corpus))
    assert read is not None
    first = page(corpus, "U123", "fin", None).items[0]
    (again,) = corpus.news.rows([first.id])
    shelf = clusters(corpus, Vectors(corpus, ENCODER))
    labels = shelf.tree.labels.copy()
    labels[:, again] = labels[:, read.rows[0]]
    tree = replace(shelf.tree, labels=np.stack([dense(row) for row in labels]))
    save_clusters(tmp_path / "c.npz", ClusteredShelf.new(tree, shelf.articles, shelf.made))
    bare = replace(corpus)
    unlinked = replace(corpus.news, story=np.full(len(corpus.news), -1, np.int32))
    object.__setattr__(bare, "news", unlinked)
    variety = Variety(at_most={"story": 1}, clusters=tmp_path / "c.npz")
    assert first.id not in {item.id for item in page(bare, "U123", "fin", variety, k=60).items}


class Renamed:
    """mini under a name for which nobody measured thresholds."""

    spec = replace(ENCODER.spec, name="other")

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        return ENCODER.encode(texts)


def test_an_encoder_without_thresholds_can_diversify_but_not_limit_topics(corpus: Corpus) -> None:
    found = recommend(
        corpus, Request("U123", "fin"), variety=Variety(diversity=0.5), encoder=Renamed()
    )
    assert len(found.items) == 10
    assert all(item.clusters is None for item in found.items)
    with pytest.raises(ConfigError, match=r"no thresholds were measured .* --clusters FILE"):
        recommend(
            corpus, Request("U123", "fin"), variety=Variety(at_most={"topic": 1}),
            encoder=Renamed(),
        )  # fmt: skip


def test_clusters_of_another_corpus_are_refused(corpus: Corpus, tmp_path: Path) -> None:
    shelf = clusters(corpus, Vectors(corpus, ENCODER))
    names = np.array([f"X{i}" for i in range(len(shelf.articles))])
    save_clusters(
        tmp_path / "c.npz", ClusteredShelf.new(shelf.tree, names, {"corpus_name": "mine"})
    )
    with pytest.raises(DataError, match="clusters of mine, which has 0 of the 72"):
        page(corpus, "U123", "fin", Variety(diversity=0.5, clusters=tmp_path / "c.npz"))
