"""Level-wise clustering of generated news: ours, racplusplus and scikit-learn in the same run."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from numpy.typing import NDArray

from newsrec.cluster import (
    LINKAGES,
    Assigner,
    Level,
    cluster_levels,
    compare,
    extend,
    follow,
    merge_nearest,
)
from newsrec.types import ClusterTree
from tests.bench import Row, best_of, measure
from tests.cluster.made import days_of, news_like, write_news

DIM = 768
LEVELS = (Level(DIM // 4, 0.4), Level(DIM // 2, 0.5), Level(DIM, 0.55))


_CODE = {
    name: f"""
import json, resource, sys, time
import numpy as np
folder, cut = sys.argv[1], float(sys.argv[2])
vectors = np.load(folder + "/vectors.npy").astype(np.float64)
{imports}
start = time.perf_counter()
labels = {call}
seconds = time.perf_counter() - start
np.save(folder + "/theirs.npy", np.asarray(labels))
peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
print("\\n" + json.dumps({{"seconds": seconds, "peak_mb": peak}}))
"""
    for name, imports, call in (
        (
            "racplusplus",
            "import racplusplus",
            'racplusplus.rac(vectors, cut, None, 1000, 2, "cosine")',
        ),
        (
            "sklearn",
            "from sklearn.cluster import AgglomerativeClustering as HAC",
            'HAC(n_clusters=None, metric="cosine", linkage="average", distance_threshold=cut)'
            ".fit_predict(vectors)",
        ),
    )
}


def rows(quick: bool) -> Iterator[Row]:
    """The lines of the table."""
    yield from level_rows(quick)
    yield from reference_rows(quick)
    yield from index_rows(quick)
    yield from stream_rows(quick)


def level_rows(quick: bool) -> Iterator[Row]:
    """Three levels, each in a fresh process so that peak memory is its own."""
    sizes: tuple[tuple[int, str, str, str], ...] = (
        (25_000, "float32", "average", "≤ 10 s"),
        (25_000, "float32", "centroid", ""),
        (100_000, "float32", "average", "≤ 90 s, ≤ 2 GB"),
        (1_000_000, "float16", "average", "≤ 1,800 s, ≤ 8 GB"),
    )
    if quick:
        sizes = tuple((n, "float32", kind, "") for n in (1500, 3000) for kind in LINKAGES)
    for n, dtype, linkage, target in sizes:
        with TemporaryDirectory() as folder:
            measure("tests.bench.cluster:write", n=n, dtype=dtype, folder=folder)
            got, _, peak = measure("tests.bench.cluster:levels", linkage=linkage, folder=folder)
        yield Row(
            f"three levels, {n:,} x {DIM} {dtype}, {linkage} linkage: {got['clusters']} clusters, "
            f"F1 with the truth {got['f1']}, recall {got['recall']:.4f}",
            f"{got['seconds']:.1f} s",
            target,
            peak_mb=peak,
        )


def reference_rows(quick: bool) -> Iterator[Row]:
    """One level of average linkage against two libraries that hold all distances.

    racplusplus 0.1.1 crashes beside numpy 2: the environment variable `RACPLUSPLUS_PYTHON` names an
    interpreter that has it with an older one.
    """
    others = (
        ("racplusplus", 1500 if quick else 25_000, "≥ 10×, equal partitions"),
        ("sklearn", 1500 if quick else 10_000, ""),
    )
    for name, n, target in others:
        python = os.environ.get("RACPLUSPLUS_PYTHON") if name == "racplusplus" else sys.executable
        if python is None:
            yield Row(f"one level against {name}", "not measured", target, "RACPLUSPLUS_PYTHON")
            continue
        with TemporaryDirectory() as folder:
            ours, _, peak = measure("tests.bench.cluster:one_level", n=n, folder=folder)
            done = subprocess.run(
                [python, "-c", _CODE[name], folder, str(1 - LEVELS[-1].threshold)],
                check=True,
                capture_output=True,
                text=True,
            )
            theirs = json.loads(done.stdout.strip().splitlines()[-1])
            found, expected = (np.load(f"{folder}/{who}.npy") for who in ("ours", "theirs"))
        yield Row(
            f"average linkage, {n:,} x {DIM}; adjusted Rand with {name} "
            f"{compare(found, expected).adjusted_rand:.6f}",
            f"{ours:.1f} s",
            target,
            f"{theirs['seconds']:.1f} s ({name}, peak {theirs['peak_mb']:,.0f} MB)",
            theirs["seconds"] / ours,
            peak,
        )


def index_rows(quick: bool) -> Iterator[Row]:
    """Neighbours from cells instead of all pairs, at the level where all articles are together."""
    n = 3000 if quick else 100_000
    got, _, peak = measure(
        "tests.bench.cluster:by_cells", n=n, exact_below=500 if quick else 40_000
    )
    yield Row(
        f"three levels, {n:,} x {DIM} by cells, recall {got['recall']:.4f}: "
        f"F1 with the exact ones {got['f1']}",
        f"{got['seconds']:.1f} s",
        "F1 ≥ 0.98",
        f"{got['exact']:.1f} s (all pairs)",
        got["exact"] / got["seconds"],
        peak,
    )


def stream_rows(quick: bool) -> Iterator[Row]:
    """A new article into a large tree, and 30 days of them."""
    n = 3000 if quick else 100_000
    got, _, peak = measure("tests.bench.cluster:placed", n=n, new=100 if quick else 1000)
    yield Row(
        f"one new article into a tree of {n:,}",
        f"median {got['median_ms']:.2f} ms, 99 of 100 within {got['p99_ms']:.2f} ms",
        "≤ 5 ms",
        peak_mb=peak,
    )
    n = 1500 if quick else 25_000
    got, _, peak = measure("tests.bench.cluster:thirty_days", n=n)
    told = ", ".join(f"{count:,} {what}" for what, count in got["told"].items())
    yield Row(
        f"30 days, {got['before']:,} articles and {got['new']:,} more: F1 with a new clustering "
        f"{got['f1']} by `extend`, {got['f1_placed']} one at a time; stories: {told}",
        f"{got['day']:.2f} s a day",
        "F1 ≥ 0.95",
        f"{got['whole']:.2f} s (a new clustering)",
        got["whole"] / got["day"],
        peak,
    )


def write(n: int, dtype: str, folder: str) -> None:
    """Generated news as a file, and its labels."""
    file = f"{folder}/vectors.npy"
    vectors = np.lib.format.open_memmap(file, "w+", np.dtype(dtype), (n, DIM))
    np.save(f"{folder}/labels.npy", write_news(vectors, np.random.default_rng(0)))
    vectors.flush()


def levels(linkage: str, folder: str) -> dict[str, Any]:
    """Seconds of a whole tree."""
    vectors = np.load(f"{folder}/vectors.npy", mmap_mode="r")
    # A centroid is nearer to its articles than these are to each other.
    raised = 0.0 if linkage == "average" else 0.2
    chosen = [Level(level.dim, level.threshold + raised) for level in LEVELS]
    start = time.perf_counter()
    made = cluster_levels(vectors, chosen, linkage=linkage)
    seconds = time.perf_counter() - start
    return {
        "seconds": seconds,
        "clusters": made.tree.n_clusters,
        "recall": made.recall,
        "f1": agreement(made.tree, np.load(f"{folder}/labels.npy")),
    }


def agreement(tree: ClusterTree, truth: NDArray[np.int32]) -> list[float]:
    """Pairwise F1 of each level."""
    return [
        round(compare(found, true).f1, 4) for found, true in zip(tree.labels, truth, strict=True)
    ]


def one_level(n: int, folder: str) -> float:
    """Seconds of average linkage on all dimensions; vectors and labels are left in ``folder``."""
    vectors, _ = news_like(n, DIM, np.random.default_rng(0))
    np.save(f"{folder}/vectors.npy", vectors)
    start = time.perf_counter()
    labels = merge_nearest(vectors, LEVELS[-1].threshold).labels()
    seconds = time.perf_counter() - start
    np.save(f"{folder}/ours.npy", labels)
    return seconds


def by_cells(n: int, exact_below: int) -> dict[str, Any]:
    """A tree whose coarsest level looks at near cells only, and the exact one."""
    from newsrec.cluster import cells

    vectors, _ = news_like(n, DIM, np.random.default_rng(0))
    cells._EXACT_BELOW = min(cells._EXACT_BELOW, exact_below)
    cells._CELL = min(cells._CELL, exact_below // 8)
    start = time.perf_counter()
    found = cluster_levels(vectors, LEVELS, exact_below=exact_below)
    middle = time.perf_counter()
    exact = cluster_levels(vectors, LEVELS, exact_below=n + 1)
    end = time.perf_counter()
    return {
        "seconds": middle - start,
        "exact": end - middle,
        "recall": found.recall,
        "f1": agreement(found.tree, exact.tree.labels),
    }


def placed(n: int, new: int) -> dict[str, float]:
    """Milliseconds of placing each of some new articles into a tree of the true clusters."""
    vectors, truth = news_like(n + new, DIM, np.random.default_rng(0))
    labels = np.stack([np.unique(row, return_inverse=True)[1] for row in truth[:, :n]])
    assigner = Assigner(_tree(labels.astype(np.int32)), vectors[:n])
    took = [best_of(1, lambda v=v: assigner.place(v)) * 1000 for v in vectors[n:]]
    return {"median_ms": float(np.median(took)), "p99_ms": float(np.percentile(took, 99))}


def _tree(labels: NDArray[np.int32]) -> ClusterTree:
    return ClusterTree(
        labels,
        tuple(level.dim for level in LEVELS),
        tuple(level.threshold for level in LEVELS),
    )


def thirty_days(n: int) -> dict[str, Any]:
    """Seconds of a day's new articles, how the tree at the end compares with a new one, and what
    was told of its stories."""
    rng = np.random.default_rng(0)
    vectors, truth = news_like(n, DIM, rng)
    day = days_of(truth[-1], 60, rng)
    vectors, day = vectors[np.argsort(day, kind="stable")], np.sort(day)
    first = int(np.searchsorted(day, 30))
    before = cluster_levels(vectors[:first], LEVELS).tree
    tree, ids, free = before, np.arange(before.n_clusters[-1]), None
    told = dict.fromkeys(("births", "merges", "splits", "deaths"), 0)
    seconds = 0.0
    for today in range(30, 60):
        start = time.perf_counter()
        grown = extend(tree, vectors[: np.searchsorted(day, today, side="right")])
        seconds += time.perf_counter() - start
        changes = follow(tree.labels[-1], ids, grown.labels[-1], free)
        tree, ids, free = grown, changes.ids, changes.next_id
        told = {what: count + len(getattr(changes, what)) for what, count in told.items()}
    start = time.perf_counter()
    whole = cluster_levels(vectors, LEVELS).tree
    new = time.perf_counter() - start
    assigner = Assigner(before, vectors[:first])
    for vector in vectors[first:]:
        assigner.place(vector)
    return {
        "before": first,
        "new": n - first,
        "day": seconds / 30,
        "whole": new,
        "f1": agreement(tree, whole.labels),
        "f1_placed": agreement(assigner.tree(), whole.labels),
        "told": told,
    }
