"""Determinantal point process: the fast greedy MAP of Chen, Zhang and Zhou 2018."""

from __future__ import annotations

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
        room = min(self.k, len(pool))
        return greedy(pool, _Volume(Cosines(pool), room), self.relevance_weight, self.k)


class _Volume:
    """Logarithm of what of a candidate's length is left outside the span of those chosen.

    ``_rows (k, n)``: row t of the Cholesky factor of S, for all candidates at once.
    """

    def __init__(self, cosines: Cosines, k: int) -> None:
        self._cosines = cosines
        self._rows = np.zeros((k, len(cosines)))
        self._residual = np.ones(len(cosines))
        self._chosen = 0

    def bonus(self) -> Floats:
        return np.asarray(np.log(np.maximum(self._residual, FLOOR)))

    def add(self, chosen: int) -> None:
        if self._residual[chosen] <= FLOOR:
            return  # it spans nothing new
        before = self._rows[: self._chosen]
        similar = (1 + self._cosines.of(chosen)) / 2
        row = (similar - before[:, chosen] @ before) / np.sqrt(self._residual[chosen])
        self._rows[self._chosen] = row
        self._residual -= row**2
        self._chosen += 1
