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
from newsrec.cluster.clusters import Clusters, Doubles, Floats, Rows, in_steps, linkage_named
from newsrec.cluster.forest import Forest, in_order
from newsrec.cluster.graph import Graph
from newsrec.cluster.nearest import EPSILON, REMEMBERED, Nearest
from newsrec.cluster.plant import batches, merge_twins, plant
from newsrec.types.embeddings import unit_rows

#: Groups of this many articles or more get their neighbours from an index that may miss some.
EXACT_BELOW = 150_000

#: Dead slots are dropped when fewer than this part are alive.
_COMPACT = 0.75

Merges = tuple[Rows, Rows, Doubles]


class Search(Protocol):
    """Where neighbours come from: `blocks.Blocks`, exactly, or `graph.Graph`."""

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
    for rows in batches(groups, exact_below):
        leaves = plant(unit_rows(vectors[rows, :dim]), groups[rows], leaf_of[rows])
        if start is None:
            leaves, into, away = merge_twins(leaves)
            merges.append((into, away, np.ones(len(into))))
        clusters = Clusters(leaves.sums, leaves.counts, leaves.group, linkage_named(linkage))
        nearest = Nearest(len(clusters), threshold - 2 * EPSILON, REMEMBERED)
        search: Search = (Graph if len(rows) >= exact_below else Blocks)(clusters, nearest)
        for into, away, height in merge_rounds(clusters, nearest, search, threshold):
            merges.append((leaves.number[into], leaves.number[away], height))
        recall = min(recall, search.recall)
    into, away, height = (np.concatenate(part) for part in zip(*merges, strict=True))
    return in_order(into, away, height, leaf_of.astype(np.int32), recall)


def merge_rounds(
    clusters: Clusters, nearest: Nearest, search: Search, threshold: float
) -> list[Merges]:
    """Merge until no two clusters reach ``threshold``: ``(into, away, similarity)`` of each round.

    Every round merges all pairs that are each other's nearest neighbour and similar enough.
    """
    nearest_of = np.full(len(clusters), -1, np.int64)
    unsure = np.arange(len(clusters))
    search.find(unsure)
    rounds: list[Merges] = []
    while True:
        settled = _settle(unsure, nearest_of, clusters, nearest, search)
        if clusters.linkage.reducible:
            clusters.retire(settled[nearest_of[settled] < 0])
        into, away, height = _reciprocal(clusters, nearest_of, threshold)
        if not len(into):
            return rounds
        rounds.append((clusters.name[into], clusters.name[away], height))
        shares = clusters.merge(into, away)
        gone = _mask(np.concatenate([into, away]), len(clusters))
        bereft = np.flatnonzero((nearest_of >= 0) & gone[nearest_of])
        unsure = np.concatenate([search.merged(into, away, shares), bereft])
        if np.count_nonzero(clusters.alive) < _COMPACT * len(clusters):
            unsure, nearest_of = _compact(clusters, nearest, unsure, nearest_of)


def _compact(
    clusters: Clusters, nearest: Nearest, unsure: Rows, nearest_of: Rows
) -> tuple[Rows, Rows]:
    """Drop dead slots, and number ``unsure`` and ``nearest_of`` as before; who pointed to a dead
    slot is unsure already."""
    new = np.full(len(clusters), -1, np.int64)
    kept = clusters.compact()
    new[kept] = np.arange(len(kept))
    nearest.compact(kept)
    pointed = nearest_of[kept]
    return new[unsure][new[unsure] >= 0], np.where(pointed < 0, -1, new[pointed])


def _mask(slots: Rows, n: int) -> NDArray[np.bool_]:
    mask = np.zeros(n, np.bool_)
    mask[slots] = True
    return mask


def _settle(
    unsure: Rows, nearest_of: Rows, clusters: Clusters, nearest: Nearest, search: Search
) -> Rows:
    """Write the nearest neighbour of all ``unsure`` into ``nearest_of (m,)``; returns the living.

    Who cannot tell is searched again; who still cannot has more equal neighbours than a list holds.
    """
    unsure = np.flatnonzero(clusters.alive & _mask(unsure, len(clusters)))
    nearest_of[unsure], certain = nearest.settle(unsure, clusters)
    if certain.all():
        return unsure
    changed = _mask(search.find(unsure[~certain]), len(clusters))
    changed[unsure] = True
    unsure = np.flatnonzero(changed)
    nearest_of[unsure], certain = nearest.settle(unsure, clusters)
    again = unsure[~certain]
    nearest_of[again] = search.nearest_of(again)
    return unsure


def _reciprocal(clusters: Clusters, nearest_of: Rows, threshold: float) -> Merges:
    """Pairs of slots ``into < away`` that are each other's nearest and similar enough."""
    slots = np.flatnonzero(clusters.alive)
    other = nearest_of[slots]
    mutual = (other > slots) & (nearest_of[other] == slots)
    into, away = slots[mutual], other[mutual]
    height = clusters.similarity(into, away)
    near = height >= in_steps(threshold)
    return into[near], away[near], np.minimum(height[near], 1.0)
