"""One side of a fusion: a matrix of vectors as late fusion compares them.

Raw rows, rows of length 1, rows without their language's mean: each is ``(v - mean) * scale``, so
nothing is copied. A memmap of any float type stays one, and a product with prepared rows is a
product with stored rows, corrected afterwards.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from newsrec.errors import DataError
from newsrec.rank.blocks import Gather, block_rows, cut, spread
from newsrec.types import Ragged

Floats = NDArray[np.float32]
Rows = NDArray[np.integer]


@dataclass(frozen=True, slots=True, eq=False)
class Side:
    """Row ``i`` stands for ``(vectors[i] - mean[group[i]]) * scale[i]``.

    ``vectors (n, dim)`` of any float type, often a memmap; ``present (n,) bool``: rows without a
    vector stand for zeros; ``mean (n_groups, dim)`` or None; ``group (n,)`` or None (every row is
    in group 0); ``scale (n,)``, 0 where absent, or None (1 where present).
    """

    vectors: NDArray[np.floating]
    present: NDArray[np.bool_]
    mean: Floats | None = None
    group: Rows | None = None
    scale: Floats | None = None

    def __post_init__(self) -> None:
        n = len(self.vectors)
        for name in ("present", "group", "scale"):
            found = getattr(self, name)
            if found is not None and found.shape != (n,):
                raise DataError(f"Side.{name}: {found.shape}, expected ({n},), one per vector")

    def __len__(self) -> int:
        return len(self.vectors)

    @property
    def dim(self) -> int:
        return int(self.vectors.shape[1])

    def at(self, rows: Rows) -> Floats:
        """The prepared ``rows (k,)``: ``(k, dim) float32``."""
        x = np.asarray(self.vectors[rows], np.float32)
        if self.mean is not None:
            x = x - self.mean[self._groups(rows)]
        factor = self.present[rows] if self.scale is None else self.scale[rows]
        return np.asarray(x * factor[:, None], np.float32)

    def means(self, lists: Ragged, threads: int | None = None) -> Floats:
        """Mean prepared row of every list of rows: ``(len(lists), dim)``; zeros for an empty one.

        Lists of one length are added up together, in calls long enough for threads.
        """
        rows = lists.values
        lengths = np.repeat(lists.lengths, lists.lengths).astype(np.float32)
        factor = self.present[rows] if self.scale is None else self.scale[rows]
        weights = np.asarray(factor / lengths, np.float32)
        out = np.zeros((len(lists), self.dim), np.float32)

        def add(place: Rows, gather: Gather, chosen: Rows) -> None:
            block = gather(rows[place].ravel()).reshape(*place.shape, -1)
            out[chosen] = np.einsum("ml,mld->md", weights[place], block)

        self._by_length(lists, add, threads)
        if self.mean is not None:
            n_groups = len(self.mean)
            cell = lists.owner() * n_groups + self._groups(rows)
            shares = np.bincount(cell, weights, len(lists) * n_groups).reshape(-1, n_groups)
            # einsum, not a BLAS product: a row must not depend on how many rows there are.
            out -= np.einsum("ng,gd->nd", shares.astype(np.float32), self.mean)
        return out

    def dots(self, lists: Ragged, readers: Floats, of: Rows, threads: int | None = None) -> Floats:
        """Every prepared row of list ``i`` times ``readers[of[i]]``, ``(nnz,)``.

        ``readers (m, dim)``, ``of (len(lists),)``. A sum does not depend on its neighbours, to the
        last bit.
        """
        rows, out = lists.values, np.empty(len(lists.values), np.float32)
        parts, owner = cut(lists, block_rows(self.dim))
        of = of[owner]

        def multiply(place: Rows, gather: Gather, chosen: Rows) -> None:
            block = gather(rows[place].ravel()).reshape(*place.shape, -1)
            out[place] = np.einsum("mld,md->ml", block, readers[of[chosen]])

        self._by_length(parts, multiply, threads)
        return self._corrected(out, rows, readers, np.repeat(of, parts.lengths))

    def _by_length(
        self,
        lists: Ragged,
        work: Callable[[Rows, Gather, Rows], None],
        threads: int | None,
    ) -> None:
        """``work(place, gather, chosen)`` for lists ``chosen (m,)`` of one length, on every core.

        ``place (m, length)``: where their values lie in ``lists.values``.
        """
        vectors, size = np.asarray(self.vectors), block_rows(self.dim)
        groups, longest = lists.alike(size), max(size, int(lists.lengths.max(initial=0)))

        def run(start: int, end: int) -> None:
            gather = Gather(vectors, longest)
            for chosen in groups[start:end]:
                work(lists.square(chosen), gather, chosen)

        spread(run, len(groups), 1, threads)

    def dot(self, reader: Floats, rows: Rows | None = None) -> Floats:
        """Prepared ``rows (k,)`` (default: all) times ``reader (dim,)``: ``(k,) float32``."""
        every = np.arange(len(self)) if rows is None else rows
        vectors, size = np.asarray(self.vectors), block_rows(self.dim)
        out = np.empty(len(every), np.float32)

        def run(start: int, end: int) -> None:
            gather = Gather(vectors, size if rows is not None else 0)
            for a in range(start, end, size):
                b = min(a + size, end)
                block = gather(every[a:b]) if rows is not None else vectors[a:b]
                np.einsum("ij,j->i", np.asarray(block, np.float32), reader, out=out[a:b])

        spread(run, len(every), size)
        return self._corrected(out, every, reader[None], np.zeros(len(every), np.int64))

    def prefix(self, dim: int) -> Side:
        """The first ``dim`` of every row, not scaled again."""
        mean = None if self.mean is None else self.mean[:, :dim]
        return replace(self, vectors=self.vectors[:, :dim], mean=mean)

    def _groups(self, rows: Rows) -> NDArray[np.int64]:
        if self.group is None:
            return np.zeros(len(rows), np.int64)
        return self.group[rows].astype(np.int64)

    def _corrected(self, dots: Floats, rows: Rows, readers: Floats, of: Rows) -> Floats:
        if self.mean is not None:
            shift = np.einsum("nd,gd->ng", readers, self.mean)
            dots -= shift[of, self._groups(rows)]
        dots *= self.present[rows] if self.scale is None else self.scale[rows]
        return dots
