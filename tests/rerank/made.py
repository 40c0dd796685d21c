"""Pools for the tests of re-ranking."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import strategies as st

from newsrec.types import Pool


def drawn(rng: np.random.Generator, n: int = 40, dim: int = 8, n_classes: int = 4) -> Pool:
    """A pool without ties: normal scores and vectors, every candidate with classes and language."""
    return Pool(
        scores=rng.standard_normal(n).astype(np.float32),
        vectors=rng.standard_normal((n, dim)).astype(np.float32),
        aspects={
            "category": rng.integers(-1, n_classes, n),
            "story": rng.integers(-1, max(n // 2, 1), n),
        },
        history={"category": rng.integers(-1, n_classes, 12)},
        affinity={"mood": rng.standard_normal(n)},
        language=rng.integers(0, 3, n),
        languages=("eng", "fin", "tha"),
    )


def pool_of(scores: list[float], **fields: Any) -> Pool:
    """A pool with those scores; lists become arrays."""
    made = {name: _array(value) for name, value in fields.items()}
    return Pool(np.asarray(scores, np.float32), **made)


def _array(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _array(part) for name, part in value.items()}
    return np.asarray(value) if isinstance(value, list) else value


@st.composite
def pools(draw: st.DrawFn) -> Pool:
    """Small pools full of ties: equal scores, equal and zero vectors, unknown classes."""
    n = draw(st.integers(0, 14))
    seed = draw(st.integers(0, 2**32 - 1))
    rng = np.random.default_rng(seed)
    few = draw(st.integers(1, 9))
    return Pool(
        scores=rng.integers(-few, few + 1, n).astype(np.float32),
        vectors=rng.integers(-1, 2, (n, 3)).astype(np.float32),
        aspects={
            "category": rng.integers(-1, 3, n),
            "story": rng.integers(-1, draw(st.integers(1, 9)), n),
        },
        history={"category": rng.integers(-1, 4, draw(st.integers(0, 6)))},
        affinity={"mood": rng.integers(-2, 3, n) / 2},
        language=rng.integers(0, 3, n),
        languages=("eng", "fin", "tha"),
    )
