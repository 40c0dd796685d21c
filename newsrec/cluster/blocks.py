"""Exact search for near clusters: one product of matrices a block, nothing kept but what is near."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from newsrec.cluster.clusters import Clusters, Floats, Rows
from newsrec.cluster.nearest import EPSILON, Nearest, choose

#: Rows and columns of a product: 16 MB of similarities, so that they are still in the cache when
#: they are looked through.
_ROWS, _COLUMNS = 512, 8192

#: Groups are searched together up to this many clusters; what crosses groups is masked.
_BUNDLE = 768


class Blocks:
    """Compares clusters with all others of their group.

    A pair is kept when it beats the bound of either side, and the bounds rise while the search
    goes on; so every pair is computed once and few are ever looked at.
    """

    recall = 1.0

    def __init__(self, clusters: Clusters, nearest: Nearest) -> None:
        self._clusters, self._nearest = clusters, nearest
        self._sims = np.empty(_ROWS * _COLUMNS, np.float32)
        self._masks = np.empty((2, _ROWS * _COLUMNS), np.bool_)
        self._found: list[tuple[Rows, Rows, Floats]] = []

    def find(self, rows: Rows, others: Rows, tell_others: bool) -> Rows:
        """Fill the lists of ``rows``, looking among themselves and ``others`` (both rising).

        With ``tell_others`` the others learn of ``rows``, too. Returns all whose lists changed.
        """
        self._nearest.reset(rows)
        changed, waiting = [rows], 0
        for bundle, rest, mixed in self._bundles(rows, others):
            for start in range(0, len(bundle), _ROWS):
                block = bundle[start : start + _ROWS]
                later = bundle[start + len(block) :]
                waiting += self._square(block, mixed)
                for columns in _cut(later, _COLUMNS):
                    waiting += self._compare(block, columns, mixed, start == 0, True)
                for columns in _cut(rest, _COLUMNS):
                    waiting += self._compare(block, columns, mixed, False, tell_others)
                # Taking in what was found raises the bounds, so that less is found from here on.
                if waiting > self._nearest.k * len(rows):
                    changed.append(self._take_in())
                    waiting = 0
        changed.append(self._take_in())
        return np.unique(np.concatenate(changed))

    def nearest_of(self, rows: Rows, others: Rows) -> Rows:
        """The nearest neighbour of ``rows (r,)``, however many are equally near."""
        nearest = np.full(len(rows), -1, np.int64)
        for row, slot in enumerate(rows.tolist()):
            own = others[self._clusters.group[others] == self._clusters.group[slot]]
            own = own[own != slot]
            sims = self._clusters.points[own] @ self._clusters.points[slot]
            near = own[sims >= max(sims.max(initial=-2) - 2 * EPSILON, self._nearest.floor)]
            nearest[row] = choose(np.zeros(len(near), np.int64), rows[[row]], near, self._clusters)[0]
        return nearest

    def _bundles(self, rows: Rows, others: Rows) -> Iterator[tuple[Rows, Rows, bool]]:
        """Whole groups that are searched together: their rows, their others, if there are several."""
        group = self._clusters.group
        numbers, first = np.unique(group[rows], return_index=True)
        size = np.diff(np.append(first, len(rows)))
        rest_start = np.searchsorted(group[others], numbers)
        rest_end = np.searchsorted(group[others], numbers, side="right")
        size = size + rest_end - rest_start
        before = np.cumsum(size) - size
        large = size > _BUNDLE
        new = np.ones(len(numbers), np.bool_)
        new[1:] = (np.diff(before // _BUNDLE) > 0) | large[1:] | large[:-1]
        edges = np.append(np.flatnonzero(new), len(numbers))
        first = np.append(first, len(rows))
        for a, b in zip(edges[:-1].tolist(), edges[1:].tolist(), strict=True):
            rest = [others[rest_start[g] : rest_end[g]] for g in range(a, b)]
            yield rows[first[a] : first[b]], np.concatenate(rest), b - a > 1

    def _product(self, block: Rows, columns: Rows, mixed: bool) -> Floats:
        """Similarities ``(len(block), len(columns))`` in a buffer that is used again; -2 across
        groups."""
        points, group = self._clusters.points, self._clusters.group
        sims = self._sims[: len(block) * len(columns)].reshape(len(block), len(columns))
        np.matmul(_gather(points, block), _gather(points, columns).T, out=sims)
        if mixed:
            sims[group[block][:, None] != group[columns]] = -2
        return sims

    def _square(self, block: Rows, mixed: bool) -> int:
        """A block with itself: every pair stands there twice, once for each side."""
        sims = self._product(block, block, mixed)
        np.fill_diagonal(sims, -2)
        return self._keep(sims, block, block, self._raised(block, sims, 1), None)

    def _compare(self, block: Rows, columns: Rows, mixed: bool, first: bool, tell: bool) -> int:
        """A block with other clusters; ``first``: the columns have met nobody yet."""
        sims = self._product(block, columns, mixed)
        of_columns = None
        if tell:
            of_columns = self._raised(columns, sims, 0) if first else self._nearest.bound[columns]
        return self._keep(sims, block, columns, self._raised(block, sims, 1), of_columns)

    def _raised(self, slots: Rows, sims: Floats, axis: int) -> Floats:
        """The bounds of ``slots`` after ``sims``, of which ``k`` at most are kept for each."""
        bound = np.maximum(self._nearest.bound[slots], kth(sims, self._nearest.k, axis))
        self._nearest.bound[slots] = bound
        return bound

    def _keep(
        self, sims: Floats, block: Rows, columns: Rows, of_block: Floats, of_columns: Floats | None
    ) -> int:
        """Note the pairs that beat a bound; how many."""
        near, other = (mask[: sims.size].reshape(sims.shape) for mask in self._masks)
        np.greater(sims, of_block[:, None], out=near)
        if of_columns is not None:
            near |= np.greater(sims, of_columns, out=other)
        at = np.flatnonzero(near)
        if not len(at):
            return 0
        row, column = np.divmod(at, len(columns))
        sim = sims.reshape(-1)[at]
        own = sim > of_block[row]
        self._found.append((block[row[own]], columns[column[own]], sim[own]))
        if of_columns is not None:
            own = sim > of_columns[column]
            self._found.append((columns[column[own]], block[row[own]], sim[own]))
        return len(at)

    def _take_in(self) -> Rows:
        if not self._found:
            return np.zeros(0, np.int64)
        owner, target, sim = (np.concatenate(part) for part in zip(*self._found, strict=True))
        self._found.clear()
        return self._nearest.add(owner, target, sim)


def kth(sims: Floats, k: int, axis: int) -> Floats:
    """A value that at least ``k`` along ``axis`` reach, and few more; -2 where there are not 2 k.

    The largest of each of many parts are found first: the k-th largest of these does it.
    """
    n = sims.shape[axis]
    if n < 2 * k:
        return np.full(sims.shape[1 - axis], -2, np.float32)
    parts = min(32, max(1, n // (4 * k)))
    whole = n // parts * parts
    if axis:
        largest = sims[:, :whole].reshape(len(sims), parts, -1).max(1)
    else:
        largest = sims[:whole].reshape(parts, -1, sims.shape[1]).max(0)
    at = largest.shape[axis] - k
    return np.asarray(np.partition(largest, at, axis).take(at, axis))


def _gather(points: Floats, slots: Rows) -> Floats:
    """The points of rising ``slots``; a view where they are neighbours."""
    if len(slots) and slots[-1] - slots[0] + 1 == len(slots):
        return points[slots[0] : slots[-1] + 1]
    return points[slots]


def _cut(slots: Rows, size: int) -> Iterator[Rows]:
    for start in range(0, len(slots), size):
        yield slots[start : start + size]
