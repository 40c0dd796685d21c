"""Yesterday's clusters, today's shelf: new articles find a place, clusters keep their numbers."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from newsrec.cluster.days import Changes, extend, follow
from newsrec.cluster.levels import Level, cluster_levels
from newsrec.cluster.shelf import ClusteredShelf
from newsrec.errors import DataError
from newsrec.types.clusters import ClusterTree, dense


@dataclass(frozen=True, slots=True, eq=False)
class Today:
    """The shelf of today: ``articles (n,) str``; ``vectors (n, dim)``; ``present (n,) bool``:
    which of them can be clustered; ``published (n,)``, needed for a window of time."""

    articles: NDArray[np.str_]
    vectors: NDArray[np.floating]
    present: NDArray[np.bool_]
    published: NDArray[np.datetime64] | None = None


def renew(
    old: ClusteredShelf,
    today: Today,
    *,
    whole: bool = False,
    linkage: str = "average",
    direction: str = "refine",
    window: np.timedelta64 | None = None,
) -> tuple[ClusteredShelf, tuple[Changes, ...]]:
    """Clusters of ``today``, and for each level what became of those of ``old``.

    Clusters go on with new articles (`extend`), or everything is clustered anew (``whole``); a
    cluster keeps its number where most of its articles stay. Articles that are gone leave their
    clusters. With a ``window``, stories without an article in it are closed.
    """
    if today.vectors.shape[1] < old.tree.dims[-1]:
        raise DataError(
            f"vectors of {today.vectors.shape[1]} dimensions, the clusters look at "
            f"{old.tree.dims[-1]}: another encoder"
        )
    before = np.stack(list(old.classes(today.articles).values())).astype(np.int32)
    before[:, ~today.present] = -1
    if whole:
        pairs = zip(old.tree.dims, old.tree.thresholds, strict=True)
        levels = [Level(dim, threshold) for dim, threshold in pairs]
        tree = cluster_levels(
            today.vectors, levels, linkage=linkage, direction=direction, present=today.present
        ).tree
    else:
        tree = _extended(old.tree, before, today, linkage, window)
    changes = tuple(
        _followed(old, level, before[level], tree.labels[level]) for level in range(tree.n_levels)
    )
    numbers, free = tuple(c.ids for c in changes), tuple(c.next_id for c in changes)
    return ClusteredShelf(tree, today.articles, numbers, free, old.made), changes


def _extended(
    old: ClusterTree,
    before: NDArray[np.int32],
    today: Today,
    linkage: str,
    window: np.timedelta64 | None,
) -> ClusterTree:
    """`extend` in the order of today's rows: it wants the old articles first."""
    known = before[0] >= 0
    order = np.concatenate([np.flatnonzero(known), np.flatnonzero(today.present & ~known)])
    kept = np.stack([dense(row[known]) for row in before])
    grown = extend(
        ClusterTree(kept, old.dims, old.thresholds),
        today.vectors[order],
        linkage=linkage,
        published=None if today.published is None else today.published[order],
        window=window,
    )
    labels = np.full((old.n_levels, len(today.articles)), -1, np.int32)
    labels[:, order] = grown.labels
    return ClusterTree(labels, old.dims, old.thresholds)


def _followed(
    old: ClusteredShelf, level: int, before: NDArray[np.int32], after: NDArray[np.int32]
) -> Changes:
    """`follow`, told of old articles in today's rows; a cluster that lost them all has died."""
    return follow(before, old.numbers[level], after, old.free[level])
