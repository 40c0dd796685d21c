"""How long an evaluation takes at the size of MINDsmall's test split (generated data)."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

import numpy as np

from newsrec.evaluate.run import Shown, evaluate
from newsrec.evaluate.significance import intervals, permutation_p
from newsrec.types import (
    Embeddings,
    EmbeddingSpec,
    EncoderSpec,
    Features,
    Impressions,
    NewsTable,
    Provenance,
    Ragged,
)
from tests.bench import Row, measure

#: MINDsmall test: impressions, articles, dimensions of LaBSE and NaSE, mean length of a list.
FULL = {"n": 70_938, "n_news": 42_416, "dim": 768}
QUICK = {"n": 1_500, "n_news": 1_000, "dim": 64}
_MEAN_CANDIDATES, _MEAN_HISTORY, _READERS = 37, 33, 0.69
_PROVENANCE = Provenance("", {}, "", "generated", {}, "newsrec", 42)


def shaped(n: int, n_news: int, dim: int) -> tuple[Impressions, Features]:
    """Impressions with the lengths of MIND's lists (long tails) and random vectors."""
    rng = np.random.default_rng(42)
    lengths = np.minimum(rng.geometric(1 / (_MEAN_CANDIDATES - 1), n) + 1, 300)
    candidates = Ragged.from_lengths(
        rng.integers(0, n_news, lengths.sum(), dtype=np.int32), lengths
    )
    clicked = rng.random(len(candidates.values)) < 0.01
    clicked[candidates.offsets[:-1] + rng.integers(0, lengths)] = True
    readers = int(n * _READERS)
    sizes = np.minimum(rng.geometric(1 / _MEAN_HISTORY, readers), 500)
    history = Ragged.from_lengths(rng.integers(0, n_news, sizes.sum(), dtype=np.int32), sizes)
    user = rng.integers(0, readers, n).astype(np.int32)
    impressions = Impressions(
        ids=np.arange(n).astype(np.str_),
        user=user,
        time=np.full(n, np.datetime64("2019-11-15", "s")),
        history=history,
        history_of=user,
        candidates=candidates,
        clicked=clicked,
    )
    news = NewsTable(
        ids=np.arange(n_news).astype(np.str_),
        category=rng.integers(0, 18, n_news).astype(np.int16),
        subcategory=rng.integers(0, 270, n_news).astype(np.int16),
        category_names=tuple(f"c{i}" for i in range(18)),
        subcategory_names=tuple(f"s{i}" for i in range(270)),
        published=np.full(n_news, np.datetime64("NaT"), "datetime64[s]"),
        story=np.full(n_news, -1, np.int32),
    )
    spec = EncoderSpec("random", "1", dim, "none", (dim,), normalized=False)
    vectors = rng.standard_normal((n_news, dim), dtype=np.float32)
    found = Embeddings(
        vectors, np.ones(n_news, np.bool_), EmbeddingSpec(spec, "eng", "title", "generated")
    )
    return impressions, Features(news, {"title": found}, {"title": found})


def ours(metrics: list[str], times: int, **size: int) -> dict[str, Any]:
    """Seconds to score and to measure, best of ``times``, after loading."""
    from newsrec.rank.fusion import LateFusion

    impressions, features = shaped(**size)
    shown = Shown(
        impressions, np.arange(len(impressions)), features.news,
        vectors=features.candidates["title"].vectors,
    )  # fmt: skip
    ranker, best = LateFusion(view="title"), (float("inf"), 0.0, 0.0)
    for _ in range(times):
        start = time.perf_counter()
        scores = ranker.score(impressions, features)
        middle = time.perf_counter()
        report = evaluate(scores, shown, _PROVENANCE, np.random.default_rng(0), metrics)
        end = time.perf_counter()
        best = min(best, (end - start, middle - start, end - middle))
    means = {name: float(value) for name, value in report.mean().items()}
    total, scoring, measuring = best
    return {
        "total": total, "scoring": scoring, "measuring": measuring, "means": means,
        "candidates": len(impressions.candidates.values),
    }  # fmt: skip


def one_by_one(sample: int, **size: int) -> dict[str, Any]:
    """Seconds of a loop over ``sample`` impressions with scikit-learn, for all of them: the same
    metrics, pooled ones apart."""
    from sklearn.metrics import ndcg_score, roc_auc_score

    impressions, features = shaped(**size)
    vectors = features.candidates["title"].vectors
    chosen = np.linspace(0, len(impressions) - 1, sample).astype(int)
    assert impressions.clicked is not None
    names = ("auc", "mrr", "mrr_mind", "ndcg@5", "ndcg@10", "hit@5", "hit@10", "recall@10")
    found: dict[str, list[float]] = {name: [] for name in names}
    start = time.perf_counter()
    for i in chosen:
        history = impressions.history[int(impressions.history_of[i])][-50:]
        scores = vectors[impressions.candidates[int(i)]] @ vectors[history].mean(axis=0)
        low, high = impressions.candidates.offsets[i : i + 2]
        labels = impressions.clicked[low:high]
        ranked = labels[np.argsort(-scores, kind="stable")]
        places = np.flatnonzero(ranked) + 1
        if not labels.all():
            found["auc"].append(float(roc_auc_score(labels, scores)))
        found["mrr"].append(1 / places[0])
        found["mrr_mind"].append(float(np.mean(1 / places)))
        for k in (5, 10):
            value = ndcg_score([labels], [scores], k=k, ignore_ties=True)
            found[f"ndcg@{k}"].append(float(value))
        found["hit@5"].append(float(ranked[:5].any()))
        found["hit@10"].append(float(ranked[:10].any()))
        found["recall@10"].append(ranked[:10].sum() / len(places))
    seconds = time.perf_counter() - start
    return {
        "seconds": seconds * len(impressions) / sample,
        "means": {name: float(np.mean(values)) for name, values in found.items()},
    }


def statistics(n: int, m: int) -> dict[str, float]:
    """Seconds of intervals of ``m`` metrics and of a paired test of four."""
    rng = np.random.default_rng(0)
    values = rng.random((n, m))
    start = time.perf_counter()
    intervals(values, rng)
    middle = time.perf_counter()
    permutation_p(values[:, :4] - 0.5, rng)
    return {"intervals": middle - start, "test": time.perf_counter() - middle}


def rows(quick: bool) -> Iterator[Row]:
    """Score and measure against a loop; then what the accuracy target leaves out."""
    size, times, sample = (QUICK, 1, 50) if quick else (FULL, 3, 400)
    accuracy = ["accuracy", "newsreclib"]
    fast, theirs, peak = None, None, 0.0
    for _ in range(1 if quick else 2):
        mine, _, used = measure("tests.bench.evaluate:ours", metrics=accuracy, times=times, **size)
        loop, _, _ = measure("tests.bench.evaluate:one_by_one", sample=sample, **size)
        fast = mine if fast is None or mine["total"] < fast["total"] else fast
        theirs = loop if theirs is None or loop["seconds"] < theirs["seconds"] else theirs
        peak = max(peak, used)
    assert fast is not None
    assert theirs is not None
    shape = f"{size['n']:,} × {size['dim']}, {fast['candidates'] / 1e6:.2f} M candidates"
    yield Row(
        f"score and measure accuracy, {shape}",
        f"{fast['total']:.2f} s ({fast['scoring']:.2f} + {fast['measuring']:.2f})",
        "≤ 4 s, ≤ 1,500 MB, ≥ 100×",
        f"scikit-learn, one by one: {theirs['seconds']:.0f} s",
        theirs["seconds"] / fast["total"],
        peak,
    )
    more, _, peak = measure(
        "tests.bench.evaluate:ours", metrics=["diversity", "radio"], times=1, **size
    )
    yield Row("diversity and RADio, same size", f"{more['measuring']:.2f} s", "", peak_mb=peak)
    found, _, peak = measure("tests.bench.evaluate:statistics", n=size["n"], m=17)
    told = f"{found['intervals']:.2f} s + {found['test']:.2f} s"
    yield Row("intervals of 17 metrics + paired test of 4", told, "", peak_mb=peak)
