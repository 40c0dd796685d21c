"""Exact search for near clusters: a product of matrices a block; only what is near is kept."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

import numpy as np

from newsrec.cluster.clusters import Clusters, Floats, Rows
from newsrec.cluster.nearest import EPSILON, NO_ROWS, Nearest, choose

#: Rows and columns of a product: 16 MB of similarities, so that they are still in the cache when
#: they are looked through.
_ROWS, _COLUMNS = 512, 8192

#: Groups are searched together up to this many clusters; what crosses groups is masked.
_BUNDLE = 768

_APART = np.float32(-2)


class Blocks:
    """Compares clusters with all others of their group.

    A pair is kept when it beats the bound of either side, and the bounds rise while the search
    goes on; so few pairs are ever looked at.
    """

    recall = 1.0

    def __init__(self, clusters: Clusters, nearest: Nearest) -> None:
        self._clusters, self._nearest = clusters, nearest
        self._sims = np.empty(_ROWS * _COLUMNS, np.float32)
        self._masks = np.empty((2, _ROWS * _COLUMNS), np.bool_)
        self._found: list[tuple[Rows, Rows, Floats]] = []

    def find(self, rows: Rows) -> Rows:
        """Fill the lists of ``rows`` (living, rising) with the nearest of their groups; returns all
        whose lists changed."""
        if not len(rows):
            return rows
        return self._search(rows, np.full(len(self._clusters), np.inf, np.float32))

    def merged(self, into: Rows, away: Rows, shares: tuple[Floats, Floats]) -> Rows:
        """Bring the lists up to date after a merge; returns all whose lists changed.

        With a reducible linkage nobody comes nearer, and it is enough to follow who merged. Else
        the merged are compared with all others, and both sides keep what is near.
        """
        clusters, nearest = self._clusters, self._nearest
        if clusters.linkage.reducible:
            return nearest.follow(into, away, shares, clusters)
        gone = np.zeros(len(clusters), np.bool_)
        gone[into] = gone[away] = True
        nearest.drop(gone)
        limit = np.where(clusters.alive & ~gone, nearest.bound, np.float32(np.inf))
        return self._search(into, limit)

    def _search(self, rows: Rows, limit: Floats) -> Rows:
        """Compare ``rows`` with all others, which learn of what beats their ``limit (m,)``; returns
        all whose lists changed."""
        self._nearest.reset(rows)
        # When all are searched, every pair is computed once and shown to both sides.
        everyone = len(rows) == np.count_nonzero(self._clusters.alive)
        changed, waiting = [rows], 0
        for bundle, begin, end, mixed in self._bundles(rows):
            for start in range(0, len(bundle), _ROWS):
                block = bundle[start : start + _ROWS]
                left = int(block[0]) if everyone else begin
                for a in range(left, end, _COLUMNS):
                    columns = slice(a, min(a + _COLUMNS, end))
                    sims = self._product(block, columns, mixed)
                    if everyone and start == 0:
                        self._raise(columns, sims, 0)
                    waiting += self._keep(sims, block, columns, None if everyone else limit)
                # Taking in what was found raises the bounds, so that less is found from here on.
                if waiting > self._nearest.k * len(rows):
                    changed.append(self._take_in())
                    waiting = 0
        changed.append(self._take_in())
        return np.concatenate(changed)

    def nearest_of(self, rows: Rows) -> Rows:
        """The nearest neighbour of ``rows (r,)``, however many are equally near."""
        nearest = np.full(len(rows), -1, np.int64)
        clusters = self._clusters
        for row, slot in enumerate(rows.tolist()):
            span = slice(*clusters.span(slot))
            sims = clusters.points[span] @ clusters.points[slot]
            sims[~clusters.alive[span]] = _APART
            sims[slot - span.start] = _APART
            least = max(float(sims.max()) - 2 * EPSILON, float(self._nearest.floor))
            near = span.start + np.flatnonzero(sims >= least)
            nearest[row] = choose(np.zeros(len(near), np.int64), rows[[row]], near, clusters)[0]
        return nearest

    def _bundles(self, rows: Rows) -> Iterator[tuple[Rows, int, int, bool]]:
        """Rows of groups that are searched together, and the slots ``begin … end`` of the groups;
        whether these are several."""
        begin, end = self._clusters.begin[rows], self._clusters.end[rows]
        large = end - begin > _BUNDLE
        new = np.ones(len(rows), np.bool_)
        new[1:] = (np.diff(begin) > 0) & ((np.diff(begin // _BUNDLE) > 0) | large[1:] | large[:-1])
        edges = [*np.flatnonzero(new).tolist(), len(rows)]
        for a, b in pairwise(edges):
            mixed = bool(begin[a] < begin[b - 1])
            yield rows[a:b], int(begin[a]), int(end[b - 1]), mixed

    def _product(self, block: Rows, columns: slice, mixed: bool) -> Floats:
        """Similarities of ``block`` and the slots ``columns``, in a buffer that is used again; -2
        where there is no pair: across groups, with itself, with a slot that is dead."""
        clusters = self._clusters
        width = columns.stop - columns.start
        sims = self._sims[: len(block) * width].reshape(len(block), width)
        np.matmul(gather(clusters.points, block), clusters.points[columns].T, out=sims)
        if mixed:
            sims[clusters.group[block][:, None] != clusters.group[columns]] = _APART
        own = _inside(block, columns)
        sims[np.searchsorted(block, own), own - columns.start] = _APART
        # The points of the dead are zero: where similarities of 0 matter, they must go.
        if self._nearest.floor <= 0:
            sims[:, ~clusters.alive[columns]] = _APART
        return sims

    def _raise(self, slots: Rows | slice, sims: Floats, axis: int) -> Floats:
        """The bounds of ``slots`` after ``sims``, of which about ``k`` are kept for each."""
        bound = np.maximum(self._nearest.bound[slots], kth(sims, self._nearest.k, axis))
        self._nearest.bound[slots] = bound
        return bound

    def _keep(self, sims: Floats, block: Rows, columns: slice, limit: Floats | None) -> int:
        """Note the pairs that beat a bound; how many. Without a ``limit`` that is their own."""
        of_block = self._raise(block, sims, 1)
        if limit is None:
            of_columns = self._nearest.bound[columns].copy()
            of_columns[_inside(block, columns) - columns.start] = np.inf
        else:
            of_columns = limit[columns]
        near, other = (mask[: sims.size].reshape(sims.shape) for mask in self._masks)
        np.greater(sims, of_block[:, None], out=near)
        near |= np.greater(sims, of_columns, out=other)
        at = np.flatnonzero(near)
        row, column = np.divmod(at, sims.shape[1])
        sim = sims.reshape(-1)[at]
        own = sim > of_block[row]
        self._found.append((block[row[own]], columns.start + column[own], sim[own]))
        own = sim > of_columns[column]
        self._found.append((columns.start + column[own], block[row[own]], sim[own]))
        return len(at)

    def _take_in(self) -> Rows:
        if not self._found:
            return NO_ROWS
        owner, target, sim = (np.concatenate(part) for part in zip(*self._found, strict=True))
        self._found.clear()
        self._nearest.add(owner, target, sim)
        return owner


def kth(sims: Floats, k: int, axis: int) -> Floats:
    """A value that at least ``k`` along ``axis`` reach, and few more; -2 where there are not 2 k.

    The largest of each of many parts are found first: the k-th largest of these does it.
    """
    n = sims.shape[axis]
    if n < 2 * k:
        return np.full(sims.shape[1 - axis], _APART)
    parts = min(32, max(1, n // (4 * k)))
    whole = n // parts * parts
    if axis:
        largest = sims[:, :whole].reshape(len(sims), parts, -1).max(1)
    else:
        largest = sims[:whole].reshape(parts, -1, sims.shape[1]).max(0)
    at = largest.shape[axis] - k
    return np.asarray(np.partition(largest, at, axis).take(at, axis))


def _inside(slots: Rows, columns: slice) -> Rows:
    return np.asarray(slots[(slots >= columns.start) & (slots < columns.stop)])


def gather(points: Floats, slots: Rows) -> Floats:
    """The points of rising ``slots``; a view where they are neighbours."""
    if slots[-1] - slots[0] + 1 == len(slots):
        return points[slots[0] : slots[-1] + 1]
    return points[slots]
