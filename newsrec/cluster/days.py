"""Clusters from one day to the next: the same id for the same story, and what became of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from newsrec.cluster.clusters import linkage_named
from newsrec.cluster.levels import Level, check_vectors
from newsrec.cluster.linkage import merge_nearest
from newsrec.cluster.plant import by_vector
from newsrec.errors import DataError
from newsrec.types.clusters import ClusterTree, Labels, dense

Ids = NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class Changes:
    """One level, before and after.

    ``ids (k,)``: the id of each new cluster; ``next_id``: the first that is still free. ``births``:
    ids of clusters without an old article; ``deaths``: ids of which no article is left in a
    cluster; ``merges``: an id and those that it took in; ``splits``: an id and those that its
    articles are found in, itself among them when it goes on.
    """

    ids: Ids
    next_id: int
    births: tuple[int, ...]
    deaths: tuple[int, ...]
    merges: tuple[tuple[int, tuple[int, ...]], ...]
    splits: tuple[tuple[int, tuple[int, ...]], ...]


def follow(old: Labels, old_ids: Ids, new: Labels, next_id: int | None = None) -> Changes:
    """Ids for the clusters ``new (n,)`` of articles of which ``old (m,)``, m ≤ n, had clusters.

    ``old_ids``: the id of each old cluster; ``next_id``: the first free one (default: after the
    largest). A cluster goes on where most of its articles are; of several that go on in one, the
    one that brings most articles gives its id, of equals the lower id. -1 is in no cluster.
    """
    if len(old) > len(new):
        raise DataError(
            f"{len(old)} articles before and {len(new)} now; keep the rows of articles that are "
            "gone, with label -1"
        )
    free = next_id if next_id is not None else int(old_ids.max(initial=-1)) + 1
    both = (old >= 0) & (new[: len(old)] >= 0)
    k_new = int(new.max(initial=-1)) + 1
    pairs, shared = np.unique(
        np.stack([old[both], new[: len(old)][both]], 1), axis=0, return_counts=True
    )
    a, b = pairs[:, 0], pairs[:, 1]
    # The new cluster where an old one goes on: most articles, then the lower number.
    order = np.lexsort((b, -shared, a))
    goes_on = order[np.flatnonzero(np.diff(a[order], prepend=-1))]
    # Of those that go on in one cluster: most articles, then the lower id.
    order = goes_on[np.lexsort((old_ids[a[goes_on]], -shared[goes_on], b[goes_on]))]
    heirs = order[np.flatnonzero(np.diff(b[order], prepend=-1))]
    ids = np.full(k_new, -1, np.int64)
    ids[b[heirs]] = old_ids[a[heirs]]
    fresh = np.flatnonzero(ids < 0)
    ids[fresh] = free + np.arange(len(fresh))
    known = np.bincount(b, minlength=k_new) > 0
    gone = np.setdiff1d(np.arange(len(old_ids)), a)
    return Changes(
        ids,
        free + len(fresh),
        tuple(ids[~known].tolist()),
        tuple(np.sort(old_ids[gone]).tolist()),
        _grouped(ids[b[goes_on]], old_ids[a[goes_on]], leave_out_self=True),
        _grouped(old_ids[a], ids[b], leave_out_self=False),
    )


def extend(
    tree: ClusterTree,
    vectors: NDArray[np.floating],
    *,
    linkage: str = "average",
    published: NDArray[np.datetime64] | None = None,
    window: np.timedelta64 | None = None,
) -> ClusterTree:
    """The tree with new articles: clusters go on from where they were, they are never split.

    ``vectors (n, dim)``: those of the tree's articles first, then the new ones. Clusters of the
    tree merge with new articles and with each other as if they had just been made; a new article
    that equals an old one is where that is. With a ``window``, stories whose last article is older
    than the new ones by more than that are closed and stay as they are. ``published (n,)``; the new
    articles' time is their median, so that one wrong date closes nothing, and a story with an
    article without a time (NaT) stays open. Costs a fraction of a new clustering; do that from time
    to time, and `follow` it.
    """
    linkage_named(linkage)
    n_old, n = len(tree), len(vectors)
    if n < n_old:
        raise DataError(f"vectors: {n} rows, the tree has {n_old} articles")
    check_vectors(vectors, np.arange(n_old, n), sorted(set(tree.dims)))
    rows = np.concatenate([np.flatnonzero(tree.labels[0] >= 0), np.arange(n_old, n)])
    chosen = vectors if len(rows) == n else vectors[rows]
    labels = np.full((tree.n_levels, n), -1, np.int32)
    group: NDArray[np.integer] = np.zeros(len(rows), np.int32)
    levels = [Level(dim, t) for dim, t in zip(tree.dims, tree.thresholds, strict=True)]
    copy, known = _copies(chosen, rows < n_old)
    for level, chosen_level in enumerate(levels):
        start = _alone(tree.labels[level], n)[rows]
        if window is not None and level == tree.n_levels - 1:
            closed = _closed(start, rows, n_old, published, window)
            group = _apart(group, start, closed)
            copy, known = copy[~closed[known]], known[~closed[known]]
        start[copy] = start[known]
        forest = merge_nearest(
            chosen, chosen_level.threshold, linkage,
            dim=chosen_level.dim, group=group, start=dense(start),
        )  # fmt: skip
        labels[level, rows] = group = forest.labels()
    return ClusterTree(labels, tree.dims, tree.thresholds)


def _alone(labels: Labels, n: int) -> NDArray[np.int64]:
    """``(n,)``: the old labels; new articles, and old ones in no cluster, are clusters of one."""
    out = np.full(n, -1, np.int64)
    out[: len(labels)] = labels
    loose = np.flatnonzero(out < 0)
    out[loose] = out.max(initial=-1) + 1 + np.arange(len(loose))
    return out


def _copies(vectors: NDArray[np.floating], old: NDArray[np.bool_]) -> tuple[Ids, Ids]:
    """New rows of ``vectors (n, dim)`` that equal an old one, and the first that they equal."""
    order = by_vector(vectors)
    other = np.ones(len(vectors), np.bool_)
    other[1:] = (vectors[order[1:]] != vectors[order[:-1]]).any(1)
    first = np.empty(len(vectors), np.int64)
    first[order] = order[other][np.cumsum(other) - 1]
    copy = np.flatnonzero(~old & old[first])
    return copy, first[copy]


def _closed(
    start: NDArray[np.int64],
    rows: NDArray[np.int64],
    n_old: int,
    published: NDArray[np.datetime64] | None,
    window: np.timedelta64,
) -> NDArray[np.bool_]:
    """Which articles are in an old story that is too long ago."""
    if published is None or len(published) <= int(rows.max(initial=-1)):
        raise DataError("a window of time needs `published`, a time for every row of vectors")
    times = np.asarray(published, "datetime64[s]")[rows]
    dated = ~np.isnat(times)
    new = times[(rows >= n_old) & dated].astype(np.int64)
    if not len(new):
        return np.zeros(len(rows), np.bool_)
    last = np.full(int(start.max(initial=-1)) + 1, np.iinfo(np.int64).min)
    np.maximum.at(last, start, np.where(dated, times.astype(np.int64), np.iinfo(np.int64).max))
    oldest = np.median(new) - window / np.timedelta64(1, "s")
    return np.asarray((last[start] < oldest) & (rows < n_old))


def _apart(
    group: NDArray[np.integer], start: NDArray[np.int64], closed: NDArray[np.bool_]
) -> NDArray[np.int64]:
    """Groups in which every closed story is alone."""
    return np.where(closed, int(group.max(initial=-1)) + 1 + start, group)


def _grouped(
    keys: Ids, values: Ids, leave_out_self: bool
) -> tuple[tuple[int, tuple[int, ...]], ...]:
    """Keys that stand with two values or more, and these."""
    several: dict[int, list[int]] = {}
    for key, value in zip(keys.tolist(), values.tolist(), strict=True):
        several.setdefault(key, []).append(value)
    return tuple(
        (key, tuple(sorted(v for v in found if not (leave_out_self and v == key))))
        for key, found in sorted(several.items())
        if len(found) > 1
    )


def first_ids(tree: ClusterTree) -> Sequence[Ids]:
    """Ids for a tree that has none yet: the numbers of its clusters, for each level."""
    return [np.arange(k, dtype=np.int64) for k in tree.n_clusters]
