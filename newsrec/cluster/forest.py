"""What merged with what, and how similar they were: the dendrogram of one level."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from newsrec.errors import DataError
from newsrec.types.clusters import Labels, dense


@dataclass(frozen=True, slots=True, eq=False)
class Forest:
    """Merges among ``n_leaves`` leaves, in an order in which parts come before what they form.

    ``left, right (m,) int32``: leaves are ``0 … n_leaves - 1``, merge ``t`` makes ``n_leaves + t``
    (scipy's numbering); ``height (m,) float64``: the similarity at which it merged; ``leaf_of
    (n,) int32``: the leaf of each article, -1 for none. Below the threshold nothing merged, so
    there are several trees. ``recall``: 1 for an exact search, else the share of true neighbours
    that the search found, measured on a sample.
    """

    left: NDArray[np.int32]
    right: NDArray[np.int32]
    height: NDArray[np.float64]
    leaf_of: Labels
    n_leaves: int
    recall: float = 1.0

    def __post_init__(self) -> None:
        m = len(self.height)
        own = self.n_leaves + np.arange(m)
        if self.left.shape != (m,) or self.right.shape != (m,):
            raise DataError(f"Forest: {self.left.shape} and {self.right.shape}, expected ({m},)")
        if np.any(self.left >= own) or np.any(self.right >= own):
            raise DataError("Forest: a cluster merges before it exists")

    def __len__(self) -> int:
        """How many merges."""
        return len(self.height)

    def labels(self, threshold: float = -np.inf) -> Labels:
        """``(n,) int32``, dense: the clusters left when merges below ``threshold`` are undone.

        For average linkage that is the clustering with this threshold; centroid linkage would have
        merged in another order.
        """
        # A merge stands only where both its parts do: centroids may draw nearer as they merge.
        parent = np.arange(self.n_leaves + len(self), dtype=np.int64)
        stands = np.ones(len(parent), np.bool_)
        stands[self.n_leaves :] = self.height >= threshold
        for _ in range(len(self)):
            broken = ~(stands[self.left] & stands[self.right]) & stands[self.n_leaves :]
            if not broken.any():
                break
            stands[self.n_leaves :][broken] = False
        kept = np.flatnonzero(stands[self.n_leaves :])
        parent[self.left[kept]] = parent[self.right[kept]] = self.n_leaves + kept
        while True:
            above = parent[parent]
            if np.array_equal(above, parent):
                break
            parent = above
        return dense(np.where(self.leaf_of < 0, -1, parent[self.leaf_of]))

    def to_scipy(self) -> NDArray[np.float64]:
        """``(m, 4)``: left, right, 1 - similarity, articles; what scipy's dendrogram functions take
        when everything merged into one tree. Nearest first."""
        order = np.lexsort((np.arange(len(self)), -self.height))
        number = np.empty(len(self), np.int64)
        number[order] = np.arange(len(self))
        node = np.concatenate([np.arange(self.n_leaves), self.n_leaves + number])
        size = np.zeros(self.n_leaves + len(self))
        size[: self.n_leaves] = np.bincount(
            self.leaf_of[self.leaf_of >= 0], minlength=self.n_leaves
        )
        for t, (a, b) in enumerate(zip(self.left, self.right, strict=True)):
            size[self.n_leaves + t] = size[a] + size[b]
        pairs = np.sort(np.stack([node[self.left], node[self.right]], 1), axis=1)
        table = np.column_stack([pairs, 1 - self.height, size[self.n_leaves :]])
        return table[order]


def in_order(
    left: NDArray[np.int64],
    right: NDArray[np.int64],
    height: NDArray[np.float64],
    leaf_of: Labels,
    recall: float = 1.0,
) -> Forest:
    """A forest from merges of *leaves*: ``right (m,)`` merged into ``left (m,)``, in that order."""
    n = int(leaf_of.max(initial=-1)) + 1
    node = np.arange(n)
    parts = np.empty((2, len(height)), np.int32)
    for t, (a, b) in enumerate(zip(left.tolist(), right.tolist(), strict=True)):
        parts[0, t], parts[1, t] = node[a], node[b]
        node[a] = n + t
    return Forest(parts[0], parts[1], height, leaf_of, n, recall)
