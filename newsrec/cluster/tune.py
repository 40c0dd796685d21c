"""The threshold of a level, from pairs of articles of which somebody said whether they belong
together (paper 000 §4: the best pairwise F1)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from newsrec.cluster.clusters import linkage_named
from newsrec.cluster.levels import Level, check_vectors
from newsrec.cluster.linkage import merge_nearest
from newsrec.cluster.quality import judge_pairs
from newsrec.errors import DataError
from newsrec.types.clusters import Labels


@dataclass(frozen=True, slots=True, eq=False)
class Curve:
    """What each threshold gives at one level: columns ``(n_thresholds,)``, thresholds rising;
    measured on pairs that belong ``together`` and pairs that are ``apart`` at this level."""

    dim: int
    threshold: NDArray[np.float64]
    precision: NDArray[np.float64]
    recall: NDArray[np.float64]
    f1: NDArray[np.float64]
    clusters: NDArray[np.int64]
    together: int = 0
    apart: int = 0

    @property
    def best(self) -> Level:
        """Of the highest F1: the middle of the longest run of thresholds that reach it."""
        reach = np.flatnonzero(self.f1 >= self.f1.max() - 1e-12)
        runs = np.split(reach, np.flatnonzero(np.diff(reach) > 1) + 1)
        longest = max(runs, key=len)
        return Level(self.dim, float(self.threshold[longest[len(longest) // 2]]))


def tune_level(
    vectors: NDArray[np.floating],
    dim: int,
    pairs: NDArray[np.integer],
    same: NDArray[np.bool_],
    *,
    linkage: str = "average",
    within: NDArray[np.integer] | None = None,
    thresholds: Sequence[float] | None = None,
) -> Curve:
    """Pairwise F1 of the clusters at each of ``thresholds`` (default: -0.2 to 0.98 by 0.02).

    ``pairs (m, 2)`` rows of ``vectors``, ``same (m,) bool``; ``within (n,)``: clusters of the level
    above, which are not left. Average linkage is clustered once, down to the lowest threshold, and
    cut at the others; centroid linkage, whose merges depend on the threshold, anew for each.
    """
    grid = np.arange(-0.2, 0.981, 0.02) if thresholds is None else np.sort(np.asarray(thresholds))
    _check_pairs(pairs, same, len(vectors))
    check_vectors(vectors, np.arange(len(vectors)), [dim])
    found: list[Labels] = []
    if linkage_named(linkage).reducible:
        forest = merge_nearest(vectors, float(grid[0]), linkage, dim=dim, group=within)
        found = [forest.labels(float(threshold)) for threshold in grid]
    else:
        for threshold in grid:
            forest = merge_nearest(vectors, float(threshold), linkage, dim=dim, group=within)
            found.append(forest.labels())
    rates = np.array([judge_pairs(labels, pairs, same) for labels in found])
    return Curve(
        dim, grid, rates[:, 0], rates[:, 1], rates[:, 2],
        np.array([int(labels.max(initial=-1)) + 1 for labels in found]),
        int(same.sum()), int((~same).sum()),
    )  # fmt: skip


def tune_levels(
    vectors: NDArray[np.floating],
    dims: Sequence[int],
    pairs: NDArray[np.integer],
    grade: NDArray[np.integer],
    *,
    linkage: str = "average",
    thresholds: Sequence[float] | None = None,
) -> tuple[Curve, ...]:
    """One curve a level, coarse to fine, each inside the best clusters of the one before.

    ``grade (m,)`` says down to which level a pair belongs together: 0 not at all, 1 at the coarsest
    only, ``len(dims)`` at all of them (SemEval's four grades, turned round, for three levels).
    """
    within: Labels | None = None
    curves = []
    for level, dim in enumerate(dims, start=1):
        curve = tune_level(
            vectors, dim, pairs, grade >= level,
            linkage=linkage, within=within, thresholds=thresholds,
        )  # fmt: skip
        curves.append(curve)
        within = merge_nearest(
            vectors, curve.best.threshold, linkage, dim=dim, group=within
        ).labels()
    return tuple(curves)


def pairs_of_stories(
    story: NDArray[np.integer], rng: np.random.Generator, apart: float = 1.0
) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """Labelled pairs from story numbers ``(n,)`` (-1 unknown): ``(pairs (m, 2), same (m,))``.

    All pairs of one story, and ``apart`` times as many random ones of different stories.
    """
    known = np.flatnonzero(story >= 0)
    order = known[np.argsort(story[known], kind="stable")]
    parts = np.split(order, np.flatnonzero(np.diff(story[order])) + 1)
    inside = [np.stack(np.triu_indices(len(rows), 1), 1) for rows in parts]
    together = np.concatenate([rows[at] for rows, at in zip(parts, inside, strict=True)])
    drawn = rng.choice(known, (max(1, round(apart * len(together))), 2)) if len(known) else together
    drawn = drawn[story[drawn[:, 0]] != story[drawn[:, 1]]]
    same = np.zeros(len(together) + len(drawn), np.bool_)
    same[: len(together)] = True
    return np.concatenate([together, drawn]).astype(np.int64), same


def _check_pairs(pairs: NDArray[np.integer], same: NDArray[np.bool_], n: int) -> None:
    if pairs.ndim != 2 or pairs.shape[1] != 2 or same.shape != (len(pairs),) or not len(pairs):
        raise DataError(f"pairs {pairs.shape}, same {same.shape}: expected (m, 2) and (m,), m ≥ 1")
    if pairs.min() < 0 or pairs.max() >= n:
        raise DataError(f"pairs: rows {pairs.min()} to {pairs.max()}, expected 0 … {n - 1}")
    if same.all() or not same.any():
        raise DataError(
            f"all {len(same)} pairs are labelled {'together' if same.all() else 'apart'}; "
            "a threshold needs pairs of both kinds"
        )
