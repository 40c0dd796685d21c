"""Scores of clusters equal scikit-learn's."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn import metrics
from sklearn.metrics.cluster import pair_confusion_matrix

from newsrec.cluster import compare, judge_pairs
from newsrec.errors import DataError


@pytest.mark.parametrize("seed", range(60))
def test_equals_scikit_learn(seed: int) -> None:
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 80))
    truth = rng.integers(0, rng.integers(1, 12), n)
    found = np.where(rng.random(n) < 0.7, truth, rng.integers(0, 12, n)) * 7
    got = compare(found, truth)
    (_, fp), (fn, tp) = pair_confusion_matrix(truth, found)
    if tp + fp:
        assert np.isclose(got.precision, tp / (tp + fp))
    if tp + fn:
        assert np.isclose(got.recall, tp / (tp + fn))
    if 2 * tp + fp + fn:
        assert np.isclose(got.f1, 2 * tp / (2 * tp + fp + fn))
    theirs = metrics.homogeneity_completeness_v_measure(truth, found)
    assert np.allclose((got.homogeneity, got.completeness, got.v_measure), theirs)
    assert np.isclose(got.adjusted_rand, metrics.adjusted_rand_score(truth, found))


def test_equal_partitions_are_perfect() -> None:
    for labels in ([0, 0, 1, 2], [0, 0, 0], [0, 1, 2], [0]):
        got = compare(np.array(labels), np.array(labels) + 5)
        assert (got.f1, got.adjusted_rand) == (1, 1)
        assert np.isclose(got.v_measure, 1)


def test_an_article_in_no_cluster_is_alone_and_one_of_unknown_truth_is_left_out() -> None:
    found, truth = np.array([0, 0, -1, -1, 3]), np.array([0, 0, 1, 1, -1])
    got = compare(found, truth)
    assert (got.precision, got.recall) == (1, 0.5)
    assert got == compare(np.array([0, 0, 1, 2]), np.array([0, 0, 1, 1]))


def test_labelled_pairs() -> None:
    found = np.array([0, 0, 0, 1, -1, -1])
    pairs = np.array([[0, 1], [0, 2], [0, 3], [4, 5]])
    same = np.array([True, False, True, True])
    precision, recall, f1 = judge_pairs(found, pairs, same)
    assert (precision, recall) == (1 / 2, 1 / 3)
    assert np.isclose(f1, 0.4)


def test_all_pairs_judge_like_labels() -> None:
    rng = np.random.default_rng(0)
    found, truth = rng.integers(0, 6, 40), rng.integers(0, 5, 40)
    pairs = np.stack(np.triu_indices(40, 1), 1)
    got = compare(found, truth)
    same = truth[pairs[:, 0]] == truth[pairs[:, 1]]
    assert np.allclose(judge_pairs(found, pairs, same), (got.precision, got.recall, got.f1))


def test_shapes_are_checked() -> None:
    with pytest.raises(DataError, match=r"\(3,\) and \(2,\)"):
        compare(np.zeros(3, int), np.zeros(2, int))
