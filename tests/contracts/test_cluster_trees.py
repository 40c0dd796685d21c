"""What every way to a tree of clusters promises. One row each: a new way adds a line to `ROWS`."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from newsrec.cluster import (
    Assigner,
    ClusteredShelf,
    Level,
    LevelwiseRAC,
    cluster_levels,
    extend,
    load_clusters,
    save_clusters,
)
from newsrec.types import ClusterTree
from newsrec.types.clusters import dense
from tests.cluster.made import news_like

LEVELS = (Level(8, 0.4), Level(16, 0.5), Level(32, 0.6))
Make = Callable[[NDArray[np.float32]], ClusterTree]


def levels(**options: object) -> Make:
    return lambda vectors: cluster_levels(vectors, LEVELS, **options).tree  # type: ignore[arg-type]


def one_by_one(vectors: NDArray[np.float32]) -> ClusterTree:
    half = len(vectors) // 2
    assigner = Assigner(cluster_levels(vectors[:half], LEVELS).tree, vectors[:half])
    for vector in vectors[half:]:
        assigner.place(vector)
    return assigner.tree()


def extended(vectors: NDArray[np.float32]) -> ClusterTree:
    half = len(vectors) // 2
    return extend(cluster_levels(vectors[:half], LEVELS).tree, vectors)


def estimator(vectors: NDArray[np.float32]) -> ClusterTree:
    return LevelwiseRAC((0.4, 0.5, 0.6), (8, 16, 32)).fit(vectors).tree_


ROWS: dict[str, Make] = {
    "refine, average": levels(),
    "refine, centroid": levels(linkage="centroid"),
    "merge, average": levels(direction="merge"),
    "merge, centroid": levels(direction="merge", linkage="centroid"),
    "estimator": estimator,
    "one by one": one_by_one,
    "extended": extended,
}
#: What depends on the order in which articles arrived.
IN_TIME = {"one by one", "extended"}


@pytest.fixture(params=ROWS)
def make(request: pytest.FixtureRequest) -> Make:
    return ROWS[request.param]


@pytest.fixture(scope="module")
def vectors() -> NDArray[np.float32]:
    return news_like(240, 32, np.random.default_rng(0))[0]


def test_nested_dense_and_coarse_never_more_than_fine(
    make: Make, vectors: NDArray[np.float32]
) -> None:
    tree = make(vectors)
    assert tree.labels.shape == (3, 240)
    assert tree.labels.dtype == np.int32
    assert tree.dims == (8, 16, 32)
    assert tree.thresholds == (0.4, 0.5, 0.6)
    assert list(tree.n_clusters) == sorted(tree.n_clusters)
    assert 1 < tree.n_clusters[0] < tree.n_clusters[2] < 240
    for level in range(3):
        assert np.array_equal(np.unique(tree.labels[level]), np.arange(tree.n_clusters[level]))
    for level in (1, 2):
        pairs = np.unique(tree.labels[level - 1 : level + 1], axis=1)
        assert pairs.shape[1] == tree.n_clusters[level]


def test_the_same_again(make: Make, vectors: NDArray[np.float32]) -> None:
    kept = vectors.copy()
    assert np.array_equal(make(vectors).labels, make(vectors).labels)
    assert np.array_equal(vectors, kept)


@pytest.mark.parametrize("make", [name for name in ROWS if name not in IN_TIME], indirect=True)
def test_the_order_of_the_articles_decides_nothing(
    make: Make, vectors: NDArray[np.float32]
) -> None:
    order = np.random.default_rng(1).permutation(len(vectors))
    found, moved = make(vectors).labels, make(vectors[order]).labels
    for a, b in zip(found, moved, strict=True):
        assert np.array_equal(dense(a[order]), dense(b))


def test_the_length_of_the_vectors_decides_nothing(
    make: Make, vectors: NDArray[np.float32]
) -> None:
    scale = np.random.default_rng(2).uniform(0.1, 10, (len(vectors), 1)).astype(np.float32)
    assert np.array_equal(make(vectors * scale).labels, make(vectors).labels)


def test_duplicates_share_their_clusters(make: Make, vectors: NDArray[np.float32]) -> None:
    labels = make(np.repeat(vectors[:80], 2, axis=0)).labels
    assert np.array_equal(labels[:, ::2], labels[:, 1::2])


def test_saved_and_loaded(make: Make, vectors: NDArray[np.float32], tmp_path: Path) -> None:
    tree = make(vectors)
    articles = np.array([f"n{i}" for i in range(len(tree))])
    save_clusters(tmp_path / "tree.npz", ClusteredShelf.new(tree, articles))
    again = load_clusters(tmp_path / "tree.npz").tree
    assert np.array_equal(again.labels, tree.labels)
    assert again.labels.dtype == np.int32
    assert (again.dims, again.thresholds) == (tree.dims, tree.thresholds)
