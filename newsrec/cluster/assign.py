"""An article that has just arrived: which story is it, or is it a new one?"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from newsrec.cluster.clusters import Linkage, linkage_named
from newsrec.cluster.levels import check_vectors
from newsrec.errors import DataError
from newsrec.types.clusters import ClusterTree
from newsrec.types.embeddings import unit_rows

Times = NDArray[np.datetime64]


@dataclass(frozen=True, slots=True)
class Placement:
    """Where an article went: its cluster at each level, coarse to fine, and how similar it was.

    ``opened``: from which level on its clusters are new (``n_levels``: none is); the ``similarity``
    of the first new one is that of the nearest cluster there was, NaN where there was none.
    """

    clusters: tuple[int, ...]
    similarity: tuple[float, ...]
    opened: int


class _Floor:
    """The clusters of one level: their sums, their last article, their parts on the next level."""

    def __init__(self, dim: int, threshold: float, n: int) -> None:
        self.dim, self.threshold, self.n = dim, threshold, n
        size = max(n, 64)
        self.sums = np.zeros((size, dim), np.float32)
        self.counts = np.zeros(size)
        self.scale = np.ones(size)
        self.last = np.full(size, np.iinfo(np.int64).min)
        self.parts: list[list[int]] = [[] for _ in range(n)]

    def open(self) -> int:
        """A new empty cluster; its number."""
        if self.n == len(self.counts):
            for field in ("sums", "counts", "scale", "last"):
                column = getattr(self, field)
                setattr(self, field, np.concatenate([column, np.zeros_like(column)]))
        self.last[self.n] = np.iinfo(np.int64).min
        self.parts.append([])
        self.n += 1
        return self.n - 1

    def put(self, cluster: int, unit: NDArray[np.float32], time: int, linkage: Linkage) -> None:
        self.sums[cluster] += unit
        self.counts[cluster] += 1
        self.last[cluster] = max(int(self.last[cluster]), time)
        one = slice(cluster, cluster + 1)
        self.scale[one] = linkage.scale(self.sums[one].astype(np.float64), self.counts[one])


class Assigner:
    """Places articles one at a time into a tree that grows with them.

    From the coarsest level down an article goes to the most similar cluster inside the one that it
    went to before; where none reaches the level's threshold it opens new clusters from there on. A
    story without an article in ``window`` before the new one is closed: nothing is added to it.
    Ties go to the older cluster. Similarities are those of ``linkage``.
    """

    def __init__(
        self,
        tree: ClusterTree,
        vectors: NDArray[np.floating],
        *,
        linkage: str = "average",
        published: Times | None = None,
        window: np.timedelta64 | None = None,
    ) -> None:
        if len(vectors) != len(tree):
            raise DataError(f"vectors: {len(vectors)} rows, the tree has {len(tree)} articles")
        if window is not None and published is None:
            raise DataError("a window of time needs `published`, the times of the tree's articles")
        self._linkage, self._dim = linkage_named(linkage), vectors.shape[1]
        self._tree, self._added = tree, list[tuple[int, ...]]()
        self._window = None if window is None else int(window / np.timedelta64(1, "s"))
        self._floors = [
            _Floor(*level)
            for level in zip(tree.dims, tree.thresholds, tree.n_clusters, strict=True)
        ]
        times = np.zeros(len(tree), np.int64) if published is None else _seconds(published)
        for level, floor in enumerate(self._floors):
            self._furnish(level, floor, vectors, times)

    def place(self, vector: NDArray[np.floating], time: np.datetime64 | None = None) -> Placement:
        """Put the article with this ``vector (dim,)``, published at ``time``, into the tree."""
        units, now = self._read(vector, time)
        found, similarity = self._path(units, now)
        path = [cluster for cluster in found if cluster >= 0]
        opened = len(path)
        for level in range(opened, len(self._floors)):
            path.append(self._floors[level].open())
            if level:
                self._floors[level - 1].parts[path[-2]].append(path[-1])
        for floor, cluster, unit in zip(self._floors, path, units, strict=True):
            floor.put(cluster, unit, now, self._linkage)
        self._added.append(tuple(path))
        return Placement(tuple(path), similarity, opened)

    def look(
        self, vector: NDArray[np.floating], time: np.datetime64 | None = None
    ) -> tuple[int, ...]:
        """Where `place` would put it, one number a level, -1 for a new cluster; nothing changes."""
        return self._path(*self._read(vector, time))[0]

    def tree(self) -> ClusterTree:
        """The tree with all articles placed so far, as rows behind those it began with."""
        added = np.array(self._added, np.int32).reshape(-1, len(self._floors)).T
        labels = np.concatenate([self._tree.labels, added], axis=1)
        return ClusterTree(labels, self._tree.dims, self._tree.thresholds)

    def _read(
        self, vector: NDArray[np.floating], time: np.datetime64 | None
    ) -> tuple[list[NDArray[np.float32]], int]:
        """The vector as each level sees it, and the time in seconds."""
        row = np.asarray(vector, np.float32)[None]
        if row.shape != (1, self._dim):
            raise DataError(
                f"vector: {row.shape[1:]}, expected ({self._dim},) as the tree's articles have"
            )
        check_vectors(row, np.zeros(1, np.int64), [floor.dim for floor in self._floors])
        if self._window is not None and (time is None or np.isnat(time)):
            raise DataError("an article without a time cannot be placed in a window of time")
        now = 0 if time is None else int(_seconds(np.array([time]))[0])
        return [unit_rows(row[:, : floor.dim])[0] for floor in self._floors], now

    def _path(
        self, units: list[NDArray[np.float32]], now: int
    ) -> tuple[tuple[int, ...], tuple[float, ...]]:
        """The clusters to join, from the first that is too far on -1, and the similarities."""
        path: list[int] = []
        similarity: list[float] = []
        for level, (floor, unit) in enumerate(zip(self._floors, units, strict=True)):
            cluster, near = -1, float("nan")
            if not level:
                cluster, near = self._nearest(level, unit, np.arange(floor.n), now)
            elif path[-1] >= 0:
                inside = self._floors[level - 1].parts[path[-1]]
                cluster, near = self._nearest(level, unit, np.array(inside, np.int64), now)
            path.append(cluster if cluster >= 0 and near >= floor.threshold else -1)
            similarity.append(near)
        return tuple(path), tuple(similarity)

    def _furnish(
        self, level: int, floor: _Floor, vectors: NDArray[np.floating], times: NDArray[np.int64]
    ) -> None:
        """The clusters that the tree has at ``level``."""
        member = np.flatnonzero(self._tree.labels[level] >= 0)
        of = self._tree.labels[level][member]
        order = np.argsort(of, kind="stable")
        member, of = member[order], of[order]
        for start in range(0, len(member), 16_384):
            rows = slice(start, start + 16_384)
            first = np.flatnonzero(np.diff(of[rows], prepend=-1))
            unit = unit_rows(vectors[member[rows], : floor.dim])
            floor.sums[of[rows][first]] += np.add.reduceat(unit, first, axis=0)
        floor.counts[: floor.n] = np.bincount(of, minlength=floor.n)
        for start in range(0, floor.n, 16_384):
            some = slice(start, min(start + 16_384, floor.n))
            sums = floor.sums[some].astype(np.float64)
            floor.scale[some] = self._linkage.scale(sums, floor.counts[some])
        np.maximum.at(floor.last, of, times[member])
        if level:
            for part, whole in enumerate(self._tree.parents(level).tolist()):
                self._floors[level - 1].parts[whole].append(part)

    def _nearest(
        self, level: int, unit: NDArray[np.float32], parts: NDArray[np.int64], now: int
    ) -> tuple[int, float]:
        """The most similar of the clusters ``parts``: ``(number, similarity)``; (-1, NaN): none."""
        floor = self._floors[level]
        if self._window is not None and level == len(self._floors) - 1:
            parts = parts[floor.last[parts] >= now - self._window]
        if not len(parts):
            return -1, float("nan")
        sums = floor.sums[: floor.n] if len(parts) == floor.n else floor.sums[parts]
        sims = (sums @ unit) / floor.scale[parts]
        best = int(sims.argmax())
        return int(parts[best]), float(sims[best])


def _seconds(times: Times) -> NDArray[np.int64]:
    return np.asarray(times, "datetime64[s]").astype(np.int64)
