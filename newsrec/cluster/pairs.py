"""Many clusters against many, a tile at a time; only what is near is kept."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from threading import Lock

import numpy as np
from numpy.typing import NDArray

from newsrec.cluster.clusters import Floats, Rows
from newsrec.cluster.hands import Hands
from newsrec.cluster.nearest import NO_ROWS, Nearest

#: Rows and columns of a tile at most: 16 MB of similarities, so that they are still in the cache
#: when they are looked through.
ROWS, COLUMNS = 512, 8192

#: Pairs that wait to be put on the lists, at most.
_ENOUGH = 1 << 21

#: Less similar than any two vectors.
APART = np.float32(-2)


@dataclass(frozen=True, slots=True)
class View:
    """Clusters in the order in which they are compared: ``slots (p,)``, their ``points (p, dim)``,
    ``group (p,)``, and which of them are ``alive (p,)``."""

    slots: NDArray[np.int32]
    points: Floats
    group: Rows
    alive: NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Tile:
    """Places in a view that are compared: ``rows (r,)``, rising, with ``columns``.

    ``mixed``: they are of several groups; ``head``: perhaps nobody has looked at these columns yet.
    """

    rows: Rows
    columns: slice
    mixed: bool = False
    head: bool = False


class Pairs:
    """Compares the clusters of tiles.

    A pair is kept when it beats the bound of either side, and the bounds rise while the search
    goes on; so few pairs are ever looked at. Tiles are compared side by side; lists and bounds
    change in one thread at a time.
    """

    def __init__(self, nearest: Nearest, hands: Hands) -> None:
        self._nearest, self._hands = nearest, hands
        # Memory that is used again, for each thread.
        self._buffers = [
            (np.empty(ROWS * COLUMNS, np.float32), np.empty((2, ROWS * COLUMNS), np.bool_))
            for _ in range(hands.n)
        ]
        self._found: list[tuple[NDArray[np.int32], NDArray[np.int32], Floats]] = []
        self._waiting = 0
        self._lock = Lock()

    def compare(self, view: View, tiles: Iterable[Tile], limit: Floats | None, enough: int) -> Rows:
        """Put what the ``tiles`` find on the lists; returns all whose lists changed.

        Columns learn of what beats their ``limit (slots,)``; without one, of what beats their own
        bound, and then each pair may be in one tile only. Whenever more than ``enough`` pairs wait
        they are put on the lists, which raises the bounds, so that less is found from there on.
        """
        changed = np.zeros(len(self._nearest.bound), np.bool_)
        enough = min(enough, _ENOUGH)

        def one(tile: Tile) -> None:
            buffer, masks = self._buffers.pop()
            try:
                self._one(view, tile, limit, buffer, masks)
            finally:
                self._buffers.append((buffer, masks))
            with self._lock:
                if self._waiting > enough:
                    changed[self._take_in()] = True

        self._hands.each(one, ((tile,) for tile in tiles))
        changed[self._take_in()] = True
        return np.flatnonzero(changed)

    def _one(
        self, view: View, tile: Tile, limit: Floats | None, buffer: Floats, masks: NDArray[np.bool_]
    ) -> None:
        """Note the pairs of a tile that beat a bound."""
        rows, columns = view.slots[tile.rows], view.slots[tile.columns]
        sims = self._product(view, tile, buffer)
        if tile.head and np.median(self._nearest.bound[columns]) <= self._nearest.floor:
            self._raise(columns, sims, 0)
        of_rows = self._raise(rows, sims, 1)
        of_columns = (self._nearest.bound if limit is None else limit)[columns]
        if limit is None:
            of_columns[_inside(tile.rows, tile.columns) - tile.columns.start] = np.inf
        near, other = (mask[: sims.size].reshape(sims.shape) for mask in masks)
        np.greater(sims, of_rows[:, None], out=near)
        near |= np.greater(sims, of_columns, out=other)
        at = np.flatnonzero(near)
        row, column = np.divmod(at, sims.shape[1])
        sim = sims.reshape(-1)[at]
        own, theirs = sim > of_rows[row], sim > of_columns[column]
        found = [
            (rows[row[own]], columns[column[own]], sim[own]),
            (columns[column[theirs]], rows[row[theirs]], sim[theirs]),
        ]
        with self._lock:
            self._found += found
            self._waiting += len(at)

    def _product(self, view: View, tile: Tile, buffer: Floats) -> Floats:
        """Similarities of a tile, in the ``buffer``; -2 where there is no pair: across groups, with
        itself, with a slot that is dead."""
        rows, columns = tile.rows, tile.columns
        width = columns.stop - columns.start
        sims = buffer[: len(rows) * width].reshape(len(rows), width)
        np.matmul(gather(view.points, rows), view.points[columns].T, out=sims)
        if tile.mixed:
            sims[view.group[rows][:, None] != view.group[columns]] = APART
        own = _inside(rows, columns)
        sims[np.searchsorted(rows, own), own - columns.start] = APART
        # The points of the dead are zero: where similarities of 0 matter, they must go.
        if self._nearest.floor <= 0:
            sims[:, ~view.alive[columns]] = APART
        return sims

    def _raise(self, slots: NDArray[np.int32], sims: Floats, axis: int) -> Floats:
        """The bounds of ``slots`` after ``sims``, of which about ``k`` are kept for each."""
        least = kth(sims, self._nearest.k, axis)
        with self._lock:
            bound = np.maximum(self._nearest.bound[slots], least)
            self._nearest.bound[slots] = bound
        return bound

    def _take_in(self) -> NDArray[np.integer]:
        if not self._found:
            return NO_ROWS
        owner, target, sim = (np.concatenate(part) for part in zip(*self._found, strict=True))
        self._found.clear()
        self._waiting = 0
        self._nearest.add(owner, target, sim)
        return owner


def kth(sims: Floats, k: int, axis: int) -> Floats:
    """A value that at least ``k`` along ``axis`` reach, and few more; -2 where there are not 2 k.

    The largest of each of many parts are found first: the k-th largest of these does it.
    """
    n = sims.shape[axis]
    if n < 2 * k:
        return np.full(sims.shape[1 - axis], APART)
    parts = min(32, max(1, n // (4 * k)))
    whole = n // parts * parts
    if axis:
        largest = sims[:, :whole].reshape(len(sims), parts, -1).max(1)
    else:
        largest = sims[:whole].reshape(parts, -1, sims.shape[1]).max(0)
    at = largest.shape[axis] - k
    return np.asarray(np.partition(largest, at, axis).take(at, axis))


def gather(points: Floats, rows: Rows) -> Floats:
    """The points of rising ``rows``; a view where they are neighbours."""
    if rows[-1] - rows[0] + 1 == len(rows):
        return points[rows[0] : rows[-1] + 1]
    return points[rows]


def _inside(rows: Rows, columns: slice) -> Rows:
    return np.asarray(rows[(rows >= columns.start) & (rows < columns.stop)])
