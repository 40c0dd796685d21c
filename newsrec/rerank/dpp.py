"""Determinantal point process: the fast greedy MAP of Chen, Zhang and Zhou 2018."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from newsrec.rerank.cosines import Cosines
from newsrec.rerank.greedy import HEAD, Floats, Ints, check_count, check_weight, greedy
from newsrec.types import Pool

#: Residual variance below which a candidate says nothing new. Near 0 the logarithm would be made
#: of rounding errors of float32 products, and they would order what are ties.
FLOOR = 1e-3


@dataclass(frozen=True, slots=True)
class Dpp:
    """Next comes the largest ``w · relevance + (1 - w) · Δ log det S`` of those chosen.

    That is greedy MAP for the kernel exp(α r_i) S_ij exp(α r_j) with α = w / (2 (1 - w)) (Chen et
    al. 2018, algorithm 1), multiplied by 1 - w so that ``w`` = 1 is finite;
    S = (1 + cosine) / 2, relevance scaled to [0, 1]. A candidate costs O(dim + list so far).
    Raises `DataError` for candidates without vectors.
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
        volume = _Volume(Cosines(pool), len(weights), min(self.k, len(pool)))
        return greedy(pool, volume, weights, self.k)


class _Volume:
    """Logarithm of what of a candidate's length is left outside the span of those chosen.

    ``_rows (m, k, n)``: for each list row t of the Cholesky factor of S, for all candidates.
    """

    def __init__(self, cosines: Cosines, m: int, k: int) -> None:
        self._cosines, self._lists = cosines, np.arange(m)
        self._rows = np.zeros((m, k, len(cosines)))
        self._residual = np.ones((m, len(cosines)))
        self._chosen = 0

    def bonus(self) -> Floats:
        return np.asarray(np.log(np.maximum(self._residual, FLOOR)))

    def add(self, chosen: Ints) -> None:
        before = self._rows[:, : self._chosen]
        similar = (1 + self._cosines.rows(chosen)) / 2
        shared = before[self._lists, :, chosen][:, None] @ before
        left = self._residual[self._lists, chosen][:, None]
        row = (similar - shared[:, 0]) / np.sqrt(np.maximum(left, FLOOR))
        row = np.where(left > FLOOR, row, 0.0)  # else it spans nothing new
        self._rows[:, self._chosen] = row
        self._residual -= row**2
        self._chosen += 1
