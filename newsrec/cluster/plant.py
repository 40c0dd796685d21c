"""What there is before the first merge, in an order that only the vectors decide."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from newsrec.cluster.clusters import Doubles, Floats, Rows

#: Groups are clustered together up to this many articles: what a batch needs is 12 bytes a value.
_BATCH = 65_536


@dataclass(frozen=True, slots=True, eq=False)
class Leaves:
    """``m`` leaves sorted by group, then by their earliest vector.

    ``sums (m, dim) float64`` of unit vectors, ``counts (m,)``, ``group (m,)``; ``number (m,)``:
    what the caller calls each.
    """

    sums: Doubles
    counts: Doubles
    group: Rows
    number: Rows


def plant(unit: Floats, group: Rows, number: Rows) -> Leaves:
    """Leaves from the rows of ``unit (n, dim)``; rows of one ``number (n,)`` are one leaf."""
    ranked = by_vector(unit)
    order = ranked[np.argsort(number[ranked], kind="stable")]  # by leaf, inside by vector
    _, starts, counts = np.unique(number[order], return_index=True, return_counts=True)
    rank = np.empty(len(unit), np.int64)
    rank[ranked] = np.arange(len(unit))
    first = order[starts]
    sort = np.lexsort((rank[first], group[first]))
    first = first[sort]
    if len(first) == len(unit):
        sums = unit[first].astype(np.float64)
    else:
        sums = np.add.reduceat(unit[order], starts, axis=0, dtype=np.float64)[sort]
    return Leaves(sums, counts[sort].astype(np.float64), group[first], number[first])


def merge_twins(leaves: Leaves) -> tuple[Leaves, Rows, Rows]:
    """Equal vectors as one leaf: ``(leaves, into (t,), away (t,))`` by their numbers."""
    same = np.zeros(len(leaves.sums), np.bool_)
    same[1:] = leaves.group[1:] == leaves.group[:-1]
    same[1:] &= (leaves.sums[1:] == leaves.sums[:-1]).all(1)
    if not same.any():
        return leaves, np.zeros(0, np.int64), np.zeros(0, np.int64)
    first = np.flatnonzero(~same)
    twin = np.cumsum(~same) - 1
    alone = Leaves(
        np.add.reduceat(leaves.sums, first, axis=0),
        np.add.reduceat(leaves.counts, first),
        leaves.group[first],
        leaves.number[first],
    )
    return alone, alone.number[twin[same]], leaves.number[same]


def by_vector(unit: Floats) -> Rows:
    """Rows of ``unit (n, dim)`` sorted by their bytes: an order that no permutation changes."""
    plain = np.ascontiguousarray(unit + np.float32(0))  # -0 is 0
    return np.argsort(plain.view(np.dtype((np.void, plain.strides[0]))).reshape(-1), kind="stable")


def batches(group: Rows, alone: int) -> Iterator[Rows]:
    """Articles of whole groups, some `_BATCH` at a time; a group of ``alone`` or more by itself."""
    order = np.argsort(group, kind="stable")
    _, starts, size = np.unique(group[order], return_index=True, return_counts=True)
    start = filled = 0
    for first, n in zip(starts.tolist(), size.tolist(), strict=True):
        if filled and (n >= alone or filled + n > _BATCH):
            yield order[start:first]
            start, filled = first, 0
        filled += n
        if n >= alone:
            filled = _BATCH
    if len(order):
        yield order[start:]
