"""The sets are read right, and what the benchmark says of known clusters is true."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from newsrec.cluster import compare, judge_pairs
from newsrec.encode import load_encoder
from newsrec.encode.presets import BUILT_IN, THRESHOLDS
from tests.bench import others, quality
from tests.bench.news_sets import GRADES, SHELVES, Graded, opening, semeval
from tests.bench.sample_clusters import (
    half_known,
    recovered,
    relational_similarity,
    shelves,
    shipped,
    truth,
)
from tests.bench.truth import Pairs, Topics, measured
from tests.bench.tuning import to_nearest, tuned


def blobs(n: int = 120, k: int = 4) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    topic = rng.integers(0, k, n)
    vectors = np.eye(k, 16, dtype=np.float32)[topic] + 0.1 * rng.standard_normal((n, 16))
    return vectors.astype(np.float32), topic


def test_a_threshold_from_half_of_the_stories_finds_what_is_clear_and_not_what_is_not_there() -> (
    None
):
    rng, stories = np.random.default_rng(3), np.repeat(np.arange(12), 2)
    clear = np.eye(12, 16)[stories] + 0.02 * rng.standard_normal((24, 16))
    found = half_known(clear.astype(np.float32), stories, 16, times=5)
    assert found.tolist() == [1.0] * 10
    assert half_known(clear.astype(np.float32), rng.permutation(stories), 16, times=5).max() < 0.5


def test_wrong_merges_across_the_halves_count() -> None:
    # Two stories in one place: of all halves that part them, neither sees the merge within itself.
    stories = np.repeat(np.arange(4), 2)
    vectors = np.eye(4, dtype=np.float32)[np.array([0, 0, 0, 0, 1, 1, 2, 2])]
    found = half_known(vectors, stories, 4, times=10)
    assert found == pytest.approx(2 * (4 / 8) / (4 / 8 + 1))  # 8 pairs found, 4 of them right


def test_an_opening_is_the_title_and_as_much_as_fits() -> None:
    assert opening("A tax on rain", "It begins in May.", 0) == "A tax on rain"
    assert opening("A tax on rain", "It begins in May.", 16) == "A tax on rain It"
    assert opening("A tax on rain", "It begins in May.", 5) == "A tax on rain"
    assert opening("A tax on rain", "It begins in May.", None).endswith("in May.")


def test_every_article_drawn_once_gives_the_rates_themselves() -> None:
    rng = np.random.default_rng(1)
    topic, found = rng.integers(0, 5, 80), rng.integers(-1, 9, 80)
    once = np.ones(80, np.int64)
    known = Topics(topic)
    assert known.resampled(found, once) == pytest.approx(known.rates(found))
    assert known.rates(found)[2] == compare(found, topic).f1
    pairs, same = rng.integers(0, 80, (40, 2)), rng.integers(0, 2, 40) > 0
    graded = Pairs(pairs, same, np.arange(80))
    assert graded.resampled(found, once)[:3] == pytest.approx(judge_pairs(found, pairs, same))


def test_an_article_drawn_twice_is_no_pair_with_itself() -> None:
    found, topic = np.array([0, 1, 1]), np.array([0, 1, 2])
    precision = Topics(topic).resampled(found, np.array([2, 1, 1]))[0]
    assert precision == 0


def test_an_interval_holds_the_figure_and_a_lead_over_itself_is_none() -> None:
    rng = np.random.default_rng(2)
    topic = rng.integers(0, 4, 200)
    found = np.where(rng.random(200) < 0.8, topic, rng.integers(0, 4, 200))
    got = measured([found], found, Topics(topic), times=200)
    assert np.all((got.low < got.mean) & (got.mean < got.high))
    assert got.lead == (0.0, 0.0, 0.0)


def test_the_number_of_clusters_of_pairs_is_that_of_what_they_connect() -> None:
    pairs = Pairs(
        np.array([[0, 1], [1, 2], [3, 4]]), np.array([True, True, False]), np.zeros(5, np.int64)
    )
    assert pairs.n_clusters == 3


def test_the_others_find_clusters_that_are_plain() -> None:
    vectors, topic = blobs()
    assert compare(others.kmeans(vectors, 4, 0), topic).f1 == 1
    assert compare(others.hdbscan(vectors, 10), topic).f1 > 0.95


@pytest.mark.slow
def test_bertopic_finds_clusters_that_are_plain() -> None:
    if others.bertopic_python() is None:
        pytest.skip("BERTopic is not installed; set BERTOPIC_PYTHON to an interpreter that has it")
    vectors, topic = blobs(200)
    words = [f"word{t} thing{i % 7}" for i, t in enumerate(topic)]
    found = others.bertopic([(vectors, words, 0, (10,))])[0]
    assert compare(found["10, outliers to the nearest topic"], topic).f1 > 0.9


def test_moving_to_the_nearest_mean_mends_a_stray_article() -> None:
    vectors, topic = blobs()
    stray = topic.copy()
    stray[0] = 4
    assert np.array_equal(to_nearest(vectors, stray), topic)


def test_turned_vectors_are_wholly_alike_and_random_ones_not() -> None:
    rng = np.random.default_rng(3)
    one = rng.standard_normal((40, 8)).astype(np.float32)
    turn = np.linalg.qr(rng.standard_normal((8, 8)))[0].astype(np.float32)
    assert relational_similarity(one, one @ turn) == pytest.approx(1, abs=1e-5)
    other = rng.standard_normal((40, 8)).astype(np.float32)
    assert abs(relational_similarity(one, other)) < 0.2


def test_the_shipped_thresholds_find_more_of_the_sample_than_chance() -> None:
    encoder, known = load_encoder(BUILT_IN), truth()
    found = shelves(encoder)
    everything = np.concatenate(list(found.values()))
    got, best, _ = recovered(everything, np.tile(known, len(found)), shipped(encoder))
    # With all 1,080 in one cluster: 0.29, 0.10, 0.05.
    assert got[0] > 0.5
    assert got[1] > 0.45
    assert got[2] > 0.5
    assert all(a <= b + 0.05 for a, b in zip(got, best, strict=True))


@pytest.mark.shared
@pytest.mark.parametrize(
    ("name", "n", "topics", "languages"),
    [
        ("bbc", 2125, 5, 1),
        ("ag_news", 7600, 4, 1),
        ("masakhanews", 7896, 7, 8),
        ("tnews", 2283, 15, 1),
    ],
)
def test_a_shelf_has_its_articles_once(
    shared_data: Path, name: str, n: int, topics: int, languages: int
) -> None:
    shelf = SHELVES[name](shared_data)
    assert len(shelf) == n
    assert set(shelf.topic) == set(range(topics))
    assert len(set(shelf.language)) == languages
    assert len(set(zip(shelf.title, shelf.body, strict=True))) == n
    assert 0.45 < shelf.half.mean() < 0.55
    pairs = zip(shelf.texts(300), shelf.title, strict=True)
    assert all(len(text) <= max(300, len(title)) for text, title in pairs)


@pytest.mark.shared
def test_no_article_of_semeval_is_in_both_halves(shared_data: Path) -> None:
    graded = semeval(shared_data)
    assert len(graded.pairs) == 1896
    assert np.array_equal(graded.half[graded.pairs[:, 0]], graded.half[graded.pairs[:, 1]])
    assert set(graded.grade[graded.overall <= GRADES[0]]) == {3}
    assert set(graded.grade[graded.overall == 4]) == {0}
    one, other = graded.take(0), graded.take(1)
    assert len(one.pairs) + len(other.pairs) == 1896
    assert not {*zip(one.language, one.text, strict=True)} & {
        *zip(other.language, other.text, strict=True)
    }
    whole, first = _texts(graded), _texts(one)
    assert set(first) <= set(whole)


def _texts(graded: Graded) -> list[tuple[str, str]]:
    """Both texts of every pair."""
    return [(graded.text[a], graded.text[b]) for a, b in graded.pairs]


@pytest.mark.shared
def test_rows_are_whole(shared_data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NEWSREC_SHARED", str(shared_data))
    found = list(quality.rows(quick=True))
    assert [row.name.split(",")[0] for row in found] == [
        *["F1 of clusters"] * 3,
        *["F1 of clusters"] * 3,
    ]
    assert all("[" in row.measured and "k-means" in row.reference for row in found)


@pytest.mark.shared
@pytest.mark.slow
def test_the_shipped_thresholds_reach_what_tuning_reaches(shared_data: Path) -> None:
    curves = tuned(shared_data, load_encoder(BUILT_IN))
    for threshold, found in zip(THRESHOLDS[BUILT_IN], curves, strict=True):
        at = int(np.argmin(np.abs(found.threshold - threshold)))
        assert found.f1[at] >= found.f1.max() - 0.02
