"""A cluster, its siblings and its children: what a name has to tell apart and to cover."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from newsrec.cluster.centres import Articles, Floats, Rows, unit
from newsrec.cluster.phrases import Phrase
from newsrec.types.clusters import ClusterTree

_RIVALS = 32  # the nearest siblings are the ones to be told apart from
_CHILDREN = 48


@dataclass(slots=True)
class Case:
    """A cluster to be named: its ``rows``; ``children`` are articles at the finest level.

    ``siblings``: itself first, then its nearest ones.
    """

    cluster: int
    rows: Rows
    centre: Floats  # (dim,) unit
    siblings: Floats  # (s, dim) unit, away from the parent's centre
    children: Floats  # (c, dim) unit
    finest: bool
    source: str = "members"
    language: str = ""
    phrases: Sequence[Phrase] = ()


class Families:
    """Centres of the ``wanted`` clusters of ``level`` and of their siblings, worked out once."""

    def __init__(
        self, tree: ClusterTree, level: int, wanted: NDArray[np.integer], articles: Articles
    ) -> None:
        self._tree, self._level, self._articles = tree, level, articles
        of, self._parents = tree.labels[level], tree.parents(level)
        near = np.append(np.isin(self._parents, self._parents[wanted]), False)[of]  # -1: the last
        rows = np.flatnonzero(near)
        self._sums = articles.sums(rows, of[rows], len(self._parents))
        self._sizes = np.bincount(of[rows], minlength=len(self._parents))
        self._members = tree.members(level)
        self._away: dict[int, tuple[Rows, NDArray[np.float64]]] = {}

    def cases(self, clusters: NDArray[np.integer]) -> list[Case]:
        """A case for each of ``clusters``, of those wanted."""
        finest = self._level + 1 == self._tree.n_levels
        members = [self._members[c] for c in clusters.tolist()]
        children = self._children(members, finest)
        centres = unit(self._sums[clusters])
        return [
            Case(cluster, rows, centre, self._siblings(cluster), unit(kids), finest)
            for cluster, rows, centre, kids in zip(
                clusters.tolist(), members, centres, children, strict=True
            )
        ]

    def _children(self, members: Sequence[Rows], finest: bool) -> list[Floats]:
        """The articles of each cluster, or the sums of its clusters of the next finer level."""
        if finest:
            return [_filled(self._articles.over_languages(rows[:_CHILDREN])) for rows in members]
        below = self._tree.labels[self._level + 1]
        rows = np.concatenate([np.zeros(0, np.int64), *members])
        rows = rows[below[rows] >= 0]
        found, place = np.unique(below[rows], return_inverse=True)
        sums = self._articles.sums(rows, place.reshape(-1), len(found))
        inside = [np.unique(below[rows]) for rows in members]
        return [_filled(sums[np.searchsorted(found, kids[kids >= 0])]) for kids in inside]

    def _siblings(self, cluster: int) -> NDArray[np.float64]:
        parent = int(self._parents[cluster])
        if parent not in self._away:
            family = np.flatnonzero(self._parents == parent)
            means = self._sums[family] / np.maximum(self._sizes[family], 1)[:, None]
            if len(family) > 1:
                means -= self._sums[family].sum(0) / max(1, self._sizes[family].sum())
            self._away[parent] = (family, unit(means))
        family, away = self._away[parent]
        own = int(np.searchsorted(family, cluster))
        near = np.round(away @ away[own], 6)
        near[own] = np.inf
        rivals = np.arange(len(family))
        if len(family) > _RIVALS:
            rivals = np.argpartition(-near, _RIVALS - 1)[:_RIVALS]
        return np.asarray(away[rivals[np.lexsort((rivals, -near[rivals]))]])


def _filled(rows: Floats) -> Floats:
    return rows[np.any(rows, axis=1)]
