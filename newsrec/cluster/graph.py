"""Search for near clusters in an HNSW graph (Malkov and Yashunin 2016): for shelves too large to
compare all with all. Some neighbours are missed; how many is measured and told."""

from __future__ import annotations

from typing import Any

import numpy as np

from newsrec.cluster.blocks import Blocks
from newsrec.cluster.clusters import Clusters, Floats, Rows
from newsrec.cluster.nearest import NO_ROWS, NONE, Nearest

#: Below this many living clusters the search is exact again.
_EXACT_BELOW = 40_000

#: Links of a node, and how many candidates are looked at when it is put in and when one searches.
_LINKS, _BUILD, _LOOK = 24, 60, 96

#: Rows searched at a time, and rows on which the recall is measured.
_CHUNK, _SAMPLE = 32_768, 200


class Graph:
    """Follows what every cluster knows, and asks an index when that is not enough.

    A neighbour that merged stays listed as what it became; a merged cluster knows what its parts
    knew, and no other can be nearer than both parts' bounds together allow. Whoever lists a cluster
    is listed by it, or is beyond its bound, so that nobody waits for a neighbour that does not know
    of it. The index holds the
    clusters as they were when it was built, and is built again when half of them are gone. All
    clusters must be of one group. ``recall``: the worst share of the true ``k`` nearest that an
    index found, over a sample of rows. When few clusters are left, the search is exact.
    """

    def __init__(self, clusters: Clusters, nearest: Nearest) -> None:
        self._clusters, self._nearest = clusters, nearest
        self._exact = Blocks(clusters, nearest)
        self._index: Any = None
        self._names: Rows = NO_ROWS
        self._few = len(clusters) < _EXACT_BELOW
        self.recall = 1.0

    def find(self, rows: Rows) -> Rows:
        """As `Blocks.find`, from the index; exactly where that sees only what has merged."""
        if self._few or not len(rows):
            return self._exact.find(rows)
        alive = np.count_nonzero(self._clusters.alive)
        if self._index is None or alive < len(self._names) / 2:
            self._build()
        slot_of = self._slot_of()
        for start in range(0, len(rows), _CHUNK):
            self._look(rows[start : start + _CHUNK], slot_of)
        _, certain = self._nearest.settle(rows, self._clusters)
        self._exact.find(rows[~certain])
        return np.concatenate([rows, self._tell(rows)])

    def merged(self, into: Rows, away: Rows, shares: tuple[Floats, Floats]) -> Rows:
        """Bring the lists up to date after a merge; returns all whose lists changed."""
        clusters, nearest = self._clusters, self._nearest
        if self._few:
            return self._exact.merged(into, away, shares)
        alive = np.flatnonzero(clusters.alive)
        if len(alive) < _EXACT_BELOW:
            # From here on everything is exact, so nothing that was missed may stay.
            self._few, self._index = True, None
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

    def _build(self) -> None:
        """An index of the living clusters, and its recall."""
        import faiss

        points, k = self._clusters.points, self._nearest.k
        alive = np.flatnonzero(self._clusters.alive)
        self._names = self._clusters.name[alive]
        self._index = faiss.IndexHNSWFlat(points.shape[1], _LINKS, faiss.METRIC_INNER_PRODUCT)
        self._index.hnsw.efConstruction, self._index.hnsw.efSearch = _BUILD, _LOOK
        for start in range(0, len(alive), _CHUNK):
            self._index.add(points[alive[start : start + _CHUNK]])
        sample = alive[:: max(1, len(alive) // _SAMPLE)]
        found = self._index.search(points[sample], k + 1)[1]
        hits = 0
        for row, ours in zip(sample.tolist(), found, strict=True):
            sims = points[alive] @ points[row]
            hits += len(np.intersect1d(ours, np.argpartition(-sims, k)[: k + 1]))
        self.recall = min(self.recall, hits / ((k + 1) * len(sample)))

    def _slot_of(self) -> Rows:
        """Where the clusters of the index are by now, ``(len(index),)``; -1 for finished ones."""
        clusters = self._clusters
        slot = np.full(len(clusters.became), -1, np.int64)
        alive = np.flatnonzero(clusters.alive)
        slot[clusters.name[alive]] = alive
        return np.asarray(slot[clusters.became_of(self._names)])

    def _look(self, rows: Rows, slot_of: Rows) -> None:
        """Fill the lists of ``rows`` from the index."""
        nearest = self._nearest
        nearest.reset(rows)
        said, found = self._index.search(self._clusters.points[rows], 2 * nearest.k)
        nearest.bound[rows] = np.maximum(nearest.floor, said[:, -1])
        target = np.where(found >= 0, slot_of[found], -1)
        owner = np.broadcast_to(rows[:, None], target.shape)
        nearest.enter(owner[target >= 0], target[target >= 0], self._clusters)

    def _tell(self, rows: Rows) -> Rows:
        """Those listed by ``rows`` list them in turn where they are near enough; who does."""
        nearest = self._nearest
        row, place = np.nonzero(nearest.sim[rows] > NONE)
        row = rows[row]
        owner, sim = nearest.target[row, place].astype(np.int64), nearest.sim[row, place]
        known = (nearest.target[owner] == row[:, None]) & (nearest.sim[owner] > NONE)
        new = ~known.any(1) & (sim > nearest.bound[owner])
        nearest.add(owner[new], row[new], sim[new])
        return np.asarray(owner[new])
