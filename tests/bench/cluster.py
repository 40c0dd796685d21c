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

from newsrec.cluster import Assigner, Level, cluster_levels, compare, extend, merge_nearest
from newsrec.types import ClusterTree
from tests.bench import Row, best_of, measure
from tests.cluster.made import news_like

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


def one_level(n: int, folder: str) -> float:
    """Seconds of average linkage on all dimensions; vectors and labels are left in ``folder``."""
    vectors, _ = news_like(n, DIM, np.random.default_rng(0))
    np.save(f"{folder}/vectors.npy", vectors)
    start = time.perf_counter()
    labels = merge_nearest(vectors, LEVELS[-1].threshold).labels()
    seconds = time.perf_counter() - start
    np.save(f"{folder}/ours.npy", labels)
    return seconds


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
