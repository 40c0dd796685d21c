"""Cosines of candidates with all: of few candidates a table, of many one product at a time."""

from __future__ import annotations

import numpy as np

from newsrec.errors import DataError
from newsrec.rerank.greedy import Floats, Ints
from newsrec.types import Pool

# Numbers in one product: few enough that the BLAS leaves it to one thread. Waking a second for a
# tenth of a millisecond of work costs milliseconds while another process has its core.
_PIECE = 1 << 17
# The same for the multiplications of a table, and the candidates up to which there is one.
_PRODUCTS = 1 << 18
_FEW = 128


class Cosines:
    """Vectors of a pool, ready for cosines; zero vectors have cosine 0 with everything.

    Vectors are scaled after the product: a scaled copy costs more than 20 products. Raises
    `DataError` for a pool without vectors and for vectors that are not finite.
    """

    def __init__(self, pool: Pool) -> None:
        if pool.vectors is None:
            raise DataError("the candidates have no vectors; a ranker with an encoder has them")
        self._vectors = np.ascontiguousarray(pool.vectors, np.float32)
        lengths = np.sqrt(np.einsum("ij,ij->i", self._vectors, self._vectors))
        bad = np.flatnonzero(~np.isfinite(lengths))
        if len(bad):
            raise DataError(
                f"Pool.vectors: NaN or infinite for candidate {bad[0]} "
                f"({len(bad)} of {len(lengths)}), expected finite numbers"
            )
        self._scale = np.divide(1, lengths, out=np.zeros_like(lengths), where=lengths > 0)
        self._table = self._every() if len(self) <= _FEW else None
        self._known: dict[int, Floats] = {}

    def __len__(self) -> int:
        return len(self._scale)

    def rows(self, chosen: Ints) -> Floats:
        """``(m, n)``: each of the candidates ``chosen (m,)`` with every candidate."""
        if self._table is not None:
            return self._table[chosen]
        for one in chosen.tolist():
            if one not in self._known:
                self._known[one] = self.of(one)
        return np.stack([self._known[one] for one in chosen.tolist()])

    def _every(self) -> Floats:
        """``(n, n)``."""
        n, dim = self._vectors.shape
        unit = self._vectors * self._scale[:, None]
        found = np.empty((n, n), np.float32)
        rows = max(1, _PRODUCTS // max(1, n * dim))
        for first in range(0, n, rows):
            np.matmul(unit[first : first + rows], unit.T, out=found[first : first + rows])
        return found.astype(np.float64)

    def of(self, one: int) -> Floats:
        """``(n,)`` float64 in [-1, 1], but for rounding: candidate ``one`` with every candidate."""
        vector = self._vectors[one] * self._scale[one]
        products = np.empty(len(self), np.float32)
        rows = max(1, _PIECE // max(1, len(vector)))
        for first in range(0, len(self), rows):
            piece = slice(first, first + rows)
            np.matmul(self._vectors[piece], vector, out=products[piece])
        return np.asarray(products * self._scale, np.float64)
