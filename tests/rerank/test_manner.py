"""MANNeR's weights, by hand and against its formula."""

from __future__ import annotations

import numpy as np
import pytest

from newsrec.errors import ConfigError, DataError
from newsrec.rerank import Manner
from newsrec.rerank.manner import affinity, standard
from tests.rerank.made import drawn, pool_of


def z(x: np.ndarray) -> np.ndarray:
    return (x - x.mean()) / x.std()


@pytest.mark.parametrize("seed", range(5))
def test_one_half_orders_as_the_published_score(seed: int) -> None:
    """z(relevance) + Σ weight · z(aspect)."""
    pool = drawn(np.random.default_rng(seed))
    share = np.array([
        np.mean(pool.history["category"][pool.history["category"] >= 0] == c)
        if c >= 0 else 0.0
        for c in pool.aspects["category"]
    ])  # fmt: skip
    score = z(pool.scores.astype(float)) + 0.4 * z(pool.affinity["mood"]) - 0.9 * z(share)
    order = Manner(0.5, {"mood": 0.4, "category": -0.9})(pool)
    assert order.tolist() == sorted(range(len(pool)), key=lambda i: -round(score[i], 4))


def test_the_sign_brings_more_or_less_of_what_was_read() -> None:
    pool = pool_of(
        [3, 2, 1, 0],
        aspects={"category": [0, 1, 0, 1]},
        history={"category": [0, 0, 0, 1]},
    )
    assert Manner(0.0, {"category": 1.0})(pool).tolist() == [0, 2, 1, 3]
    assert Manner(0.0, {"category": -1.0})(pool).tolist() == [1, 3, 0, 2]
    assert Manner(0.3, {})(pool).tolist() == [0, 1, 2, 3]


def test_given_affinity_is_used_before_the_history_s_shares() -> None:
    pool = pool_of(
        [3, 2, 1],
        aspects={"category": [0, 1, 0]},
        history={"category": [0, 0, 1, -1]},
        affinity={"mood": [0.2, 0.1, 0.4]},
    )
    assert affinity(pool, "category").tolist() == pytest.approx([2 / 3, 1 / 3, 2 / 3])
    assert Manner(0.0, {"mood": 1.0})(pool).tolist() == [2, 0, 1]


def test_standard_scores() -> None:
    assert standard(np.array([1.0, 3.0])).tolist() == [-1, 1]
    assert standard(np.array([0.1, 0.1, 0.1])).tolist() == [0, 0, 0]
    assert standard(np.zeros(0)).tolist() == []


def test_bad_weights_and_aspects_are_refused() -> None:
    for weight in (float("nan"), float("inf"), "1", True):
        with pytest.raises(ConfigError, match=r"weights\['mood'\]: .*finite number"):
            Manner(0.5, {"mood": weight})  # type: ignore[dict-item]
    with pytest.raises(DataError, match="no aspect 'mood'; they have: none"):
        Manner(0.5, {"mood": 1.0})(pool_of([1, 2]))
