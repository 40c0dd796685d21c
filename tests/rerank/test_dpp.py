"""The fast greedy MAP against determinants computed anew for every candidate."""

from __future__ import annotations

import numpy as np
import pytest

from newsrec.rerank import Dpp
from newsrec.types import Pool
from tests.rerank.greedily import greedily, relevance
from tests.rerank.made import drawn, pool_of


def similarity(pool: Pool) -> np.ndarray:
    """(1 + cosine) / 2, in float64."""
    vectors = np.asarray(pool.vectors, np.float64)
    unit = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    return (1 + unit @ unit.T) / 2


def log_det(matrix: np.ndarray, chosen: list[int]) -> float:
    """Logarithm of the determinant of a principal minor."""
    return float(np.linalg.slogdet(matrix[np.ix_(chosen, chosen)])[1])


@pytest.mark.parametrize("w", [0.0, 0.3, 0.7, 0.95])
@pytest.mark.parametrize("seed", range(10))
def test_equals_greedy_log_determinants(seed: int, w: float) -> None:
    pool = drawn(np.random.default_rng(seed), n=25, dim=24)
    matrix, relevances = similarity(pool), relevance(pool)

    def worth(chosen: list[int]) -> float:
        return w * sum(relevances[i] for i in chosen) + (1 - w) * log_det(matrix, chosen)

    for k in (1, 6, 12):
        assert Dpp(w, k)(pool).tolist() == greedily(pool, worth, k)


@pytest.mark.parametrize("w", [0.0, 0.3, 0.7])
def test_is_greedy_map_for_the_kernel_of_the_paper(w: float) -> None:
    """L_ij = q_i S_ij q_j with q = exp(α r), α = w / (2 (1 - w))."""
    pool = drawn(np.random.default_rng(11), n=25, dim=24)
    quality = np.exp(w / (2 * (1 - w)) * np.asarray(relevance(pool)))
    kernel = quality[:, None] * similarity(pool) * quality
    expected = greedily(pool, lambda chosen: log_det(kernel, chosen), 10)
    assert Dpp(w, 10)(pool).tolist() == expected


def test_by_hand() -> None:
    # Relevance 1, 0.9, 0; S of 0 and 1 is 0.9 (cosine 0.8), of 0 and 2 is 0.5: what is left is
    # 0.19 and 0.75. At w = 0.9: 0.81 + 0.1 ln 0.19 = 0.644 against 0.1 ln 0.75 = -0.029.
    # At w = 0.5: 0.45 + 0.5 ln 0.19 = -0.380 against -0.144.
    pool = pool_of([10, 9, 0], vectors=[[1.0, 0.0], [0.8, 0.6], [0.0, 1.0]])
    assert Dpp(0.9)(pool).tolist() == [0, 1, 2]
    assert Dpp(0.5)(pool).tolist() == [0, 2, 1]


def test_copies_come_last_in_score_order_and_nothing_is_nan() -> None:
    rng = np.random.default_rng(0)
    three = rng.standard_normal((3, 16)).astype(np.float32)
    pool = Pool(np.arange(30, 0, -1).astype(np.float32), np.tile(three, (10, 1)))
    with np.errstate(all="raise"):
        order = Dpp(0.0)(pool).tolist()
        assert set(order[:3]) == {0, 1, 2}
        assert order[3:] == list(range(3, 30))
        shuffled = Pool(pool.scores[::-1].copy(), pool.vectors)
        order = Dpp(0.0)(shuffled).tolist()
    assert sorted(i % 3 for i in order[:3]) == [0, 1, 2]
    assert order[3:] == sorted(order[3:], reverse=True)


def test_the_list_is_more_varied_than_by_score() -> None:
    """Twenty of 400 in ten tight clusters, the best scores all in one of them."""
    rng = np.random.default_rng(4)
    of = np.repeat(np.arange(10), 40)
    centres = rng.standard_normal((10, 64))
    vectors = (centres[of] + 0.1 * rng.standard_normal((400, 64))).astype(np.float32)
    pool = Pool((rng.random(400) + (of == 0)).astype(np.float32), vectors)
    assert len(set(of[Dpp(0.0)(pool)[:10]])) == 10
    assert len(set(of[Dpp(0.5)(pool)[:20]])) >= 8
    assert len(set(of[Dpp(1.0)(pool)[:20]])) == 1
