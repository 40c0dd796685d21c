"""A reason is the largest part of the score, and its share is exact."""

from __future__ import annotations

import numpy as np

from newsrec.rank import LateFusion
from newsrec.rank.reasons import reasons
from newsrec.types import Impressions, Ragged
from tests.synthetic import VIEW, known_answer


def test_parts_sum_to_the_score_that_fusion_gives() -> None:
    known = known_answer(np.random.default_rng(0), languages=("deu", "fin"))
    fusion = LateFusion()
    history, shelf = fusion.sides(known.features)
    read, listed = np.array([3, 8, 21]), np.array([5, 60, 110])
    impressions = Impressions(
        np.array(["a"]),
        np.zeros(1, np.int32),
        np.zeros(1, "datetime64[s]"),
        Ragged.from_lists([read.tolist()]),
        np.zeros(1, np.int32),
        Ragged.from_lists([listed.tolist()]),
    )
    scores = fusion.score(impressions, known.features)
    parts = shelf.at(listed) @ history.at(read).T / len(read)
    assert np.allclose(parts.sum(1), scores, atol=1e-6)
    found = reasons(shelf.at(listed), history.at(read))
    assert np.array_equal(found.which, parts.argmax(1))
    for i in range(3):
        positive = parts[i][parts[i] > 0]
        expected = positive.max() / positive.sum() if len(positive) else 0
        assert np.isclose(found.share[i], expected, atol=1e-6)
    assert known.features.history[VIEW] is not known.features.candidates[VIEW]


def test_with_positive_parts_only_the_share_is_that_of_the_score() -> None:
    shelf, history = np.float32([[1, 0]]), np.float32([[3, 1], [1, 5]])
    found = reasons(shelf, history)
    assert found.which.tolist() == [0]
    score = (shelf @ history.mean(0)).item()
    assert np.isclose(found.share[0], (3 / 2) / score)


def test_what_speaks_against_an_article_is_left_out_of_the_share() -> None:
    found = reasons(np.float32([[1, 0]]), np.float32([[3, 0], [1, 0], [-9, 0]]))
    assert np.allclose(found.share, 0.75)


def test_when_nothing_speaks_for_an_article_the_share_is_zero() -> None:
    found = reasons(np.float32([[1, 0], [0, 0]]), np.float32([[-3, 0], [-1, 0]]))
    assert found.which[0] == 1
    assert found.share.tolist() == [0, 0]


def test_of_equal_reasons_the_newest_is_named() -> None:
    assert reasons(np.float32([[1]]), np.float32([[2], [2], [1]])).which.tolist() == [1]


def test_without_history_there_is_no_reason() -> None:
    found = reasons(np.float32([[1, 0]] * 2), np.zeros((0, 2), np.float32))
    assert found.which.tolist() == [-1, -1]
    assert found.share.tolist() == [0, 0]
