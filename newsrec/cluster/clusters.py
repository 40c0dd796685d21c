"""The clusters while they merge: their sums, and how similar two are."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from newsrec.errors import unknown_name

Rows = NDArray[np.int64]
Floats = NDArray[np.float32]
Doubles = NDArray[np.float64]

#: Similarities are compared in steps of 2^-40, about 1e-12: sums added up in another order differ
#: by less, so two similarities that are equal in exact arithmetic are equal here, too.
_STEPS = 2.0**40


def _mean(sums: Doubles, counts: Doubles) -> Doubles:
    return counts


def _length(sums: Doubles, counts: Doubles) -> Doubles:
    # Opposite articles can sum to nothing; such a cluster is similar to none.
    return np.asarray(np.maximum(np.sqrt(np.einsum("ij,ij->i", sums, sums)), 1e-12))


@dataclass(frozen=True, slots=True)
class Linkage:
    """How similar two clusters are: ``<a, b> / (scale(a) scale(b))`` of the sums of their unit
    vectors.

    ``reducible``: a merged cluster is never closer to a third than both its parts were. Then
    merging reciprocal nearest neighbours, in whatever order, gives the hierarchy of merging always
    the closest pair (Murtagh 1983), and a cluster without a neighbour above the threshold is
    finished.
    """

    scale: Callable[[Doubles, Doubles], Doubles]
    reducible: bool


#: average: the mean cosine over all pairs of articles, since <mean a, mean b> is just that.
#: centroid: the cosine of the centroids (paper 000 §4).
LINKAGES = {"average": Linkage(_mean, True), "centroid": Linkage(_length, False)}


def linkage_named(name: str) -> Linkage:
    """From `LINKAGES`; `ConfigError` for an unknown name."""
    if name not in LINKAGES:
        raise unknown_name("linkage", name, tuple(LINKAGES))
    return LINKAGES[name]


def in_steps(similarity: Any) -> Any:
    """Rounded so that what is equal in exact arithmetic is equal."""
    return np.round(np.asarray(similarity, np.float64) * _STEPS) / _STEPS


class Clusters:
    """``m`` clusters in slots that are sorted by group; a merged one keeps the smaller slot.

    ``sums (m, dim) float64`` of unit vectors, ``counts (m,)``; ``group (m,)``: only clusters of one
    group may merge, those of slot ``i`` lie in ``begin[i] … end[i]``. ``points (m, dim) float32``
    are the sums over their scale: a plain product of points is the similarity to float32 precision,
    `similarity` computes it exactly. ``alive (m,)``: slots that can still merge; the points of the
    others are zero. ``name``: the slot that a cluster had in the beginning.
    """

    def __init__(self, sums: Doubles, counts: Doubles, group: Rows, linkage: Linkage) -> None:
        self.sums, self.counts, self.group, self.linkage = sums, counts, group, linkage
        self._scale = linkage.scale(sums, counts)
        self.points: Floats = np.empty(sums.shape, np.float32)
        np.divide(sums, self._scale[:, None], out=self.points, casting="same_kind")
        self.alive = np.ones(len(sums), np.bool_)
        self.name: Rows = np.arange(len(sums))
        self._find_spans()

    def __len__(self) -> int:
        return len(self.sums)

    def span(self, slot: int) -> tuple[int, int]:
        """The slots of its group: first, and one after the last."""
        return int(self.begin[slot]), int(self.end[slot])

    def similarity(self, a: Rows, b: Rows) -> Doubles:
        """Of the clusters in slots ``a (k,)`` and ``b (k,)``, in steps of about 1e-12."""
        out = np.empty(len(a))
        step = max(1, (1 << 21) // self.sums.shape[1])
        for i in range(0, len(a), step):
            x, y = a[i : i + step], b[i : i + step]
            dots = np.einsum("ij,ij->i", self.sums[x], self.sums[y])
            out[i : i + step] = dots / (self._scale[x] * self._scale[y])
        return np.asarray(in_steps(out))

    def merge(self, into: Rows, away: Rows) -> tuple[Floats, Floats]:
        """Merge the slots ``away (k,)`` into ``into (k,)``; no slot may occur twice.

        Returns two ``shares (k,)``: to any third cluster the whole is as similar as its parts,
        weighted with these.
        """
        before = self._scale[into], self._scale[away]
        self.sums[into] += self.sums[away]
        self.counts[into] += self.counts[away]
        after = self._scale[into] = self.linkage.scale(self.sums[into], self.counts[into])
        self.points[into] = self.sums[into] / after[:, None]
        self.retire(away)
        return (before[0] / after).astype(np.float32), (before[1] / after).astype(np.float32)

    def retire(self, slots: Rows) -> None:
        """``slots`` take no further part."""
        self.alive[slots] = False
        self.points[slots] = 0

    def compact(self) -> Rows:
        """Drop the slots that are not alive; returns the old slots ``(alive,)`` of the new ones."""
        kept = np.flatnonzero(self.alive)
        for field in ("sums", "counts", "group", "points", "alive", "name", "_scale"):
            setattr(self, field, getattr(self, field)[kept])
        self._find_spans()
        return kept

    def _find_spans(self) -> None:
        self.begin: Rows = np.searchsorted(self.group, self.group)
        self.end: Rows = np.searchsorted(self.group, self.group, side="right")
