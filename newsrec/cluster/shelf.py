"""A shelf in its clusters: a tree over named articles, whose clusters keep their numbers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from newsrec.cluster.days import Ids, first_ids
from newsrec.errors import DataError
from newsrec.types.clusters import ClusterTree, dense

#: What the levels of a tree are called, coarse to fine, the last ones for trees of fewer levels.
LEVELS = ("theme", "topic", "story")


@dataclass(frozen=True, slots=True, eq=False)
class ClusteredShelf:
    """``tree`` over ``articles (n,) str``, ids of the news table, each once.

    ``numbers``: for each level the number ``(k,) int64`` under which each cluster is known from day
    to day; ``free``: for each level the first number that no cluster has had; ``made``: how the
    tree came about, plain JSON values.
    """

    tree: ClusterTree
    articles: NDArray[np.str_]
    numbers: tuple[Ids, ...]
    free: tuple[int, ...]
    made: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.articles.shape != (len(self.tree),):
            raise DataError(
                f"ClusteredShelf.articles: {self.articles.shape}, the tree has {len(self.tree)}"
            )
        for name in ("numbers", "free"):
            if len(getattr(self, name)) != self.tree.n_levels:
                raise DataError(
                    f"ClusteredShelf.{name}: {len(getattr(self, name))}, expected one for each of "
                    f"{self.tree.n_levels} levels"
                )
        for level, (numbers, k) in enumerate(zip(self.numbers, self.tree.n_clusters, strict=True)):
            fits = numbers.shape == (k,) and len(np.unique(numbers)) == k
            if not fits or numbers.max(initial=-1) >= self.free[level]:
                raise DataError(
                    f"ClusteredShelf.numbers: level {level} needs {k} different numbers below "
                    f"{self.free[level]}"
                )

    @classmethod
    def new(
        cls, tree: ClusterTree, articles: NDArray[np.str_], made: Mapping[str, Any] | None = None
    ) -> ClusteredShelf:
        """A first tree: clusters are known by their place in it."""
        return cls(tree, articles, tuple(first_ids(tree)), tree.n_clusters, dict(made or {}))

    @property
    def levels(self) -> tuple[str, ...]:
        """What the levels are called, coarse to fine."""
        return level_names(self.tree.n_levels)

    def classes(self, articles: NDArray[np.str_]) -> dict[str, NDArray[np.int64]]:
        """Level name to the cluster's place in the tree, ``(m,)``, of other ``articles (m,)``; -1
        for those that the tree does not have."""
        order = np.argsort(self.articles)
        if not len(order):
            return {name: np.full(len(articles), -1, np.int64) for name in self.levels}
        at = np.searchsorted(self.articles, articles, sorter=order)
        row = order[np.minimum(at, len(order) - 1)]
        known = self.articles[row] == articles
        return {
            name: np.where(known, labels[row], -1).astype(np.int64)
            for name, labels in zip(self.levels, self.tree.labels, strict=True)
        }

    def over(self, articles: NDArray[np.str_]) -> ClusteredShelf:
        """The same clusters over other ``articles (m,)``: those that the tree does not have are in
        none, clusters that keep no article are left out."""
        if np.array_equal(self.articles, articles):
            return self
        found = list(self.classes(articles).values())
        labels = np.stack([dense(row) for row in found])
        numbers = []
        for before, after, known in zip(found, labels, self.numbers, strict=True):
            kept = np.full(int(after.max(initial=-1)) + 1, -1, np.int64)
            kept[after[after >= 0]] = known[before[after >= 0]]
            numbers.append(kept)
        tree = ClusterTree(labels, self.tree.dims, self.tree.thresholds)
        return ClusteredShelf(tree, articles, tuple(numbers), self.free, self.made)


def level_names(n: int) -> tuple[str, ...]:
    """``story``; ``topic, story``; ``theme, topic, story``; ``theme, topic1, topic2 …, story``."""
    if n <= len(LEVELS):
        return LEVELS[-n:]
    theme, topic, story = LEVELS
    return theme, *(f"{topic}{i}" for i in range(1, n - 1)), story
