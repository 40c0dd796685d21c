"""What re-rankers share: score order, relevance, ties, cosines."""

from __future__ import annotations

import numpy as np
import pytest

from newsrec.rerank.cosines import Cosines
from newsrec.rerank.greedy import by_worth, greedy, relevance_of, score_order
from newsrec.rerank.manner import standard
from newsrec.types import Pool
from tests.rerank.made import pool_of


class Given:
    """A bonus that never changes."""

    def __init__(self, bonus: list[float]) -> None:
        self.chosen: list[int] = []
        self._bonus = np.array(bonus)

    def bonus(self) -> np.ndarray:
        return self._bonus

    def add(self, chosen: np.ndarray) -> None:
        self.chosen += chosen.tolist()


def test_relevance_spans_0_to_1() -> None:
    assert relevance_of(pool_of([-3, 1, 5])).tolist() == [0, 0.5, 1]
    assert relevance_of(pool_of([7, 7])).tolist() == [0, 0]
    huge = relevance_of(pool_of([-3e38, 0, 3e38]))
    assert huge.tolist() == pytest.approx([0, 0.5, 1])


def test_score_order_is_stable() -> None:
    assert score_order(pool_of([1, 2, 0, 2, 1, -0.0])).tolist() == [1, 3, 0, 4, 2, 5]


def test_rounding_does_not_decide() -> None:
    """0.1 + 0.2 is more than 0.3 by rounding alone."""
    pool = pool_of([1, 1, 1])
    bonus = [0.3, 0.1 + 0.2, 0.2]
    assert by_worth(np.array(bonus), score_order(pool)).tolist() == [0, 1, 2]
    assert greedy(pool, Given(bonus), [0.0], 3).tolist() == [[0, 1, 2]]
    assert greedy(pool, Given([0.3, 0.3001, 0.2]), [0.0], 3).tolist() == [[1, 0, 2]]
    assert by_worth(np.array([0.3, 0.3001, 0.2]), score_order(pool)).tolist() == [1, 0, 2]


def test_what_is_chosen_is_told_and_the_rest_keeps_score_order() -> None:
    pool = pool_of([5, 4, 3, 2, 1])
    given = Given([0, 0, 1, 2, 3])
    assert greedy(pool, given, [0.0], 2).tolist() == [[4, 3, 0, 1, 2]]
    assert given.chosen == [4, 3]
    # Relevance 1 to 0 in steps of 1/4; at 0.9 the last is worth 0.3, the first 0.9.
    assert greedy(pool, Given([0, 0, 1, 2, 3]), [0.9], 2).tolist() == [[0, 1, 2, 3, 4]]


def test_cosines_of_more_numbers_than_one_product_takes() -> None:
    rng = np.random.default_rng(0)
    for n, dim in ((400, 768), (7, 200_000), (3, 1)):
        vectors = rng.standard_normal((n, dim)).astype(np.float32)
        vectors[1] = 0
        found = Cosines(Pool(np.zeros(n, np.float32), vectors)).of(2)
        lengths = np.linalg.norm(vectors, axis=1) * np.linalg.norm(vectors[2])
        plain = np.divide(vectors @ vectors[2], lengths, out=np.zeros(n), where=lengths > 0)
        assert np.allclose(found, plain, atol=1e-5)
        assert found[1] == 0


def test_huge_scores_are_only_large() -> None:
    scores = np.array([0.0, 1e308, -1e308, 3.0])
    assert relevance_of(Pool(scores=scores)).tolist() == [0.5, 1, 0, 0.5]
    assert np.isfinite(standard(scores)).all()
