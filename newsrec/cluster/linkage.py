"""Reciprocal agglomerative clustering: merge all pairs that are each other's nearest, again and
again (paper 000 §2, §4 and appendix E; Sumengen et al. 2021).

For unit vectors no matrix of distances is needed: the similarity of two clusters is a product of
their sums. Every cluster knows its nearest neighbours and a bound on all others; a merged cluster is
compared with all others once, and what that finds goes into its own list and into theirs. A cluster
is searched again only when its list can no longer tell which neighbour is the nearest. Memory is
linear in the number of articles.

**The order of the input decides nothing.** Articles are sorted by their vectors; equal vectors are
one cluster before anything else merges; and of neighbours that are equally similar, the nearest is
the one that holds the earliest vector in that order.
"""

from __future__ import annotations

from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from newsrec.cluster.blocks import Blocks
from newsrec.cluster.clusters import Clusters, Doubles, Rows, in_steps, linkage_named
from newsrec.cluster.forest import Forest, in_order
from newsrec.cluster.nearest import EPSILON, REMEMBERED, Nearest
from newsrec.cluster.plant import batches, merge_twins, plant
from newsrec.types.clusters import dense
from newsrec.types.embeddings import unit_rows

#: Groups of this many articles or more get their neighbours from an index that may miss some.
EXACT_BELOW = 150_000

Merges = tuple[Rows, Rows, Doubles]


class Search(Protocol):
    """Where neighbours come from: `blocks.Blocks`, exactly, or `graph.Graph`."""

    def find(self, rows: Rows, others: Rows, tell_others: bool) -> Rows:
        """Fill the lists of ``rows``; returns all whose lists changed."""
        ...

    def nearest_of(self, rows: Rows, others: Rows) -> Rows:
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
    """Cluster the rows of ``vectors (n, d)``, none of them zero, down to a similarity ``threshold``.

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
        search = _search(clusters, nearest, exact_below)
        for into, away, height in merge_rounds(clusters, nearest, search, threshold):
            merges.append((leaves.number[into], leaves.number[away], height))
        recall = min(recall, search.recall)
    into, away, height = (np.concatenate(part) for part in zip(*merges, strict=True))
    return in_order(into, away, height, leaf_of.astype(np.int32), recall)


def _search(clusters: Clusters, nearest: Nearest, exact_below: int) -> Blocks:
    return Blocks(clusters, nearest)


def merge_rounds(
    clusters: Clusters, nearest: Nearest, search: Search, threshold: float
) -> list[Merges]:
    """Merge until no two clusters reach ``threshold``: ``(into, away, similarity)`` of each round.

    Every round merges all pairs that are each other's nearest neighbour and similar enough.
    """
    everyone = np.arange(len(clusters))
    nearest_of = np.full(len(clusters), -1, np.int64)
    unsure = search.find(everyone, everyone[:0], False)
    rounds: list[Merges] = []
    while True:
        nearest_of[unsure] = _decide(unsure, clusters, nearest, search)
        if clusters.linkage.reducible:
            clusters.alive[unsure[nearest_of[unsure] < 0]] = False
        into, away, height = _reciprocal(clusters, nearest_of, threshold)
        if not len(into):
            return rounds
        rounds.append((into, away, height))
        clusters.merge(into, away)
        gone = np.zeros(len(clusters), np.bool_)
        gone[into] = gone[away] = True
        alive = np.flatnonzero(clusters.alive)
        nearest.drop(gone, alive)
        bereft = alive[(nearest_of[alive] >= 0) & gone[nearest_of[alive]]]
        changed = search.find(into, alive[~gone[alive]], True)
        unsure = np.union1d(changed, bereft)


def _decide(unsure: Rows, clusters: Clusters, nearest: Nearest, search: Search) -> Rows:
    """The nearest neighbour of each of ``unsure (u,)``; who cannot tell is searched again."""
    chosen, certain = nearest.settle(unsure, clusters)
    if certain.all():
        return chosen
    again = np.flatnonzero(~certain)
    alive = np.flatnonzero(clusters.alive)
    search.find(unsure[again], np.setdiff1d(alive, unsure[again], True), False)
    chosen[again], certain = nearest.settle(unsure[again], clusters)
    again = again[~certain]
    if len(again):
        chosen[again] = search.nearest_of(unsure[again], alive)
    return chosen


def _reciprocal(clusters: Clusters, nearest_of: Rows, threshold: float) -> Merges:
    """Pairs of slots ``into < away`` that are each other's nearest and similar enough."""
    slots = np.flatnonzero(clusters.alive)
    other = nearest_of[slots]
    mutual = (other > slots) & (nearest_of[other] == slots)
    into, away = slots[mutual], other[mutual]
    height = clusters.similarity(into, away)
    near = height >= in_steps(threshold)
    return into[near], away[near], np.minimum(height[near], 1.0)
