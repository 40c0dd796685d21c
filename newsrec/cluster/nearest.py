"""The nearest neighbours that every cluster knows, and how similar an unknown one can be."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from newsrec.cluster.clusters import Clusters, Floats, Rows
from newsrec.cluster.hands import Hands, dots

#: Largest error of a product of two float32 vectors of length at most 1, with room to spare:
#: sums in lanes of 8 over 2,048 dimensions stay below it, measured errors are under 1e-6.
EPSILON = 1e-5

#: Neighbours remembered of each cluster.
REMEMBERED = 24

#: Lists that are brought up to date at a time.
_OWNERS = 65_536

NONE = np.float32(-np.inf)
NO_ROWS: Rows = np.zeros(0, np.int64)


class Nearest:
    """For every slot up to ``k`` neighbours and a bound on all others.

    ``target (m, k)``, ``sim (m, k) float32`` (-inf where there is none), in no order; ``bound
    (m,) float32``: every living cluster of the same group that is not listed has at most this
    similarity. ``floor``, a little below the threshold, is the lowest bound: what is below cannot
    merge, and nobody needs to know it. All similarities here are float32 products, right to
    `EPSILON`: they propose, `Clusters.similarity` decides.
    """

    def __init__(self, n: int, floor: float, k: int, hands: Hands) -> None:
        self.k, self.floor, self._hands = k, np.float32(floor), hands
        self.target = np.zeros((n, k), np.int32)
        self.sim = np.full((n, k), NONE, np.float32)
        self.bound = np.full(n, self.floor, np.float32)

    def reset(self, rows: Rows) -> None:
        """Forget what ``rows`` know; their bound is right again only after a search."""
        self.sim[rows] = NONE
        self.bound[rows] = self.floor

    def drop(self, gone: NDArray[np.bool_]) -> None:
        """Take the slots where ``gone (m,)`` out of all lists."""
        self.sim[gone[self.target]] = NONE

    def follow(
        self, into: Rows, away: Rows, shares: tuple[Floats, Floats], clusters: Clusters
    ) -> Rows:
        """After ``away (k,)`` merged into ``into (k,)``: returns all whose lists changed.

        Who listed a part lists what became of it; the whole lists what its parts did, and no
        unlisted cluster can be nearer than the ``shares`` of both parts' bounds together.
        """
        heir = np.arange(len(clusters))
        heir[away] = into
        gone = np.zeros(len(clusters), np.bool_)
        gone[into] = gone[away] = True
        stale = (gone[self.target] | gone[:, None]) & (self.sim > NONE)
        stale &= (clusters.alive | gone)[:, None]
        owner, place = np.nonzero(stale)
        target = heir[self.target[owner, place]]
        owner = heir[owner]
        self.sim[stale] = NONE
        bound = shares[0] * self.bound[into] + shares[1] * self.bound[away]
        self.bound[into] = np.maximum(bound, self.floor)
        self.enter(owner, target, clusters)
        return np.concatenate([owner, into])

    def enter(self, owner: Rows, target: Rows, clusters: Clusters) -> None:
        """Put each ``target (c,)`` on its owner's list, once, as similar as it is by now."""
        m = len(clusters)
        low, high = np.minimum(owner, target), np.maximum(owner, target)
        # Pairs side by side with their mirror images: a pair's similarity is computed once.
        key = np.sort(((low * m + high) * 2 + (owner > target))[low < high])
        key = key[first_of(key)]
        fresh = first_of(key >> 1)
        pair, low_owns = key[fresh] >> 1, key & 1 == 0
        low, high = np.divmod(pair, m)
        which = np.cumsum(fresh) - 1
        sim = dots(clusters.points, low, high, self._hands)[which]
        low, high = low[which], high[which]
        near = sim > self.floor
        owner, target = np.where(low_owns, low, high), np.where(low_owns, high, low)
        self.add(owner[near], target[near], sim[near])

    def compact(self, kept: Rows) -> None:
        """Only the slots ``kept`` remain, in that order."""
        new = np.full(len(self.bound), -1, np.int32)
        new[kept] = np.arange(len(kept), dtype=np.int32)
        self.sim, self.bound = self.sim[kept], self.bound[kept]
        self.target = new[self.target[kept]]
        self.sim[self.target < 0] = NONE  # finished

    def add(self, owner: Rows, target: Rows, sim: Floats) -> None:
        """New neighbours, ``(c,)`` each; the best ``k`` of each owner stay, of old and new."""
        order = np.argsort(owner, kind="stable")
        owner, target, sim = owner[order], target[order].astype(np.int32), sim[order]
        first = np.flatnonzero(first_of(owner))
        lengths = np.diff(np.append(first, len(owner)))
        owners = owner[first]
        # As many of each owner at a time as fit on a list.
        while len(owners):
            some = np.minimum(lengths, self.k)
            for a in range(0, len(owners), _OWNERS):
                few = slice(a, a + _OWNERS)
                row = np.repeat(np.arange(len(owners[few])), some[few])
                place = np.arange(len(row)) - np.repeat(np.cumsum(some[few]) - some[few], some[few])
                at = first[few][row] + place
                self._insert(owners[few], row, place, target[at], sim[at])
            first, lengths = first + some, lengths - some
            left = lengths > 0
            first, lengths, owners = first[left], lengths[left], owners[left]

    def _insert(
        self, owners: Rows, row: Rows, place: Rows, target: NDArray[np.int32], sim: Floats
    ) -> None:
        """Neighbours of ``owners (o,)``, who are all different: the ``place``-th of the
        ``row``-th, with at most ``k`` places."""
        k, width = self.k, int(place.max()) + 1
        sims = np.full((len(owners), k + width), NONE, np.float32)
        targets = np.zeros((len(owners), k + width), np.int32)
        sims[:, :k], targets[:, :k] = self.sim[owners], self.target[owners]
        sims[row, k + place], targets[row, k + place] = sim, target
        order = np.argpartition(sims, width, axis=1)
        dropped = np.take_along_axis(sims, order[:, :width], 1).max(1)
        self.bound[owners] = np.maximum(self.bound[owners], dropped)
        self.sim[owners] = np.take_along_axis(sims, order[:, width:], 1)
        self.target[owners] = np.take_along_axis(targets, order[:, width:], 1)

    def settle(self, rows: Rows, clusters: Clusters) -> tuple[Rows, NDArray[np.bool_]]:
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


def first_of(values: Rows) -> NDArray[np.bool_]:
    """Where ``values (c,)``, sorted, are not those before them."""
    first = np.ones(len(values), np.bool_)
    first[1:] = values[1:] != values[:-1]
    return first
