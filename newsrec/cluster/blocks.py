"""Exact search for near clusters: all are compared with all others of their group."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

import numpy as np

from newsrec.cluster import pairs
from newsrec.cluster.clusters import Clusters, Floats, Rows
from newsrec.cluster.hands import Hands
from newsrec.cluster.nearest import EPSILON, Nearest, choose

#: Groups are searched together up to this many clusters; what crosses groups is masked.
_BUNDLE = 768


class Blocks:
    """Compares clusters with all others of their group."""

    recall = 1.0

    def __init__(self, clusters: Clusters, nearest: Nearest, hands: Hands) -> None:
        self._clusters, self._nearest = clusters, nearest
        self.pairs = pairs.Pairs(nearest, hands)

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

    def nearest_of(self, rows: Rows) -> Rows:
        """The nearest neighbour of ``rows (r,)``, however many are equally near."""
        nearest = np.full(len(rows), -1, np.int64)
        clusters = self._clusters
        for row, slot in enumerate(rows.tolist()):
            span = slice(*clusters.span(slot))
            sims = clusters.points[span] @ clusters.points[slot]
            sims[~clusters.alive[span]] = pairs.APART
            sims[slot - span.start] = pairs.APART
            least = max(float(sims.max()) - 2 * EPSILON, float(self._nearest.floor))
            near = span.start + np.flatnonzero(sims >= least)
            nearest[row] = choose(np.zeros(len(near), np.int64), rows[[row]], near, clusters)[0]
        return nearest

    def _search(self, rows: Rows, limit: Floats) -> Rows:
        """Compare ``rows`` with all others, which learn of what beats their ``limit (m,)``; returns
        all whose lists changed."""
        clusters, nearest = self._clusters, self._nearest
        nearest.reset(rows)
        # When all are searched, every pair is computed once and shown to both sides.
        everyone = len(rows) == np.count_nonzero(clusters.alive)
        view = pairs.View(
            np.arange(len(clusters), dtype=np.int32),
            clusters.points,
            clusters.group,
            clusters.alive,
        )
        changed = self.pairs.compare(
            view, self._tiles(rows, everyone), None if everyone else limit, nearest.k * len(rows)
        )
        return np.concatenate([rows, changed])

    def _tiles(self, rows: Rows, everyone: bool) -> Iterator[pairs.Tile]:
        for bundle, begin, end, mixed in self._bundles(rows):
            for start in range(0, len(bundle), pairs.ROWS):
                block = bundle[start : start + pairs.ROWS]
                left = int(block[0]) if everyone else begin
                for a in range(left, end, pairs.COLUMNS):
                    columns = slice(a, min(a + pairs.COLUMNS, end))
                    yield pairs.Tile(block, columns, mixed, head=everyone and start == 0)

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
