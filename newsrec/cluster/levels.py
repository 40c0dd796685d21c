"""Themes, topics, stories: one clustering a level, each inside the one before (paper 000 §4)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from newsrec.cluster.clusters import linkage_named
from newsrec.cluster.forest import Forest
from newsrec.cluster.linkage import EXACT_BELOW, merge_nearest
from newsrec.errors import ConfigError, DataError, unknown_name
from newsrec.types.clusters import ClusterTree, Labels
from newsrec.types.embeddings import Embeddings, EncoderSpec

DIRECTIONS = ("refine", "merge")


@dataclass(frozen=True, slots=True)
class Level:
    """Look at the first ``dim`` dimensions, merge down to a cosine of ``threshold``."""

    dim: int
    threshold: float


@dataclass(frozen=True, slots=True, eq=False)
class Hierarchy:
    """The ``tree``, and how it came about: one forest of merges a level, coarse to fine."""

    tree: ClusterTree
    forests: tuple[Forest, ...]

    @property
    def recall(self) -> float:
        """1 when every search was exact; else the worst measured share of neighbours found."""
        return min(forest.recall for forest in self.forests)


def cluster_embeddings(
    embeddings: Embeddings,
    thresholds: Sequence[float],
    dims: Sequence[int] | None = None,
    *,
    linkage: str = "average",
    direction: str = "refine",
    any_order: bool = False,
) -> Hierarchy:
    """The tree of an encoder's vectors; articles without text are in no cluster.

    ``thresholds``: one a level, coarse to fine; ``dims``: Matryoshka sizes of the encoder, one a
    level (default: its finest ones, and all dimensions where it has fewer than there are levels).
    Raises `ConfigError` for a size that the encoder was not made for.
    """
    chosen = dims_of(embeddings.spec.encoder, len(thresholds), dims)
    levels = levels_of(thresholds, chosen, any_order=any_order)
    return cluster_levels(
        embeddings.vectors, levels, linkage=linkage, direction=direction, present=embeddings.present
    )


def dims_of(
    encoder: EncoderSpec, n_levels: int, dims: Sequence[int] | None = None
) -> tuple[int, ...]:
    """``dims``, or the finest Matryoshka sizes of ``encoder``, coarse to fine (all dimensions where
    it has fewer than there are levels). `ConfigError` for a size that it was not made for."""
    sizes = encoder.levels
    chosen = dims or (*sizes[-n_levels:], *[sizes[-1]] * (n_levels - len(sizes)))
    for dim in chosen:
        if dim not in sizes:
            known = ", ".join(map(str, sizes))
            raise ConfigError(f"{encoder.name} has no level of {dim} dimensions; it has {known}")
    return tuple(chosen)


def levels_of(
    thresholds: Sequence[float], dims: Sequence[int], *, any_order: bool = False
) -> tuple[Level, ...]:
    """Levels, coarse to fine. `ConfigError` for thresholds or sizes that make no hierarchy.

    Thresholds must rise: what is finer asks for more similarity. ``any_order`` allows other
    thresholds for slices that were tuned one by one; nested the levels are in any case.
    """
    if not len(thresholds) or len(dims) != len(thresholds):
        raise ConfigError(
            f"{len(thresholds)} thresholds and {len(dims)} dims; expected one of each a level, "
            "coarse to fine"
        )
    for threshold in thresholds:
        if not _is_a(Real, threshold) or not -1 <= threshold <= 1:
            raise ConfigError(f"threshold {threshold!r}: expected a cosine, from -1 to 1")
    if not all(_is_a(Integral, dim) and not _is_a(bool, dim) for dim in dims):
        raise ConfigError(f"dims {tuple(dims)}: expected whole numbers")
    if list(dims) != sorted(dims) or dims[0] < 1:
        raise ConfigError(
            f"dims {tuple(dims)}: expected sizes that never fall, coarse to fine; a finer level "
            "looks at more dimensions"
        )
    if list(thresholds) != sorted(thresholds) and not any_order:
        raise ConfigError(
            f"thresholds {tuple(thresholds)} fall from one level to the next. They go coarse to "
            "fine: themes need little similarity, stories much, so expected "
            f"{tuple(sorted(thresholds))}. If each was tuned for its own slice, say so: "
            "any_order (--any-order)"
        )
    return tuple(Level(int(d), float(t)) for d, t in zip(dims, thresholds, strict=True))


def _is_a(kind: type, given: Any) -> bool:
    """What callers give is not always of the declared type."""
    return isinstance(given, kind)


def cluster_levels(
    vectors: NDArray[np.floating],
    levels: Sequence[Level],
    *,
    linkage: str = "average",
    direction: str = "refine",
    present: NDArray[np.bool_] | None = None,
    exact_below: int = EXACT_BELOW,
) -> Hierarchy:
    """The tree of the rows of ``vectors (n, dim)``, of any length but zero, in any float format.

    ``direction``: ``refine`` clusters everything at the coarsest level and every cluster again at
    the next (paper 000 §4); ``merge`` clusters everything at the finest level and merges its
    clusters, weighted by their articles, at the next coarser (its Algorithm 1). ``present (n,)``:
    rows to cluster (default: all). Raises `DataError` that names rows with NaN or without length.
    """
    linkage_named(linkage)
    if direction not in DIRECTIONS:
        raise unknown_name("direction", direction, DIRECTIONS)
    rows = np.arange(len(vectors)) if present is None else np.flatnonzero(present)
    check_vectors(vectors, rows, sorted({level.dim for level in levels}))
    chosen = vectors if len(rows) == len(vectors) else vectors[rows]
    order = list(levels) if direction == "refine" else list(reversed(levels))
    inner: list[Labels] = []
    forests = []
    for level in order:
        given = inner[-1] if inner else None
        forest = merge_nearest(
            chosen,
            level.threshold,
            linkage,
            dim=level.dim,
            group=given if direction == "refine" else None,
            start=given if direction == "merge" else None,
            exact_below=exact_below,
        )
        forests.append(forest)
        inner.append(forest.labels())
    if direction == "merge":
        inner.reverse()
        forests.reverse()
    labels = np.full((len(levels), len(vectors)), -1, np.int32)
    labels[:, rows] = inner
    tree = ClusterTree(
        labels, tuple(level.dim for level in levels), tuple(level.threshold for level in levels)
    )
    return Hierarchy(tree, tuple(forests))


def check_vectors(
    vectors: NDArray[np.floating], rows: NDArray[np.int64], dims: Sequence[int]
) -> None:
    """`DataError` naming the first of ``rows`` with NaN or infinity, or zero in a slice."""
    if vectors.ndim != 2 or not np.issubdtype(vectors.dtype, np.floating):
        raise DataError(f"vectors: {vectors.dtype} {vectors.shape}, expected float (n, dim)")
    if dims[-1] > vectors.shape[1]:
        raise ConfigError(f"level of {dims[-1]} dimensions: the vectors have {vectors.shape[1]}")
    for chunk in _chunks(rows):
        block = np.asarray(vectors[chunk, : dims[-1]])
        _refuse(chunk[~np.isfinite(block).all(1)], "has NaN or infinity", "encode it again")
        for dim in dims:
            _refuse(
                chunk[~(block[:, :dim] != 0).any(1)],
                f"is zero in its first {dim} dimensions",
                "leave articles without text out with `present`",
            )


def _chunks(rows: NDArray[np.int64]) -> Iterator[NDArray[np.int64]]:
    for start in range(0, len(rows), 16_384):
        yield rows[start : start + 16_384]


def _refuse(rows: NDArray[np.int64], what: str, remedy: str) -> None:
    if len(rows):
        named = ", ".join(map(str, rows[:5]))
        raise DataError(
            f"vectors: row {named}{' …' if len(rows) > 5 else ''} {what} "
            f"({len(rows)} such rows found so far); {remedy}"
        )
