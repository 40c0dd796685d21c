"""Thresholds by pairwise F1."""

from __future__ import annotations

import numpy as np
import pytest

from newsrec.cluster import (
    Curve,
    cluster_levels,
    compare,
    judge_pairs,
    levels_of,
    merge_nearest,
    pairs_of_stories,
    tune_level,
    tune_levels,
)
from newsrec.errors import DataError
from tests.cluster.made import news_like


@pytest.mark.parametrize("linkage", ["average", "centroid"])
def test_every_point_of_the_curve_is_a_clustering_with_that_threshold(linkage: str) -> None:
    vectors, truth = news_like(150, 32, np.random.default_rng(0))
    pairs, same = pairs_of_stories(truth[2], np.random.default_rng(0))
    curve = tune_level(vectors, 32, pairs, same, linkage=linkage, thresholds=(0.3, 0.6, 0.8))
    for i, threshold in enumerate((0.3, 0.6, 0.8)):
        labels = merge_nearest(vectors, threshold, linkage).labels()
        assert curve.clusters[i] == labels.max() + 1
        rates = (curve.precision[i], curve.recall[i], curve.f1[i])
        assert np.allclose(rates, judge_pairs(labels, pairs, same))


def test_the_best_thresholds_find_the_clusters() -> None:
    vectors, truth = news_like(600, 128, np.random.default_rng(1), noise=0.3)
    rng = np.random.default_rng(1)
    pairs = rng.integers(0, 600, (4000, 2))
    pairs = np.concatenate([pairs, pairs_of_stories(truth[2], rng)[0]])
    grade = (truth[:, pairs[:, 0]] == truth[:, pairs[:, 1]]).sum(0)
    curves = tune_levels(vectors, (32, 64, 128), pairs, grade)
    chosen = levels_of([c.best.threshold for c in curves], (32, 64, 128), any_order=True)
    tree = cluster_levels(vectors, chosen).tree
    for level in range(3):
        assert compare(tree.labels[level], truth[level]).f1 > 0.95
        assert curves[level].f1.max() > 0.95


def test_the_middle_of_the_best_run_is_chosen() -> None:
    f1 = np.array([0.5, 0.9, 0.9, 0.9, 0.7, 0.9])
    grid = np.arange(6) / 10
    curve = Curve(8, grid, f1, f1, f1, np.ones(6, np.int64))
    assert (curve.best.dim, curve.best.threshold) == (8, 0.2)


def test_pairs_of_stories() -> None:
    story = np.array([4, -1, 4, 2, 4, 2, 9])
    pairs, same = pairs_of_stories(story, np.random.default_rng(0), apart=5)
    together = {tuple(sorted(pair)) for pair in pairs[same].tolist()}
    assert together == {(0, 2), (0, 4), (2, 4), (3, 5)}
    assert (story[pairs[~same][:, 0]] != story[pairs[~same][:, 1]]).all()
    assert (story[pairs] >= 0).all()
    assert 0 < np.count_nonzero(~same) <= 20


def test_labels_that_cannot_choose_a_threshold_are_refused() -> None:
    vectors = np.eye(4, dtype=np.float32)
    pairs = np.array([[0, 1], [2, 3]])
    with pytest.raises(DataError, match="all 2 pairs are labelled together"):
        tune_level(vectors, 4, pairs, np.array([True, True]))
    with pytest.raises(DataError, match="rows 0 to 9, expected 0 … 3"):
        tune_level(vectors, 4, np.array([[0, 9]]), np.array([True]))
    with pytest.raises(DataError, match=r"expected \(m, 2\)"):
        tune_level(vectors, 4, pairs, np.array([True]))
