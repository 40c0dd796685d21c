"""Search for near clusters in the nearest cells of a k-means partition (an inverted file: Jégou,
Douze and Schmid 2011): for shelves too large to compare all with all. Some neighbours are missed;
how many is measured and told."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from newsrec.cluster import pairs
from newsrec.cluster.blocks import Blocks
from newsrec.cluster.clusters import Clusters, Floats, Rows
from newsrec.cluster.hands import Hands
from newsrec.cluster.nearest import NO_ROWS, NONE, Nearest
from newsrec.types.embeddings import unit_rows

#: Below this many living clusters the search is exact again.
_EXACT_BELOW = 40_000

#: Clusters in a cell, on average, and cells that a cluster is compared with.
_CELL, _NEAR = 1024, 40

#: Rounds of k-means, on so many clusters a cell.
_ROUNDS, _EACH = 4, 64

#: Rows on which the recall is measured, and clusters looked through at a time.
_SAMPLE, _CHUNK = 200, 32_768


class Cells:
    """Follows what every cluster knows, and compares with near cells when that is not enough.

    A neighbour that merged stays listed as what it became; a merged cluster knows what its parts
    knew, and no other can be nearer than both parts' bounds together allow. Whoever lists a cluster
    is listed by it, or is beyond its bound, so that nobody waits for a neighbour that does not know
    of it. The cells are made anew when half of the clusters are gone. All clusters must be of one
    group. ``recall``: the worst share of the true ``k`` nearest (of those that could merge) that
    lie in near cells, over a sample of rows. When few clusters are left, the search is exact.
    """

    def __init__(self, clusters: Clusters, nearest: Nearest, hands: Hands) -> None:
        self._clusters, self._nearest, self._hands = clusters, nearest, hands
        self._exact = Blocks(clusters, nearest, hands)
        self._few = len(clusters) < _EXACT_BELOW
        self._cell_of_name = np.full(len(clusters), -1, np.int32)
        self._centres: Floats = np.zeros((0, clusters.points.shape[1]), np.float32)
        self._near = np.zeros((0, 0), np.bool_)
        self._made_for = 0
        self.recall = 1.0

    def find(self, rows: Rows) -> Rows:
        """As `Blocks.find`, from the near cells."""
        if self._few or not len(rows):
            return self._exact.find(rows)
        clusters, nearest = self._clusters, self._nearest
        alive = np.flatnonzero(clusters.alive)
        if len(alive) <= self._made_for / 2 or not self._made_for:
            self._make(alive)
        else:
            self._place(rows)
        cell = self._cell_of_name[clusters.name[alive]]
        order = np.argsort(cell, kind="stable")
        slots, cell = alive[order].astype(np.int32), cell[order]
        view = pairs.View(
            slots, clusters.points[slots], clusters.group[slots], clusters.alive[slots]
        )
        searched = np.zeros(len(clusters), np.bool_)
        searched[rows] = True
        nearest.reset(rows)
        everyone = len(rows) == len(alive)
        limit = None if everyone else np.full(len(clusters), np.inf, np.float32)
        tiles = self._tiles(np.flatnonzero(searched[slots]), cell, everyone)
        changed = self._exact.pairs.compare(view, tiles, limit, nearest.k * len(rows))
        return np.concatenate([rows, changed, NO_ROWS if everyone else self._tell(rows)])

    def merged(self, into: Rows, away: Rows, shares: tuple[Floats, Floats]) -> Rows:
        """Bring the lists up to date after a merge; returns all whose lists changed."""
        clusters, nearest = self._clusters, self._nearest
        if self._few:
            return self._exact.merged(into, away, shares)
        alive = np.flatnonzero(clusters.alive)
        if len(alive) < _EXACT_BELOW:
            # From here on everything is exact, so nothing that was missed may stay.
            self._few = True
            return self._exact.find(alive)
        changed = [nearest.follow(into, away, shares, clusters), self._tell(into)]
        if not clusters.linkage.reducible:
            # A centroid may draw nearer to clusters that never knew its parts.
            _, certain = nearest.settle(into, clusters)
            changed.append(self.find(into[~certain]))
        return np.concatenate(changed)

    def nearest_of(self, rows: Rows) -> Rows:
        """Exact, as the few rows that ask for it are."""
        return self._exact.nearest_of(rows)

    def _make(self, alive: Rows) -> None:
        """Cells for the living clusters, which of them are near, and the recall."""
        points = self._clusters.points
        n = max(1, len(alive) // _CELL)
        sample = points[alive[:: max(1, len(alive) // (n * _EACH))]]
        centres = unit_rows(sample[:: max(1, len(sample) // n)][:n])
        for _ in range(_ROUNDS):
            cell = self._closest(sample, centres)
            order = np.argsort(cell, kind="stable")
            kept, first = np.unique(cell[order], return_index=True)
            centres[kept] = unit_rows(np.add.reduceat(sample[order], first, axis=0))
        self._centres, self._made_for = centres, len(alive)
        sims = centres @ centres.T
        near = np.argpartition(-sims, min(_NEAR, n) - 1, axis=1)[:, :_NEAR]
        self._near = np.zeros((n, n), np.bool_)
        np.put_along_axis(self._near, near, True, axis=1)
        self._near |= self._near.T
        self._place(alive)
        self.recall = min(self.recall, self._recall(alive))

    def _place(self, rows: Rows) -> None:
        """Put the clusters in slots ``rows`` into their cells."""
        clusters = self._clusters
        for start in range(0, len(rows), _CHUNK):
            some = rows[start : start + _CHUNK]
            cell = self._closest(clusters.points[some], self._centres)
            self._cell_of_name[clusters.name[some]] = cell

    def _closest(self, points: Floats, centres: Floats) -> NDArray[np.int32]:
        """The number of the centre that is closest to each of ``points (p, dim)``."""
        closest = np.empty(len(points), np.int32)
        step = max(1, (1 << 22) // len(centres))

        def some(piece: slice) -> None:
            closest[piece] = (points[piece] @ centres.T).argmax(1)

        self._hands.slices(some, len(points), step)
        return closest

    def _tiles(self, rows: Rows, cell: NDArray[np.int32], everyone: bool) -> Iterator[pairs.Tile]:
        """Those at the places ``rows``, rising, against the near cells; ``cell (p,)`` of all
        places, rising. When ``everyone`` is searched, each pair once."""
        edges = np.searchsorted(cell, np.arange(len(self._centres) + 1))
        ends = np.searchsorted(rows, edges)
        for c in np.flatnonzero(np.diff(ends)).tolist():
            own = rows[ends[c] : ends[c + 1]]
            near = np.flatnonzero(self._near[c])
            for start in range(0, len(own), pairs.ROWS):
                block = own[start : start + pairs.ROWS]
                for begin, end in _runs(near[near >= c] if everyone else near, edges):
                    left = max(begin, int(block[0])) if everyone else begin
                    for a in range(left, end, pairs.COLUMNS):
                        columns = slice(a, min(a + pairs.COLUMNS, end))
                        yield pairs.Tile(block, columns, head=everyone)

    def _recall(self, alive: Rows) -> float:
        """The share of the nearest neighbours of some of ``alive`` that are in near cells."""
        clusters, k = self._clusters, self._nearest.k
        rows = alive[:: max(1, len(alive) // _SAMPLE)]
        best = np.full((len(rows), k + 1), NONE, np.float32)
        seen = np.zeros((len(rows), k + 1), np.bool_)
        cell = self._cell_of_name[clusters.name]
        for start in range(0, len(alive), _CHUNK):
            some = alive[start : start + _CHUNK]
            sims = clusters.points[rows] @ clusters.points[some].T
            both = np.concatenate([best, sims], axis=1)
            near = np.concatenate([seen, self._near[cell[rows]][:, cell[some]]], axis=1)
            top = np.argpartition(-both, k, axis=1)[:, : k + 1]
            best, seen = np.take_along_axis(both, top, 1), np.take_along_axis(near, top, 1)
        counts = best > self._nearest.floor  # among them the row itself, which is near
        return float((seen & counts).sum() / counts.sum()) if counts.any() else 1.0

    def _tell(self, rows: Rows) -> Rows:
        """Those listed by ``rows`` list them in turn where they are near enough; who does."""
        nearest = self._nearest
        told = [NO_ROWS]
        for start in range(0, len(rows), _CHUNK):
            some = rows[start : start + _CHUNK]
            row, place = np.nonzero(nearest.sim[some] > NONE)
            row = some[row]
            owner, sim = nearest.target[row, place].astype(np.int64), nearest.sim[row, place]
            known = (nearest.target[owner] == row[:, None]) & (nearest.sim[owner] > NONE)
            new = ~known.any(1) & (sim > nearest.bound[owner])
            nearest.add(owner[new], row[new], sim[new])
            told.append(owner[new])
        return np.concatenate(told)


def _runs(cells: Rows, edges: Rows) -> Iterator[tuple[int, int]]:
    """Where neighbouring ``cells``, rising, begin and end."""
    breaks = np.flatnonzero(np.diff(cells, prepend=-2) > 1)
    for first, last in zip(breaks, np.append(breaks[1:], len(cells)) - 1, strict=True):
        yield int(edges[cells[first]]), int(edges[cells[last] + 1])
