"""Maximal marginal relevance (Carbonell and Goldstein 1998)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from newsrec.rerank.cosines import Cosines
from newsrec.rerank.greedy import HEAD, Floats, Ints, check_count, check_weight, greedy
from newsrec.types import Pool


@dataclass(frozen=True, slots=True)
class Mmr:
    """Next comes the largest ``w · relevance - (1 - w) · max cosine`` with those chosen.

    Carbonell and Goldstein 1998, with relevance scaled to [0, 1]; the first has no one to be
    like. Raises `DataError` for candidates without vectors.
    """

    relevance_weight: float = 0.7
    k: int = HEAD

    def __post_init__(self) -> None:
        check_weight(self.relevance_weight)
        check_count("k", self.k)

    def __call__(self, pool: Pool) -> Ints:
        """Permutation of ``range(n)``, best first."""
        return np.asarray(self.orders(pool, (self.relevance_weight,))[0])

    def orders(self, pool: Pool, weights: Sequence[float]) -> Ints:
        """The same at each of ``weights (m,)``, ``(m, n)``."""
        return greedy(pool, _Unlike(Cosines(pool)), weights, self.k)


class _Unlike:
    """Minus the cosine with the nearest of those chosen; 0 while there is none."""

    def __init__(self, cosines: Cosines) -> None:
        self._cosines = cosines
        self._nearest: Floats | None = None

    def bonus(self) -> Floats:
        return np.zeros(len(self._cosines)) if self._nearest is None else -self._nearest

    def add(self, chosen: Ints) -> None:
        new = self._cosines.rows(chosen)
        self._nearest = new if self._nearest is None else np.maximum(self._nearest, new)
