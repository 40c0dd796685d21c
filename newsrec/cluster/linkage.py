"""Reciprocal agglomerative clustering: merge all pairs that are each other's nearest, again and
again (paper 000 §2, §4 and appendix E; Sumengen et al. 2021).

For unit vectors no matrix of distances is needed: the similarity of two clusters is a product of
their sums. Every cluster knows its nearest neighbours and a bound on all others; a merged cluster
is compared with all others once, and what that finds goes into its own list and into theirs. A
cluster is searched again only when its list can no longer tell which neighbour is the nearest.
Memory is linear in the number of articles.

**The order of the input decides nothing.** Articles are sorted by their vectors; equal vectors are
one cluster before anything else merges; and of neighbours that are equally similar, the nearest is
the one that holds the earliest vector in that order.
"""

from __future__ import annotations

from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from newsrec.cluster.blocks import Blocks
from newsrec.cluster.cells import Cells
from newsrec.cluster.clusters import Clusters, Doubles, Floats, Rows, in_steps, linkage_named
from newsrec.cluster.forest import Forest, in_order
from newsrec.cluster.hands import hands
from newsrec.cluster.nearest import EPSILON, REMEMBERED, Nearest
from newsrec.cluster.plant import batches, merge_twins, plant
from newsrec.types.embeddings import unit_rows

#: Groups of this many articles or more get their neighbours from an index that may miss some.
EXACT_BELOW = 150_000

#: Dead slots are dropped when fewer than this part are alive.
_COMPACT = 0.75

#: Who cannot tell its nearest neighbour waits while more than this part of all merge a round.
_PATIENCE = 0.01

Merges = tuple[Rows, Rows, Doubles]


class Search(Protocol):
    """Where neighbours come from: `blocks.Blocks`, exactly, or `cells.Cells`."""

    recall: float

    def find(self, rows: Rows) -> Rows:
        """Fill the lists of ``rows`` (living, rising), whatever they know so far; returns all whose
        lists changed."""
        ...

    def merged(self, into: Rows, away: Rows, shares: tuple[Floats, Floats]) -> Rows:
        """Bring the lists up to date after a merge; returns all whose lists changed.

        ``shares (k,)`` each: what the similarities of both parts count in that of the whole."""
        ...

    def nearest_of(self, rows: Rows) -> Rows:
        """The nearest of ``rows (r,)``, where more are equally near than a list can hold."""
        ...


def merge_nearest(
    vectors: NDArray[np.floating],
    threshold: float,
    linkage: str = "average",
    *,
    dim: int | None = None,
    group: NDArray[np.integer] | None = None,
    start: NDArray[np.integer] | None = None,
    exact_below: int = EXACT_BELOW,
) -> Forest:
    """Cluster the rows of ``vectors (n, d)``, none zero, down to a similarity of ``threshold``.

    The first ``dim`` dimensions count (default: all), scaled to length 1. ``group (n,)``: articles
    of different groups stay apart (default: one group). ``start (n,)``: clusters to begin with,
    numbered densely, inside groups (default: every article alone); they are the leaves of the
    forest. ``linkage`` is a name of `LINKAGES`. Groups of ``exact_below`` articles or more are
    searched with an index, whose measured recall is in the forest; all others exactly.
    """
    n = len(vectors)
    groups = np.zeros(n, np.int64) if group is None else np.asarray(group, np.int64)
    leaf_of = np.arange(n) if start is None else np.asarray(start, np.int64)
    merges: list[Merges] = [(leaf_of[:0], leaf_of[:0], np.zeros(0))]
    recall = 1.0
    with hands() as both:
        for rows in batches(groups, exact_below):
            leaves = plant(unit_rows(vectors[rows, :dim]), groups[rows], leaf_of[rows])
            if start is None:
                leaves, into, away = merge_twins(leaves)
                merges.append((into, away, np.ones(len(into))))
            number = leaves.number
            clusters = Clusters(leaves.sums, leaves.counts, leaves.group, linkage_named(linkage))
            del leaves  # the clusters have its sums, and drop them when they are compacted
            nearest = Nearest(len(clusters), threshold - 2 * EPSILON, REMEMBERED, both)
            search: Search = (Cells if len(rows) >= exact_below else Blocks)(
                clusters, nearest, both
            )
            for into, away, height in merge_rounds(clusters, nearest, search, threshold):
                merges.append((number[into], number[away], height))
            recall = min(recall, search.recall)
    into, away, height = (np.concatenate(part) for part in zip(*merges, strict=True))
    return in_order(into, away, height, leaf_of.astype(np.int32), recall)


def merge_rounds(
    clusters: Clusters, nearest: Nearest, search: Search, threshold: float
) -> list[Merges]:
    """Merge until no two clusters reach ``threshold``: ``(into, away, similarity)`` of each round.

    Every round merges all pairs that are each other's nearest neighbour and similar enough. Who
    cannot tell its nearest neighbour waits: while others merge, there are ever fewer clusters to
    search. Only when few merge are all who wait searched again. With a linkage that is not
    reducible nobody may wait, as a merge of others can change who is the nearest.
    """
    patience = _PATIENCE if clusters.linkage.reducible else np.inf
    nearest_of = np.full(len(clusters), -1, np.int64)
    waits = np.zeros(len(clusters), np.bool_)
    unsure = np.arange(len(clusters))
    search.find(unsure)
    rounds: list[Merges] = []
    while True:
        _settle(unsure, nearest_of, waits, clusters, nearest)
        into, away, height = _reciprocal(clusters, nearest_of, threshold)
        if waits.any() and len(into) <= patience * np.count_nonzero(clusters.alive):
            _search(nearest_of, waits, clusters, nearest, search)
            into, away, height = _reciprocal(clusters, nearest_of, threshold)
        if not len(into):
            return rounds
        rounds.append((clusters.name[into], clusters.name[away], height))
        shares = clusters.merge(into, away)
        gone = _mask(np.concatenate([into, away]), len(clusters))
        bereft = np.flatnonzero((nearest_of >= 0) & gone[nearest_of])
        unsure = np.concatenate([search.merged(into, away, shares), bereft])
        if np.count_nonzero(clusters.alive) < _COMPACT * len(clusters):
            unsure, nearest_of, waits = _compact(clusters, nearest, unsure, nearest_of, waits)


def _compact(
    clusters: Clusters,
    nearest: Nearest,
    unsure: Rows,
    nearest_of: Rows,
    waits: NDArray[np.bool_],
) -> tuple[Rows, Rows, NDArray[np.bool_]]:
    """Drop dead slots, and number ``unsure`` and ``nearest_of`` as before; who pointed to a dead
    slot is unsure already."""
    new = np.full(len(clusters), -1, np.int64)
    kept = clusters.compact()
    new[kept] = np.arange(len(kept))
    nearest.compact(kept)
    pointed = nearest_of[kept]
    return (
        new[unsure][new[unsure] >= 0],
        np.where(pointed < 0, -1, new[pointed]),
        waits[kept],
    )


def _mask(slots: Rows, n: int) -> NDArray[np.bool_]:
    mask = np.zeros(n, np.bool_)
    mask[slots] = True
    return mask


def _settle(
    unsure: Rows, nearest_of: Rows, waits: NDArray[np.bool_], clusters: Clusters, nearest: Nearest
) -> Rows:
    """Write the nearest neighbour of all ``unsure`` into ``nearest_of (m,)``, -1 for those who
    cannot tell; they are in ``waits (m,)`` from here on. Who has none is finished when the linkage
    is reducible. Returns those who cannot tell."""
    unsure = np.flatnonzero(clusters.alive & _mask(unsure, len(clusters)))
    found, certain = nearest.settle(unsure, clusters)
    nearest_of[unsure] = np.where(certain, found, -1)
    waits[unsure] = ~certain
    if clusters.linkage.reducible:
        clusters.retire(unsure[certain & (found < 0)])
    return unsure[~certain]


def _search(
    nearest_of: Rows,
    waits: NDArray[np.bool_],
    clusters: Clusters,
    nearest: Nearest,
    search: Search,
) -> None:
    """Search all who wait; who still cannot tell has more equal neighbours than a list holds."""
    rows = np.flatnonzero(waits & clusters.alive)
    changed = np.concatenate([search.find(rows), rows])
    again = _settle(changed, nearest_of, waits, clusters, nearest)
    nearest_of[again] = search.nearest_of(again)
    waits[:] = False
    if clusters.linkage.reducible:
        clusters.retire(again[nearest_of[again] < 0])


def _reciprocal(clusters: Clusters, nearest_of: Rows, threshold: float) -> Merges:
    """Pairs of slots ``into < away`` that are each other's nearest and similar enough."""
    slots = np.flatnonzero(clusters.alive)
    other = nearest_of[slots]
    mutual = (other > slots) & (nearest_of[other] == slots)
    into, away = slots[mutual], other[mutual]
    height = clusters.similarity(into, away)
    near = height >= in_steps(threshold)
    return into[near], away[near], np.minimum(height[near], 1.0)
