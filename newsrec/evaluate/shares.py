"""Distributions over classes, one per list, kept sparse: what diversity metrics compare."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class Shares:
    """``n`` distributions over ``n_classes``.

    ``keys (m,) int64`` rise and hold ``list * n_classes + class``; ``share (m,)`` is that class's
    part of the list (they sum to 1 in each list that has any weight); ``total (n,)`` is the weight
    before scaling, 0 where nothing of the list is known: everything is undefined (NaN) there.
    """

    n_classes: int
    keys: Ints
    share: Floats
    total: Floats

    @classmethod
    def of(
        cls,
        lists: NDArray[np.integer],
        classes: NDArray[np.integer],
        weights: NDArray[np.floating] | None,
        n: int,
        n_classes: int,
    ) -> Shares:
        """Sum ``weights (q,)`` (default 1 each) by list and class; class -1 is left out."""
        known = classes >= 0
        keys = lists[known].astype(np.int64) * n_classes + classes[known]
        keys, where = np.unique(keys, return_inverse=True)
        given = None if weights is None else np.asarray(weights, np.float64)[known]
        mass = np.bincount(where.reshape(-1), given, minlength=len(keys)).astype(np.float64)
        owner = keys // max(n_classes, 1)
        total = np.bincount(owner, mass, minlength=n).astype(np.float64)
        return cls(n_classes, keys, mass / total[owner], total)

    @property
    def owner(self) -> Ints:
        """The list of each key, ``(m,)``."""
        return self.keys // max(self.n_classes, 1)

    def at(self, lists: Ints, classes: Ints) -> Floats:
        """Share of ``classes (q,)`` in ``lists (q,)``; 0 where a list has none of it."""
        if not len(self.keys):
            return np.zeros(len(lists))
        wanted = lists * self.n_classes + classes
        where = np.minimum(np.searchsorted(self.keys, wanted), len(self.keys) - 1)
        return np.where(self.keys[where] == wanted, self.share[where], 0.0)

    def sums(self, values: Floats) -> Floats:
        """Sum ``values (m,)`` by list, ``(n,)``; NaN where nothing of the list is known."""
        sums = np.bincount(self.owner, values, minlength=len(self.total))
        return np.where(self.total > 0, sums, np.nan)

    def distinct(self) -> Ints:
        """Classes in each list, ``(n,)``."""
        return np.bincount(self.owner, minlength=len(self.total))

    def entropy(self) -> Floats:
        """``(n,)`` in nats."""
        return self.sums(-self.share * np.log(self.share))

    def against(self, other: Shares, row_of: Ints) -> Floats:
        """Share of each of my keys in list ``row_of (n,)`` of ``other``, ``(m,)``."""
        owner = self.owner
        return other.at(row_of[owner], self.keys - owner * self.n_classes)

    def js(self, other: Shares, row_of: Ints) -> Floats:
        """Jensen–Shannon divergence, base 2, of each list from list ``row_of (n,)`` of ``other``.

        ``(n,)`` in [0, 1]; NaN where either is unknown. RADio (Vrijenhoek et al. 2022), eq. 3.
        """
        mine, theirs = self.share, self.against(other, row_of)
        both = mine + theirs
        log_theirs = np.log2(2 * theirs / both, where=theirs > 0, out=np.zeros(len(mine)))
        inside = 0.5 * (mine * np.log2(2 * mine / both) + theirs * log_theirs)
        # A class that only the other list has adds half its share.
        outside = 0.5 * (1.0 - self.sums(theirs))
        return np.where(other.total[row_of] > 0, np.maximum(self.sums(inside) + outside, 0), np.nan)

    def kl_from(self, other: Shares, row_of: Ints, smoothing: float) -> Floats:
        """KL(other || mine) in nats with mine smoothed to ``(1 - s) * mine + s * other``.

        ``(n,)``; Steck 2018, "Calibrated Recommendations", eq. 7 and 8, where s = 0.01.
        """
        theirs = self.against(other, row_of)
        smooth = (1 - smoothing) * self.share + smoothing * theirs
        ratio = np.divide(theirs, smooth, where=theirs > 0, out=np.ones(len(theirs)))
        inside = self.sums(theirs * np.log(ratio))
        outside = (1.0 - self.sums(theirs)) * -np.log(smoothing)
        return np.where(other.total[row_of] > 0, np.maximum(inside + outside, 0), np.nan)


def distinct_classes(
    lists: NDArray[np.integer], classes: NDArray[np.integer], n: int, n_classes: int
) -> Ints:
    """How many classes each of ``n`` lists has, ``(n,)``; class -1 does not count."""
    known = classes >= 0
    # Sorted by hand: np.unique hashes since numpy 2.3, ten times slower on millions of keys.
    keys = np.sort(lists[known].astype(np.int64) * n_classes + classes[known])
    first = np.append(True, keys[1:] != keys[:-1])[: len(keys)]
    return np.bincount(keys[first] // max(n_classes, 1), minlength=n)
