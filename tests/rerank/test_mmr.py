"""MMR against its formula, written out, and by hand."""

from __future__ import annotations

import numpy as np
import pytest

from newsrec.errors import ConfigError, DataError
from newsrec.rerank import Mmr
from newsrec.types import Pool
from tests.rerank.greedily import greedily, relevance
from tests.rerank.made import drawn, pool_of


def literal(pool: Pool, w: float, k: int) -> list[int]:
    """argmax of w · relevance - (1 - w) · max cosine, candidate by candidate."""
    vectors = np.asarray(pool.vectors, np.float64)
    relevances = relevance(pool)

    def cosine(i: int, j: int) -> float:
        lengths = np.linalg.norm(vectors[i]) * np.linalg.norm(vectors[j])
        return float(vectors[i] @ vectors[j] / lengths) if lengths else 0.0

    def worth(chosen: list[int]) -> float:
        *before, last = chosen
        nearest = max((cosine(last, j) for j in before), default=0.0)
        return w * relevances[last] - (1 - w) * nearest

    return greedily(pool, worth, k)


@pytest.mark.parametrize("w", [0.0, 0.3, 0.7, 0.95])
@pytest.mark.parametrize("seed", range(10))
def test_equals_the_formula(seed: int, w: float) -> None:
    pool = drawn(np.random.default_rng(seed), n=30)
    for k in (1, 7, 30, 99):
        assert Mmr(w, k)(pool).tolist() == literal(pool, w, k)


def test_by_hand() -> None:
    # Relevance 1, 0.75, 0.5, 0; cosine of 0 and 1 is 0.8, of 0 and 2 is 0, of 1 and 2 is 0.6.
    pool = pool_of(
        [4, 3, 2, 0], vectors=[[2.0, 0.0], [0.8, 0.6], [0.0, 5.0], [0.0, 0.0]]
    )  # fmt: skip
    # Second place at w = 0.5: 1 has 0.375 - 0.4 = -0.025, 2 has 0.25, 3 has 0.
    # Third: 1 has 0.375 - 0.4 = -0.025, 3 has 0.
    assert Mmr(0.5)(pool).tolist() == [0, 2, 3, 1]
    # At w = 0.8: 1 has 0.6 - 0.16 = 0.44, 2 has 0.4, 3 has 0; then 2 has 0.4 - 0.12.
    assert Mmr(0.8)(pool).tolist() == [0, 1, 2, 3]


def test_after_the_head_comes_score_order() -> None:
    pool = drawn(np.random.default_rng(3))
    order = Mmr(0.2, k=5)(pool)
    rest = pool.scores[order[5:]]
    assert (rest[1:] <= rest[:-1]).all()
    assert order[:5].tolist() == Mmr(0.2, k=40)(pool)[:5].tolist()


def test_half_precision_vectors_and_views_of_them_serve() -> None:
    pool = drawn(np.random.default_rng(3))
    assert pool.vectors is not None
    half = Pool(pool.scores, np.repeat(pool.vectors, 2, axis=0).astype(np.float16)[::2])
    whole = Pool(pool.scores, half.vectors.astype(np.float32))  # type: ignore[union-attr]
    assert np.array_equal(Mmr(0.3)(half), Mmr(0.3)(whole))


def test_no_vectors_and_broken_ones_are_refused() -> None:
    with pytest.raises(DataError, match="no vectors"):
        Mmr()(pool_of([1, 2]))
    broken = np.ones((3, 2), np.float32)
    broken[2, 1] = np.nan
    with pytest.raises(DataError, match=r"vectors: NaN or infinite for candidate 2 \(1 of 3\)"):
        Mmr()(Pool(np.ones(3, np.float32), broken))


@pytest.mark.parametrize("k", [0, -1, 2.5, True, None])
def test_a_head_of_nothing_is_refused(k: object) -> None:
    with pytest.raises(ConfigError, match="expected a whole number of 1 or more"):
        Mmr(0.5, k)  # type: ignore[arg-type]
