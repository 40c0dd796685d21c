"""Themes, topics, stories: one label a level for every article."""

from __future__ import annotations

import itertools
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from newsrec.errors import DataError

Labels = NDArray[np.int32]


@dataclass(frozen=True, slots=True, eq=False)
class ClusterTree:
    """Nested clusters of ``n_news`` articles, coarse to fine.

    ``labels (n_levels, n_news) int32``: at each level ``0 … k - 1``, every number used, -1 where an
    article is in no cluster; ``dims (n_levels,)``: how many leading dimensions the level looked at;
    ``thresholds (n_levels,)``: the cosine similarity down to which it merged. Raises `DataError`
    when a fine cluster spans two coarse ones, or lies in one at no coarser level.
    """

    labels: Labels
    dims: tuple[int, ...]
    thresholds: tuple[float, ...]

    def __post_init__(self) -> None:
        labels = self.labels
        if labels.ndim != 2 or labels.dtype != np.int32 or not len(labels):
            raise DataError(
                f"ClusterTree.labels: {labels.dtype} {labels.shape}, "
                "expected int32 (n_levels, n_news), at least one level"
            )
        for name in ("dims", "thresholds"):
            if len(getattr(self, name)) != len(labels):
                raise DataError(
                    f"ClusterTree.{name}: {len(getattr(self, name))}, expected {len(labels)}, "
                    "one a level"
                )
        for level, row in enumerate(labels):
            _check_dense(level, row)
        for level in range(1, len(labels)):
            _check_nested(level, labels[level - 1], labels[level])

    def __len__(self) -> int:
        """How many articles."""
        return int(self.labels.shape[1])

    @property
    def n_levels(self) -> int:
        return len(self.labels)

    @property
    def n_clusters(self) -> tuple[int, ...]:
        """How many clusters at each level, coarse to fine."""
        return tuple(int(row.max(initial=-1)) + 1 for row in self.labels)

    def sizes(self, level: int) -> NDArray[np.int64]:
        """Articles in each cluster of ``level``, ``(k,)``."""
        row = self.labels[level]
        return np.bincount(row[row >= 0], minlength=self.n_clusters[level])

    def members(self, level: int) -> list[NDArray[np.int64]]:
        """For each cluster of ``level`` its articles, rising."""
        row = self.labels[level]
        order = np.argsort(row, kind="stable")
        bounds = np.searchsorted(row[order], np.arange(self.n_clusters[level] + 1))
        return [order[a:b] for a, b in itertools.pairwise(bounds.tolist())]

    def parents(self, level: int) -> Labels:
        """``(k,)``: for each cluster of ``level`` the cluster of the level above; -1 at the top."""
        above = np.full(self.n_clusters[level], -1, np.int32)
        if level % self.n_levels:
            member = self.labels[level] >= 0
            above[self.labels[level][member]] = self.labels[level - 1][member]
        return above


def dense(labels: NDArray[np.integer]) -> Labels:
    """``(n,) int32``: the same partition numbered 0, 1, … by first member; negatives become -1."""
    _, first, number = np.unique(labels, return_index=True, return_inverse=True)
    # A negative label takes no number: it goes behind all others.
    first = np.where(labels[first] < 0, len(labels), first)
    rank = np.empty(len(first), np.int32)
    rank[np.argsort(first, kind="stable")] = np.arange(len(first), dtype=np.int32)
    return np.where(labels < 0, -1, rank[number.reshape(-1)]).astype(np.int32)


def _check_dense(level: int, row: Labels) -> None:
    if not row.size:
        return
    if row.min() < -1:
        raise DataError(f"ClusterTree.labels: {row.min()} at level {level}, expected -1 or more")
    empty = np.flatnonzero(np.bincount(row[row >= 0]) == 0)
    if len(empty):
        raise DataError(
            f"ClusterTree.labels: level {level} goes up to {row.max()} but no article has "
            f"{empty[0]}; number the clusters 0, 1, 2, … without gaps"
        )


def _check_nested(level: int, coarse: Labels, fine: Labels) -> None:
    member = np.flatnonzero(fine >= 0)
    above = np.empty(int(fine.max(initial=-1)) + 1, np.int32)
    above[fine[member]] = coarse[member]
    wrong = member[above[fine[member]] != coarse[member]]
    if len(wrong):
        row = int(wrong[0])
        raise DataError(
            f"ClusterTree.labels: cluster {fine[row]} of level {level} spans clusters "
            f"{coarse[row]} and {above[fine[row]]} of level {level - 1}; levels must be nested"
        )
    loose = member[coarse[member] < 0]
    if len(loose):
        raise DataError(
            f"ClusterTree.labels: article {loose[0]} is in cluster {fine[loose[0]]} of level "
            f"{level} but in none of level {level - 1}"
        )
