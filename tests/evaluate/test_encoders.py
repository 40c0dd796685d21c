"""Measures of encoders on vectors whose scores are known."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from newsrec.evaluate.encoders import (
    TopicClassifier,
    bitext_accuracy,
    bitext_pairs,
    topic_transfer,
    unit,
)


def test_accuracy_counts_nearest_by_cosine_not_by_length() -> None:
    pool = np.array([[1, 0], [0, 10], [-1, 0], [5, 5]], np.float32)
    queries = np.array([[3, 0.1], [0.1, 1], [1, 1]], np.float32)  # the third prefers row 3
    assert bitext_accuracy(queries, pool) == pytest.approx(200 / 3)
    assert np.isnan(bitext_accuracy(pool[:0], pool))


def test_pairs_are_ordered_and_complete() -> None:
    rng = np.random.default_rng(0)
    vectors = {code: rng.normal(size=(9, 4)).astype(np.float32) for code in ("fin", "jpn", "som")}
    vectors["jpn"] = vectors["fin"] * 2
    found = bitext_pairs(vectors)
    assert len(found) == 6
    assert found["fin", "jpn"] == found["jpn", "fin"] == 100
    assert found["fin", "som"] == bitext_accuracy(vectors["fin"], vectors["som"])


def test_unit_takes_a_prefix_and_keeps_zero_rows() -> None:
    vectors = np.array([[3, 4, 9], [0, 0, 0]], np.float32)
    assert unit(vectors, 2) == pytest.approx(np.array([[0.6, 0.8], [0, 0]]))


def test_classifier_equals_scikit_learn() -> None:
    rng = np.random.default_rng(1)
    vectors = rng.normal(size=(200, 6)).astype(np.float32)
    labels = [("a", "b", "c")[i] for i in (vectors[:, :3] + rng.normal(size=(200, 3))).argmax(1)]
    reference = LogisticRegression(C=1, max_iter=1000)
    reference.fit(vectors, labels)
    found = TopicClassifier(vectors, labels)
    assert found.accuracy(vectors, labels) == pytest.approx(
        100 * reference.score(vectors, labels), abs=0.6
    )


def test_transfer_fits_on_english_only() -> None:
    rng = np.random.default_rng(2)
    centres = np.eye(3, dtype=np.float32) * 4
    labels = ["x", "y", "z"] * 20
    english = np.tile(centres, (20, 1)) + rng.normal(size=(60, 3)).astype(np.float32) * 0.1
    turned = english[:, [1, 2, 0]]  # a language whose topics are mixed up
    found = topic_transfer((english, labels), {"fin": (english, labels), "tam": (turned, labels)})
    assert found == {"fin": 100, "tam": 0}
