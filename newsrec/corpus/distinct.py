"""What repeats is stored once: readers, and the history of a reader from one visit to the next."""

from __future__ import annotations

from itertools import count

import numpy as np
from numpy.typing import NDArray

from newsrec.types import Ragged

_CHUNK = 1 << 16


def distinct_bytes(
    strings: NDArray[np.bytes_],
) -> tuple[NDArray[np.int32], NDArray[np.bytes_]]:
    """``(of (n,), distinct (k,))``: which distinct string each is, in order of appearance."""
    # Integers sort several times faster than byte strings.
    keys = strings.view("<u8") if strings.dtype.itemsize == 8 else strings
    first, of = _by_appearance(keys)
    return of, strings[first]


def distinct_lists(lists: Ragged) -> tuple[Ragged, NDArray[np.int32]]:
    """``(distinct, of (n,))``: each different list once, in order of appearance.

    Lists are grouped by a 64-bit hash and every one is compared with the first of its group; on a
    collision all are hashed again with another seed.
    """
    for seed in count():
        first, of = _by_appearance(_hashes(lists, seed))
        if _same_lists(lists, first[of]):
            return lists.take(first), of
    raise AssertionError("unreachable")


def _by_appearance(keys: NDArray[np.generic]) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
    """``first (k,)``: where each distinct key occurs first, rising; ``of (n,)`` indexes it."""
    _, first, inverse = np.unique(keys, return_index=True, return_inverse=True)
    order = np.argsort(first, kind="stable")
    rank = np.empty(len(order), np.int32)
    rank[order] = np.arange(len(order), dtype=np.int32)
    return first[order], rank[inverse.reshape(-1)]


def _hashes(lists: Ragged, seed: int) -> NDArray[np.uint64]:
    """A hash of each list's items and their places, ``(n,) uint64``: a sum of mixed integers."""
    found = np.zeros(len(lists), np.uint64)
    for start in range(0, len(lists), _CHUNK):
        stop = min(start + _CHUNK, len(lists))
        offsets = lists.offsets[start : stop + 1]
        items = lists.values[offsets[0] : offsets[-1]].astype(np.uint64)
        items += np.uint64(1 + seed)
        place = np.arange(len(items)) - np.repeat(offsets[:-1] - offsets[0], np.diff(offsets))
        running = np.zeros(len(items) + 1, np.uint64)
        np.cumsum(_mixed(items | (place.astype(np.uint64) << np.uint64(40))), out=running[1:])
        at = offsets - offsets[0]
        found[start:stop] = running[at[1:]] - running[at[:-1]]
    return found


def _mixed(x: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """splitmix64's finaliser (Steele et al. 2014), a bijection on 64 bits."""
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return x ^ (x >> np.uint64(31))


def _same_lists(lists: Ragged, other: NDArray[np.int64]) -> bool:
    """Whether each list equals the list ``other (n,)``."""
    if np.any(lists.lengths != lists.lengths[other]):
        return False
    for start in range(0, len(lists), _CHUNK):
        rows = other[start : start + _CHUNK]
        offsets = lists.offsets[start : start + len(rows) + 1]
        mine = lists.values[offsets[0] : offsets[-1]]
        if not np.array_equal(mine, lists.values[lists.positions(rows)]):
            return False
    return True
