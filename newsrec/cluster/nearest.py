"""The nearest neighbours that every cluster knows, and how similar an unknown one can be."""

from __future__ import annotations

import numpy as np

from newsrec.cluster.clusters import Clusters, Floats, Rows

#: Largest error of a product of two float32 vectors of length at most 1, with room to spare:
#: sums in lanes of 8 over 2,048 dimensions stay below it, measured errors are under 1e-6.
EPSILON = 1e-5

#: Neighbours remembered of each cluster.
REMEMBERED = 16

NONE = np.float32(-np.inf)


class Nearest:
    """For every slot up to ``k`` neighbours and a bound on all others.

    ``target (m, k)``, ``sim (m, k) float32`` (-inf where there is none), in no order; ``bound
    (m,) float32``: every living cluster of the same group that is not listed has at most this
    similarity. ``floor``, a little below the threshold, is the lowest bound: what is below cannot
    merge, and nobody needs to know it. All similarities here are float32 products, right to
    `EPSILON`: they propose, `Clusters.similarity` decides.
    """

    def __init__(self, n: int, floor: float, k: int = REMEMBERED) -> None:
        self.k, self.floor = k, np.float32(floor)
        self.target = np.zeros((n, k), np.int32)
        self.sim = np.full((n, k), NONE, np.float32)
        self.bound = np.full(n, self.floor, np.float32)

    def reset(self, rows: Rows) -> None:
        """Forget what ``rows`` know; their bound is right again only after a search."""
        self.sim[rows] = NONE
        self.bound[rows] = self.floor

    def drop(self, gone: np.ndarray, alive: Rows) -> None:
        """Take the slots with ``gone (m,) bool`` out of the lists of ``alive``."""
        sim = self.sim[alive]
        sim[gone[self.target[alive]]] = NONE
        self.sim[alive] = sim

    def add(self, owner: Rows, target: Rows, sim: Floats) -> Rows:
        """New neighbours ``(k,)`` each; the best ``k`` of an owner stay. Returns the owners."""
        rows, at = np.unique(owner, return_inverse=True)
        known = np.nonzero(self.sim[rows] > NONE)
        at = np.concatenate([at.reshape(-1), known[0]])
        target = np.concatenate([target, self.target[rows][known]])
        sim = np.concatenate([sim, self.sim[rows][known]])
        # One key to sort by: the owner, then from similar to dissimilar (2 - sim is positive, and
        # positive floats sort like their bits).
        bits = (np.float32(2.5) - sim).view(np.uint32).astype(np.uint64)
        order = np.argsort((at.astype(np.uint64) << np.uint64(32)) | bits)
        at, target, sim = at[order], target[order], sim[order]
        starts = np.searchsorted(at, np.arange(len(rows)))
        rank = np.arange(len(at)) - starts[at]
        over = rank == self.k  # the best of those that do not fit
        self.bound[rows[at[over]]] = np.maximum(self.bound[rows[at[over]]], sim[over])
        keep = rank < self.k
        self.sim[rows] = NONE
        self.target[rows[at[keep]], rank[keep]] = target[keep]
        self.sim[rows[at[keep]], rank[keep]] = sim[keep]
        return rows

    def settle(self, rows: Rows, clusters: Clusters) -> tuple[Rows, np.ndarray]:
        """The nearest neighbour of each of ``rows (r,)``: ``(nearest (r,), certain (r,) bool)``.

        -1 where no neighbour reaches the floor. Of neighbours that are equally similar the smallest
        slot is the nearest. Not certain: an unlisted cluster could be as near.
        """
        sim = self.sim[rows]
        best = sim.max(1)
        bound = self.bound[rows]
        certain = (bound <= self.floor) | (best - bound > 2 * EPSILON)
        rival = sim >= (best - np.float32(2 * EPSILON))[:, None]
        rival &= sim > NONE
        row, column = np.nonzero(rival)
        chosen = choose(row, rows, self.target[rows[row], column].astype(np.int64), clusters)
        return chosen, certain


def choose(row: Rows, rows: Rows, target: Rows, clusters: Clusters) -> Rows:
    """The nearest of the candidates ``target (c,)`` for ``rows[row]``, ``(r,)``; -1 without any.

    ``row (c,)`` rises. Exact: similarities are computed again wherever there is a choice.
    """
    nearest = np.full(len(rows), -1, np.int64)
    nearest[row] = target
    several = np.bincount(row, minlength=len(rows))[row] > 1
    if several.any():
        row, target = row[several], target[several]
        sim = clusters.similarity(rows[row], target)
        order = np.lexsort((target, -sim, row))
        _, first = np.unique(row[order], return_index=True)
        nearest[row[order][first]] = target[order][first]
    return nearest
