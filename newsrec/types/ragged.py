"""Lists of different lengths as two flat arrays."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from newsrec.errors import DataError

Array = NDArray[Any]


@dataclass(frozen=True, slots=True, eq=False)
class Ragged:
    """``n`` lists stored end to end.

    ``values (nnz,)`` holds the items, ``offsets (n+1,) int64`` where each list starts; list ``i``
    is ``values[offsets[i]:offsets[i+1]]``. Raises `DataError` when the two do not fit together.
    """

    values: Array
    offsets: NDArray[np.int64]

    def __post_init__(self) -> None:
        offsets = self.offsets
        if offsets.ndim != 1 or len(offsets) == 0 or offsets.dtype != np.int64:
            raise DataError(
                f"Ragged.offsets: {offsets.dtype} {offsets.shape}, expected int64 (n+1,)"
            )
        if offsets[0] != 0 or offsets[-1] != len(self.values) or np.any(np.diff(offsets) < 0):
            raise DataError(
                f"Ragged.offsets: must rise from 0 to len(values) = {len(self.values)}, "
                f"found {offsets[0]} … {offsets[-1]}"
            )

    @classmethod
    def from_lists(cls, lists: Iterable[Sequence[Any]], dtype: Any = np.int32) -> Ragged:
        """Pack Python lists; ``dtype`` is that of ``values``."""
        rows = list(lists)
        lengths = np.fromiter((len(r) for r in rows), np.int64, len(rows))
        flat = [item for row in rows for item in row]
        return cls.from_lengths(np.asarray(flat, dtype=dtype), lengths)

    @classmethod
    def from_lengths(cls, values: Array, lengths: Array) -> Ragged:
        """``lengths (n,)`` of consecutive lists in ``values``."""
        offsets = np.zeros(len(lengths) + 1, np.int64)
        np.cumsum(lengths, out=offsets[1:])
        return cls(values, offsets)

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def __getitem__(self, i: int) -> Array:
        """List ``i`` as a view, shape ``(lengths[i],)``."""
        n = len(self)
        if not -n <= i < n:
            raise IndexError(f"list {i} of {n}")
        i %= n
        return self.values[self.offsets[i] : self.offsets[i + 1]]

    def __iter__(self) -> Iterator[Array]:
        return (self[i] for i in range(len(self)))

    @property
    def lengths(self) -> NDArray[np.int64]:
        """``(n,) int64``."""
        return np.diff(self.offsets)

    def owner(self) -> NDArray[np.int64]:
        """``(nnz,)``: which list each value belongs to."""
        return np.repeat(np.arange(len(self)), self.lengths)

    def like(self, values: Array) -> Ragged:
        """Same shape, other values ``(nnz,)``."""
        return Ragged(values, self.offsets)

    def positions(self, rows: Array) -> NDArray[np.int64]:
        """Flat positions in ``values`` of the lists ``rows (k,)``, in that order."""
        lengths = self.lengths[rows]
        starts = np.zeros(len(lengths) + 1, np.int64)
        np.cumsum(lengths, out=starts[1:])
        shift = np.repeat(self.offsets[:-1][rows] - starts[:-1], lengths)
        return np.arange(starts[-1], dtype=np.int64) + shift

    def alike(self, size: int) -> list[NDArray[np.int64]]:
        """Numbers of the lists that are not empty, in groups of one length.

        A group has at most ``size`` values in all, or one list.
        """
        lengths = self.lengths
        order = np.argsort(lengths, kind="stable")
        order = order[lengths[order] > 0]
        kinds, firsts = np.unique(lengths[order], return_index=True)
        groups: list[NDArray[np.int64]] = []
        for length, same in zip(kinds.tolist(), np.split(order, firsts[1:]), strict=False):
            step = max(1, size // length)
            groups += [same[i : i + step] for i in range(0, len(same), step)]
        return groups

    def square(self, rows: Array) -> NDArray[np.int64]:
        """``(k, length)``: flat positions of lists ``rows (k >= 1,)`` of one length."""
        length = self.offsets[rows[0] + 1] - self.offsets[rows[0]]
        return np.asarray(self.offsets[rows][:, None] + np.arange(length))

    def take(self, rows: Array) -> Ragged:
        """The lists ``rows (k,)``, in that order; copies."""
        rows = np.asarray(rows, np.int64)
        return Ragged.from_lengths(self.values[self.positions(rows)], self.lengths[rows])

    def through(self, inner: Ragged) -> Ragged:
        """Every number replaced by the list of ``inner`` that it names: one list of lists, flat."""
        found = inner.take(self.values)
        return Ragged(found.values, found.offsets[self.offsets])

    def tail(self, limit: int) -> Ragged:
        """The last ``limit`` items of every list."""
        keep = np.minimum(self.lengths, limit)
        starts = np.zeros(len(keep) + 1, np.int64)
        np.cumsum(keep, out=starts[1:])
        shift = np.repeat(self.offsets[1:] - keep - starts[:-1], keep)
        where = np.arange(starts[-1], dtype=np.int64) + shift
        return Ragged(self.values[where], starts)

    def head(self, limit: int) -> Ragged:
        """The first ``limit`` items of every list."""
        keep = np.minimum(self.lengths, limit)
        starts = np.zeros(len(keep) + 1, np.int64)
        np.cumsum(keep, out=starts[1:])
        shift = np.repeat(self.offsets[:-1] - starts[:-1], keep)
        where = np.arange(starts[-1], dtype=np.int64) + shift
        return Ragged(self.values[where], starts)
