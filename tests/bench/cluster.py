"""Level-wise clustering of generated news: ours, racplusplus and scikit-learn in the same run."""

from __future__ import annotations

import time
from collections.abc import Iterator
from importlib.util import find_spec
from typing import Any

import numpy as np
from numpy.typing import NDArray

from newsrec.cluster import Assigner, Level, cluster_levels, compare, extend, merge_nearest
from newsrec.types import ClusterTree
from tests.bench import Row, best_of, measure
from tests.cluster.made import news_like

DIM = 768
LEVELS = (Level(DIM // 4, 0.4), Level(DIM // 2, 0.5), Level(DIM, 0.55))


def rows(quick: bool) -> Iterator[Row]:
    """The lines of the table."""
    yield from level_rows(quick)
    yield from reference_rows(quick)
    yield from index_rows(quick)
    yield from stream_rows(quick)


def level_rows(quick: bool) -> Iterator[Row]:
    """Three levels, each in a fresh process so that peak memory is its own."""
    sizes = ((1500, ""), (3000, "")) if quick else ((25_000, "≤ 10 s"), (100_000, "≤ 90 s, ≤ 2 GB"))
    for n, target in sizes:
        for linkage in ("average", "centroid"):
            got, _, peak = measure("tests.bench.cluster:levels", n=n, linkage=linkage)
            yield Row(
                f"three levels, {n:,} x {DIM}, {linkage} linkage: {got['clusters']} clusters, "
                f"F1 with the truth {got['f1']}",
                f"{got['seconds']:.1f} s",
                target if linkage == "average" else "",
                peak_mb=peak,
            )


def reference_rows(quick: bool) -> Iterator[Row]:
    """One level of average linkage against two libraries that hold all distances."""
    others = (
        ("racplusplus", 1500 if quick else 25_000, "≥ 10×, equal partitions"),
        ("sklearn", 1500 if quick else 10_000, ""),
    )
    for name, n, target in others:
        if find_spec(name) is None:
            yield Row(f"one level against {name}", "not measured", target, f"no {name} here")
            continue
        ours, _, peak = measure("tests.bench.cluster:one_level", how="newsrec", n=n)
        theirs, _, their_peak = measure("tests.bench.cluster:one_level", how=name, n=n)
        found, expected = np.array(ours["labels"]), np.array(theirs["labels"])
        yield Row(
            f"average linkage, {n:,} x {DIM}; adjusted Rand with {name} "
            f"{compare(found, expected).adjusted_rand:.6f}",
            f"{ours['seconds']:.1f} s",
            target,
            f"{theirs['seconds']:.1f} s ({name}, peak {their_peak:,.0f} MB)",
            theirs["seconds"] / ours["seconds"],
            peak,
        )


def index_rows(quick: bool) -> Iterator[Row]:
    """Neighbours from an index instead of all pairs."""
    n = 3000 if quick else 100_000
    got, _, peak = measure("tests.bench.cluster:indexed", n=n, exact_below=500 if quick else 40_000)
    yield Row(
        f"themes of {n:,} x {DIM // 4} by an index, recall {got['recall']:.3f}: "
        f"F1 with the exact ones {got['f1']:.4f}",
        f"{got['seconds']:.1f} s",
        "F1 ≥ 0.98",
        f"{got['exact']:.1f} s (all pairs)",
        got["exact"] / got["seconds"],
        peak,
    )


def stream_rows(quick: bool) -> Iterator[Row]:
    """A new article into a large tree, and 30 days of them."""
    n = 3000 if quick else 100_000
    got, _, peak = measure("tests.bench.cluster:placed", n=n)
    yield Row(
        f"one new article into a tree of {n:,}",
        f"{got['median_ms']:.2f} ms, slowest of 200 {got['slowest_ms']:.2f} ms",
        "≤ 5 ms",
        peak_mb=peak,
    )
    n = 1500 if quick else 25_000
    got, _, peak = measure("tests.bench.cluster:thirty_days", n=n)
    yield Row(
        f"30 days, {n // 2:,} articles and as many more: F1 with a new clustering {got['f1']}",
        f"{got['day']:.2f} s a day",
        "F1 ≥ 0.95",
        f"{got['whole']:.2f} s (a new clustering)",
        got["whole"] / got["day"],
        peak,
    )


def levels(n: int, linkage: str) -> dict[str, Any]:
    """Seconds of a whole tree."""
    vectors, truth = news_like(n, DIM, np.random.default_rng(0))
    # A centroid is nearer to its articles than these are to each other.
    raised = 0.0 if linkage == "average" else 0.2
    chosen = [Level(level.dim, level.threshold + raised) for level in LEVELS]
    start = time.perf_counter()
    tree = cluster_levels(vectors, chosen, linkage=linkage).tree
    seconds = time.perf_counter() - start
    return {"seconds": seconds, "clusters": tree.n_clusters, "f1": agreement(tree, truth)}


def agreement(tree: ClusterTree, truth: NDArray[np.int32]) -> list[float]:
    """Pairwise F1 of each level."""
    return [
        round(compare(found, true).f1, 4) for found, true in zip(tree.labels, truth, strict=True)
    ]


def one_level(how: str, n: int) -> dict[str, Any]:
    """Seconds of one way to average linkage on all dimensions, and its labels."""
    vectors, _ = news_like(n, DIM, np.random.default_rng(0))
    wide = vectors.astype(np.float64) if how == "racplusplus" else vectors
    cut = 1 - LEVELS[-1].threshold
    start = time.perf_counter()
    if how == "newsrec":
        labels = merge_nearest(vectors, LEVELS[-1].threshold).labels()
    elif how == "racplusplus":
        import racplusplus

        labels = np.asarray(racplusplus.rac(wide, cut, None, 1000, 2, "cosine"))
    else:
        from sklearn.cluster import AgglomerativeClustering

        labels = AgglomerativeClustering(
            n_clusters=None, metric="cosine", linkage="average", distance_threshold=cut
        ).fit_predict(wide)
    return {"seconds": time.perf_counter() - start, "labels": labels.tolist()}


def indexed(n: int, exact_below: int) -> dict[str, float]:
    """The coarsest level by an index and exactly."""
    from newsrec.cluster import graph

    vectors = news_like(n, DIM, np.random.default_rng(0))[0][:, : DIM // 4]
    graph._EXACT_BELOW = min(graph._EXACT_BELOW, exact_below)
    start = time.perf_counter()
    found = merge_nearest(vectors, LEVELS[0].threshold, exact_below=exact_below)
    middle = time.perf_counter()
    exact = merge_nearest(vectors, LEVELS[0].threshold)
    end = time.perf_counter()
    return {
        "seconds": middle - start,
        "exact": end - middle,
        "recall": found.recall,
        "f1": compare(found.labels(), exact.labels()).f1,
    }


def placed(n: int) -> dict[str, float]:
    """Milliseconds of placing each of 200 new articles into a tree of the true clusters."""
    vectors, truth = news_like(n + 200, DIM, np.random.default_rng(0))
    labels = np.stack([np.unique(row, return_inverse=True)[1] for row in truth[:, :n]])
    tree = ClusterTree(
        labels.astype(np.int32),
        tuple(level.dim for level in LEVELS),
        tuple(level.threshold for level in LEVELS),
    )
    assigner = Assigner(tree, vectors[:n])
    took = [best_of(1, lambda v=v: assigner.place(v)) * 1000 for v in vectors[n:]]
    return {"median_ms": float(np.median(took)), "slowest_ms": max(took)}


def thirty_days(n: int) -> dict[str, Any]:
    """Seconds of a day's new articles, and how the tree at the end compares with a new one."""
    vectors, _ = news_like(n, DIM, np.random.default_rng(0))
    half = n // 2
    tree = cluster_levels(vectors[:half], LEVELS).tree
    start = time.perf_counter()
    for day in range(1, 31):
        tree = extend(tree, vectors[: half + (n - half) * day // 30])
    middle = time.perf_counter()
    whole = cluster_levels(vectors, LEVELS).tree
    end = time.perf_counter()
    return {
        "day": (middle - start) / 30,
        "whole": end - middle,
        "f1": agreement(tree, whole.labels),
    }
