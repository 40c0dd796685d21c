"""Exact linkage equals its definition, whatever the order, the block sizes and the ties."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.cluster.hierarchy import fcluster, is_valid_linkage
from scipy.cluster.hierarchy import linkage as scipy_linkage

from newsrec.cluster import blocks, cells, linkage, merge_nearest, pairs, plant
from newsrec.errors import ConfigError
from newsrec.types.clusters import dense
from newsrec.types.embeddings import unit_rows
from tests.cluster.brute import brute
from tests.cluster.made import news_like

LINKAGES = ("average", "centroid")


def drawn(seed: int) -> tuple[NDArray[np.float32], float]:
    """Vectors and a threshold: random ones, grids full of ties, clusters, duplicates."""
    rng = np.random.default_rng(seed)
    n, dim = int(rng.integers(1, 45)), int(rng.choice([2, 3, 4, 8, 16]))
    kind = seed % 5
    if kind == 0:
        vectors = rng.standard_normal((n, dim))
    elif kind == 1:
        vectors = rng.integers(-1, 2, (n, dim)).astype(float)
        vectors[(vectors == 0).all(1)] = 1
    elif kind == 2:
        vectors = rng.choice([-1.0, 1.0], (n, 4))
    elif kind == 3:
        vectors = np.eye(8)[rng.integers(0, 8, n)]
    else:
        centres = rng.standard_normal((max(1, n // 4), dim))
        vectors = centres[rng.integers(0, len(centres), n)] + 0.3 * rng.standard_normal((n, dim))
        vectors = vectors[rng.integers(0, n, n)]
    return vectors.astype(np.float32), float(rng.choice([-1, 0, 0.25, 0.5, 0.7, 0.9, 1]))


@pytest.fixture
def tiny(monkeypatch: pytest.MonkeyPatch) -> None:
    """Lists, blocks and batches so small that a handful of articles fills them."""
    monkeypatch.setattr(linkage, "REMEMBERED", 2)
    monkeypatch.setattr(linkage, "_COMPACT", 0.9)
    monkeypatch.setattr(pairs, "ROWS", 5)
    monkeypatch.setattr(pairs, "COLUMNS", 7)
    monkeypatch.setattr(blocks, "_BUNDLE", 6)
    monkeypatch.setattr(plant, "_BATCH", 20)


@pytest.mark.parametrize("name", LINKAGES)
@pytest.mark.parametrize("part", range(8))
def test_equals_the_definition(part: int, name: str) -> None:
    for seed in range(part * 25, part * 25 + 25):
        vectors, threshold = drawn(seed)
        found = merge_nearest(vectors, threshold, name).labels()
        assert np.array_equal(found, brute(vectors, threshold, name)), seed


@pytest.mark.usefixtures("tiny")
@pytest.mark.parametrize("name", LINKAGES)
@pytest.mark.parametrize("part", range(8))
def test_equals_the_definition_when_every_list_overflows(part: int, name: str) -> None:
    for seed in range(1000 + part * 25, 1000 + part * 25 + 25):
        vectors, threshold = drawn(seed)
        group = np.random.default_rng(seed).integers(0, 3, len(vectors))
        found = merge_nearest(vectors, threshold, name, group=group).labels()
        assert np.array_equal(found, brute(vectors, threshold, name, group)), seed


@pytest.mark.usefixtures("tiny")
@pytest.mark.parametrize("name", LINKAGES)
def test_the_order_of_the_articles_decides_nothing(name: str) -> None:
    for seed in range(100):
        vectors, threshold = drawn(seed)
        order = np.random.default_rng(seed).permutation(len(vectors))
        found = merge_nearest(vectors, threshold, name).labels()
        moved = merge_nearest(vectors[order], threshold, name).labels()
        assert np.array_equal(dense(found[order]), moved), seed


@pytest.mark.parametrize("seed", range(40))
def test_average_linkage_is_scipys_dendrogram_cut_at_the_same_height(seed: int) -> None:
    rng = np.random.default_rng(seed)
    vectors = unit_rows(rng.standard_normal((int(rng.integers(2, 120)), 6)))
    table = scipy_linkage(vectors.astype(float), "average", metric="cosine")
    forest = merge_nearest(vectors, -1.0)
    ours = forest.to_scipy()
    assert is_valid_linkage(ours)
    assert np.allclose(ours[:, 2], table[:, 2], atol=1e-6)
    assert np.array_equal(ours[:, 3], table[:, 3])
    for threshold in (0.9, 0.5, 0.1):
        theirs = dense(fcluster(table, 1 - threshold, "distance"))
        assert np.array_equal(forest.labels(threshold), theirs)
        assert np.array_equal(merge_nearest(vectors, threshold).labels(), theirs)


def test_larger_inputs_equal_scipy() -> None:
    vectors, _ = news_like(1500, 64, np.random.default_rng(0))
    table = scipy_linkage(vectors.astype(float), "average", metric="cosine")
    for threshold in (0.3, 0.55, 0.7):
        theirs = dense(fcluster(table, 1 - threshold, "distance"))
        assert np.array_equal(merge_nearest(vectors, threshold).labels(), theirs)


@pytest.mark.parametrize("name", LINKAGES)
def test_clusters_that_are_given_weigh_as_much_as_their_articles(name: str) -> None:
    """Merging on from the clusters of a high threshold is merging all the way, for average
    linkage; what begins together stays together, for both."""
    vectors, _ = news_like(300, 32, np.random.default_rng(1))
    start = merge_nearest(vectors, 0.8, name).labels()
    on = merge_nearest(vectors, 0.5, name, start=start)
    assert on.n_leaves == start.max() + 1
    labels = on.labels()
    assert len(np.unique(np.stack([start, labels]), axis=1).T) == start.max() + 1
    if name == "average":
        assert np.array_equal(labels, merge_nearest(vectors, 0.5, name).labels())


@pytest.mark.parametrize("name", LINKAGES)
def test_groups_stay_apart_and_do_not_touch_each_other(name: str) -> None:
    vectors, truth = news_like(400, 32, np.random.default_rng(2))
    group = truth[1]
    labels = merge_nearest(vectors, 0.3, name, group=group).labels()
    for g in range(group.max() + 1):
        rows = np.flatnonzero(group == g)
        alone = merge_nearest(vectors[rows], 0.3, name).labels()
        assert np.array_equal(dense(labels[rows]), alone)
    assert labels.max() + 1 == sum(
        len(np.unique(labels[group == g])) for g in range(group.max() + 1)
    )


def test_length_and_format_of_the_vectors_decide_nothing() -> None:
    vectors, _ = news_like(300, 32, np.random.default_rng(3))
    labels = merge_nearest(vectors, 0.5).labels()
    scale = np.random.default_rng(3).uniform(0.1, 10, (300, 1)).astype(np.float32)
    for same in (vectors * scale, vectors.astype(np.float64), np.asfortranarray(vectors)):
        assert np.array_equal(merge_nearest(same, 0.5).labels(), labels)
    rotation = np.linalg.qr(np.random.default_rng(4).standard_normal((32, 32)))[0]
    assert np.array_equal(merge_nearest(vectors @ rotation, 0.5).labels(), labels)
    half = vectors.astype(np.float16)
    assert np.array_equal(
        merge_nearest(half, 0.5).labels(), merge_nearest(half.astype(np.float32), 0.5).labels()
    )


def test_the_vectors_stay_as_they_were() -> None:
    vectors, _ = news_like(100, 16, np.random.default_rng(5))
    kept = vectors.copy()
    merge_nearest(vectors, 0.2)
    assert np.array_equal(vectors, kept)


def test_a_threshold_merges_at_just_that_similarity() -> None:
    vectors = np.array([[1, 0], [0.5, 0.75**0.5]], np.float32)
    height = merge_nearest(vectors, -1.0).height[0]
    assert np.isclose(height, 0.5)
    assert merge_nearest(vectors, float(height)).labels().tolist() == [0, 0]
    assert merge_nearest(vectors, float(height) + 1e-9).labels().tolist() == [0, 1]


def test_duplicates_are_one_cluster_at_any_threshold() -> None:
    vectors = np.repeat(np.eye(3, dtype=np.float32), 4, axis=0)
    forest = merge_nearest(vectors, 1.0)
    assert forest.labels().tolist() == [0] * 4 + [1] * 4 + [2] * 4
    assert forest.height.tolist() == [1.0] * 9


def test_opposite_vectors_have_a_centroid_without_direction() -> None:
    vectors = np.array([[1, 0], [-1, 0], [0, 1]], np.float32)
    assert merge_nearest(vectors, -1.0, "centroid").labels().max() == 0


def test_one_article_and_none() -> None:
    assert merge_nearest(np.ones((1, 4), np.float32), 0.5).labels().tolist() == [0]
    assert merge_nearest(np.ones((0, 4), np.float32), 0.5).labels().shape == (0,)


def test_an_unknown_linkage_is_named() -> None:
    with pytest.raises(ConfigError, match="unknown linkage 'averge'; known: average, centroid"):
        merge_nearest(np.ones((2, 2), np.float32), 0.5, "averge")


@pytest.mark.parametrize("name", LINKAGES)
@pytest.mark.parametrize("seed", range(3))
def test_the_index_finds_nearly_the_same(
    seed: int, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cells, "_EXACT_BELOW", 200)
    monkeypatch.setattr(cells, "_CELL", 50)
    monkeypatch.setattr(cells, "_NEAR", 10)
    vectors, _ = news_like(1500, 64, np.random.default_rng(seed))
    threshold = 0.55 if name == "average" else 0.75
    exact = merge_nearest(vectors, threshold, name)
    found = merge_nearest(vectors, threshold, name, exact_below=100)
    assert exact.recall == 1
    assert 0.9 < found.recall <= 1
    from newsrec.cluster import compare

    assert compare(found.labels(), exact.labels()).f1 > 0.98
