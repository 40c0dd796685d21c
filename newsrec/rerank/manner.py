"""Signed aspect weights on standardised scores: MANNeR (Iana, Glavaš and Paulheim 2023)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import isfinite
from numbers import Real

import numpy as np
from numpy.typing import NDArray

from newsrec.errors import ConfigError
from newsrec.rerank.greedy import Floats, Ints, by_worth, check_weight, score_order, tame
from newsrec.rerank.mix import Mix
from newsrec.types import Pool


@dataclass(frozen=True, slots=True)
class Manner:
    """``w · z(scores) + (1 - w) · Σ weight · z(affinity)`` over aspects; ``w`` = 1/2 orders as
    MANNeR's final score does.

    ``weights``: aspect to a number; positive brings more of what the history has, negative less.
    The affinity is ``pool.affinity[aspect]``, else the share of the candidate's class among the
    clicks (0 where unknown). z is the standard score inside the pool, 0 where all are the same.
    Raises `DataError` for an aspect that the candidates do not have.
    """

    relevance_weight: float = 0.7
    weights: Mapping[str, float] = field(default_factory=lambda: {"category": -1.0})

    def __post_init__(self) -> None:
        check_weight(self.relevance_weight)
        for aspect, weight in self.weights.items():
            if not _is_finite(weight):
                raise ConfigError(f"weights[{aspect!r}]: {weight!r}, expected a finite number")

    def __call__(self, pool: Pool) -> Ints:
        """Permutation of ``range(n)``, best first."""
        return np.asarray(self.orders(pool, (self.relevance_weight,))[0])

    def orders(self, pool: Pool, weights: Sequence[float]) -> Ints:
        """The same at each of ``weights (m,)``, ``(m, n)``."""
        w = np.asarray(weights, np.float64)[:, None]
        worth = w * standard(pool.scores)
        for aspect, weight in self.weights.items():
            worth += (1 - w) * weight * standard(affinity(pool, aspect))
        return by_worth(worth, score_order(pool))


def _is_finite(weight: object) -> bool:
    return not isinstance(weight, bool) and isinstance(weight, Real) and isfinite(weight)


def affinity(pool: Pool, aspect: str) -> Floats:
    """How near each candidate is to the history in ``aspect``, ``(n,)``."""
    if aspect in pool.affinity:
        return np.asarray(pool.affinity[aspect], np.float64)
    mix = Mix.in_pool(pool, aspect)
    return mix.at(mix.history)


def standard(values: NDArray[np.floating]) -> Floats:
    """Standard scores ``(n,)``: mean 0, standard deviation 1; 0 where all are the same."""
    x = np.asarray(values, np.float64)
    if not len(x) or x.min() == x.max():
        return np.zeros(len(x))
    x = tame(x)
    return np.asarray((x - x.mean()) / x.std())
