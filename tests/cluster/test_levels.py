"""Levels: nested in both directions, at the right slices; bad input is refused by name."""

from __future__ import annotations

import numpy as np
import pytest

from newsrec.cluster import Level, cluster_embeddings, cluster_levels, compare, levels_of
from newsrec.cluster.linkage import merge_nearest
from newsrec.errors import ConfigError, DataError
from newsrec.types import Embeddings, EmbeddingSpec, EncoderSpec
from newsrec.types.clusters import dense
from newsrec.types.embeddings import unit_rows
from tests.cluster.made import news_like

LEVELS = (Level(8, 0.4), Level(16, 0.5), Level(32, 0.6))


def embeddings(vectors: np.ndarray, levels: tuple[int, ...], present: np.ndarray) -> Embeddings:
    encoder = EncoderSpec("toy", "r1", vectors.shape[1], "mean", levels, normalized=False)
    return Embeddings(vectors, present, EmbeddingSpec(encoder, "eng", "title", "c"))


def test_refine_clusters_every_cluster_again_at_the_next_slice() -> None:
    vectors, _ = news_like(300, 32, np.random.default_rng(0))
    tree = cluster_levels(vectors, LEVELS).tree
    expected = np.zeros(300, np.int32)
    for level, (dim, threshold) in enumerate(((8, 0.4), (16, 0.5), (32, 0.6))):
        inner = np.empty(300, np.int64)
        for cluster in range(expected.max() + 1):
            rows = np.flatnonzero(expected == cluster)
            unit = unit_rows(vectors[rows, :dim])
            inner[rows] = cluster * 1000 + merge_nearest(unit, threshold).labels()
        expected = dense(inner)
        assert np.array_equal(dense(tree.labels[level]), expected)


def test_merge_starts_with_the_stories_and_merges_them_by_coarser_slices() -> None:
    vectors, _ = news_like(300, 32, np.random.default_rng(0))
    made = cluster_levels(vectors, LEVELS, direction="merge")
    stories = merge_nearest(vectors, 0.6).labels()
    topics = merge_nearest(vectors, 0.5, dim=16, start=stories).labels()
    themes = merge_nearest(vectors, 0.4, dim=8, start=topics).labels()
    assert np.array_equal(made.tree.labels, np.stack([themes, topics, stories]))
    assert made.tree.dims == (8, 16, 32)
    assert made.forests[0].n_leaves == topics.max() + 1


@pytest.mark.parametrize("linkage", ["average", "centroid"])
def test_levels_of_one_slice_are_cuts_of_one_dendrogram(linkage: str) -> None:
    vectors, _ = news_like(200, 16, np.random.default_rng(1))
    levels = levels_of((0.3, 0.5, 0.7), (16, 16, 16))
    tree = cluster_levels(vectors, levels, linkage=linkage).tree
    if linkage == "average":
        forest = merge_nearest(vectors, 0.3)
        cuts = [forest.labels(threshold) for threshold in (0.3, 0.5, 0.7)]
        assert np.array_equal(tree.labels, cuts)
    assert list(tree.n_clusters) == sorted(tree.n_clusters)


def test_the_clusters_that_the_vectors_were_made_from_are_found() -> None:
    vectors, truth = news_like(2000, 256, np.random.default_rng(2), noise=0.3)
    tree = cluster_levels(vectors, (Level(64, 0.5), Level(128, 0.6), Level(256, 0.65))).tree
    for level in range(3):
        assert compare(tree.labels[level], truth[level]).f1 > 0.95, level


def test_articles_without_text_are_in_no_cluster() -> None:
    vectors, _ = news_like(100, 32, np.random.default_rng(3))
    present = np.random.default_rng(3).random(100) < 0.7
    vectors[~present] = 0
    made = cluster_embeddings(embeddings(vectors, (8, 16, 32), present), (0.4, 0.5, 0.6))
    assert np.array_equal(made.tree.labels >= 0, np.broadcast_to(present, (3, 100)))
    alone = cluster_levels(vectors[present], LEVELS).tree
    assert np.array_equal(made.tree.labels[:, present], alone.labels)
    assert made.recall == 1


def test_slices_come_from_the_encoder() -> None:
    vectors, _ = news_like(40, 32, np.random.default_rng(4))
    here = np.ones(40, np.bool_)
    two = cluster_embeddings(embeddings(vectors, (8, 16, 32), here), (0.4, 0.6))
    assert two.tree.dims == (16, 32)
    plain = cluster_embeddings(embeddings(vectors, (32,), here), (0.4, 0.5, 0.6))
    assert plain.tree.dims == (32, 32, 32)
    chosen = cluster_embeddings(embeddings(vectors, (8, 16, 32), here), (0.4, 0.6), (8, 8))
    assert chosen.tree.dims == (8, 8)
    with pytest.raises(ConfigError, match="toy has no level of 12 dimensions; it has 8, 16, 32"):
        cluster_embeddings(embeddings(vectors, (8, 16, 32), here), (0.4, 0.6), (12, 32))


@pytest.mark.parametrize(
    ("thresholds", "dims", "says"),
    [
        ((0.7, 0.5), (8, 16), r"fall from one level.*expected \(0.5, 0.7\)"),
        ((0.5, 1.5), (8, 16), "threshold 1.5: expected a cosine"),
        ((0.5, "much"), (8, 16), "threshold 'much': expected a cosine"),
        ((0.5, None), (8, 16), "threshold None: expected a cosine"),
        ((0.5, 0.6), (8, "all"), "expected whole numbers"),
        ((0.5, float("nan")), (8, 16), "threshold nan"),
        ((0.5, 0.6), (16, 8), "sizes that never fall"),
        ((0.5, 0.6), (0, 8), "sizes that never fall"),
        ((0.5, 0.6), (8,), "2 thresholds and 1 dims"),
        ((), (), "0 thresholds"),
    ],
)
def test_what_makes_no_hierarchy_is_explained(
    thresholds: tuple[float, ...], dims: tuple[int, ...], says: str
) -> None:
    with pytest.raises(ConfigError, match=says):
        levels_of(thresholds, dims)


def test_thresholds_tuned_slice_by_slice_may_fall() -> None:
    levels = levels_of((0.7, 0.5), (8, 16), any_order=True)
    vectors, _ = news_like(60, 16, np.random.default_rng(5))
    assert cluster_levels(vectors, levels).tree.thresholds == (0.7, 0.5)


def test_bad_vectors_are_named_by_row() -> None:
    vectors = np.ones((9, 32), np.float32)
    bad = vectors.copy()
    bad[[3, 7], 5] = np.nan, np.inf
    with pytest.raises(DataError, match=r"row 3, 7 has NaN or infinity \(2 such"):
        cluster_levels(bad, LEVELS)
    bad = vectors.copy()
    bad[4] = 0
    with pytest.raises(DataError, match="row 4 is zero in its first 8 dimensions"):
        cluster_levels(bad, LEVELS)
    bad = vectors.copy()
    bad[6, :8] = 0
    with pytest.raises(DataError, match="row 6 is zero in its first 8 dimensions"):
        cluster_levels(bad, LEVELS)
    with pytest.raises(ConfigError, match="level of 64 dimensions: the vectors have 32"):
        cluster_levels(vectors, (Level(64, 0.5),))
    with pytest.raises(DataError, match=r"expected float \(n, dim\)"):
        cluster_levels(vectors[0], LEVELS)
    with pytest.raises(ConfigError, match="unknown direction 'refind'"):
        cluster_levels(vectors, LEVELS, direction="refind")


def test_one_article_duplicates_and_nothing() -> None:
    one = cluster_levels(np.ones((1, 32), np.float32), LEVELS).tree
    assert one.labels.tolist() == [[0], [0], [0]]
    same = cluster_levels(np.ones((50, 32), np.float32), LEVELS).tree
    assert same.n_clusters == (1, 1, 1)
    none = cluster_levels(np.ones((0, 32), np.float32), LEVELS).tree
    assert none.n_clusters == (0, 0, 0)
    for direction in ("refine", "merge"):
        missing = np.zeros(5, np.bool_)
        tree = cluster_levels(
            np.ones((5, 32), np.float32), LEVELS, direction=direction, present=missing
        ).tree
        assert (tree.labels == -1).all()
