"""Late fusion over MINDsmall-test-shaped impressions, and search in a shelf of a million."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

import numpy as np

from newsrec.rank.funnel import Funnel
from newsrec.rank.fusion import LateFusion
from newsrec.rank.search import Shelf, highest
from newsrec.rank.sides import Side
from newsrec.types import (
    Embeddings,
    EmbeddingSpec,
    EncoderSpec,
    Features,
    Impressions,
    NewsTable,
    Ragged,
)
from tests.bench import Row, best_of, measure

VIEW = "title+abstract"


def rows(quick: bool) -> Iterator[Row]:
    """The lines of the table."""
    yield from fusion_rows(quick)
    yield from search_rows(quick)


def fusion_rows(quick: bool) -> Iterator[Row]:
    """Three ways to the same scores, each in a fresh process so that peak memory is its own."""
    shape = {"n": 500, "n_news": 2000} if quick else {"n": 70_938, "n_news": 42_000}
    ours, _, peak = measure("tests.bench.rank:fusion", how="newsrec", **shape)
    loop, _, loop_peak = measure("tests.bench.rank:fusion", how="loop", **shape)
    some = shape["n"] // 10
    gather, _, gather_peak = measure("tests.bench.rank:fusion", how="gather", some=some, **shape)
    yield Row(
        f"late fusion, {ours['pairs']:,} candidates x 768",
        f"{ours['seconds']:.2f} s",
        "≤ 2 s",
        f"{loop['seconds']:.2f} s (a loop over impressions), peak {loop_peak:.0f} MB",
        loop["seconds"] / ours["seconds"],
        peak,
    )
    whole = gather["seconds"] * ours["pairs"] / gather["pairs"]
    yield Row(
        "late fusion against one gather of all candidates",
        f"{ours['seconds']:.2f} s",
        "",
        f"{whole:.2f} s (a tenth of the impressions, times ten), peak {gather_peak:.0f} MB there",
        whole / ours["seconds"],
        peak,
    )


def mind_like(n: int, n_news: int, dim: int = 768, seed: int = 0) -> tuple[Impressions, Features]:
    """``n`` impressions shaped like MINDsmall's test: 36.6 candidates, 0.7 readers and up to some
    100 clicks a history on average 32; popular articles are shown more often."""
    rng = np.random.default_rng(seed)
    vectors = rng.standard_normal((n_news, dim), dtype=np.float32)
    shown = np.clip(rng.geometric(1 / 36.6, n), 2, 300)
    read = np.clip(rng.geometric(1 / 32, max(1, int(0.7 * n))), 1, 500)

    def lists(lengths: Any) -> Ragged:
        values = n_news * rng.random(int(lengths.sum())) ** 2
        return Ragged.from_lengths(values.astype(np.int32), lengths)

    impressions = Impressions(
        ids=np.arange(n).astype(np.str_),
        user=np.zeros(n, np.int32),
        time=np.zeros(n, "datetime64[s]"),
        history=lists(read),
        history_of=rng.integers(0, len(read), n).astype(np.int32),
        candidates=lists(shown),
    )
    unknown = np.full(n_news, -1)
    news = NewsTable(
        ids=np.arange(n_news).astype(np.str_),
        category=unknown.astype(np.int16),
        subcategory=unknown.astype(np.int16),
        category_names=(),
        subcategory_names=(),
        published=np.full(n_news, "NaT", "datetime64[s]"),
        story=unknown.astype(np.int32),
    )
    encoder = EncoderSpec("generated", "0", dim, "mean", (dim,), normalized=False)
    spec = EmbeddingSpec(encoder, "eng", VIEW, "generated")
    views = {VIEW: Embeddings(vectors, np.ones(n_news, np.bool_), spec)}
    return impressions, Features(news, views, views)


def fusion(how: str, n: int, n_news: int, some: int | None = None) -> dict[str, float]:
    """Seconds of one way to score, best of two; runs in its own process."""
    impressions, features = mind_like(n, n_news)
    if some is not None:
        impressions = impressions.take(np.arange(some))
    score = {"newsrec": LateFusion().score, "loop": loop_scores, "gather": gather_scores}[how]
    seconds = best_of(2, lambda: score(impressions, features))
    return {"seconds": seconds, "pairs": len(impressions.candidates.values)}


def loop_scores(impressions: Impressions, features: Features) -> Any:
    """The straightforward way: one impression after the other."""
    vectors = features.candidates[VIEW].vectors
    scores = []
    for i in range(len(impressions)):
        read = impressions.history[int(impressions.history_of[i])][-50:]
        scores.append(vectors[impressions.candidates[i]] @ vectors[read].mean(0))
    return np.concatenate(scores)


def gather_scores(impressions: Impressions, features: Features) -> Any:
    """All candidates and all readers at once: two (nnz, dim) matrices."""
    vectors = features.candidates[VIEW].vectors
    histories = impressions.history.tail(50)
    sums = np.add.reduceat(vectors[histories.values], histories.offsets[:-1], axis=0)
    readers = sums / histories.lengths[:, None]
    of = impressions.history_of[impressions.candidates.owner()]
    return (vectors[impressions.candidates.values] * readers[of]).sum(1)


def search_rows(quick: bool) -> Iterator[Row]:
    """The funnel against exact FAISS and exact numpy, same process, same queries."""
    n, n_queries = (20_000, 20) if quick else (1_000_000, 50)
    got, _, peak = measure("tests.bench.rank:search", n=n, n_queries=n_queries)
    yield Row(
        f"search in {n:,} x 256, best 100: funnel 64 → 256",
        f"{got['funnel_ms']:.1f} ms, recall@100 {got['recall']:.4f} "
        f"(readers of everything {got['recall_hard']:.4f})",
        "recall@100 ≥ 0.99",
        f"{got['faiss_ms']:.1f} ms (FAISS exact, 256; its copy of the vectors is in the peak)",
        got["faiss_ms"] / got["funnel_ms"],
        peak,
    )
    yield Row(
        "  exact in numpy; level 64 alone; index",
        f"{got['numpy_ms']:.1f} ms; recall@100 {got['recall_64']:.3f}; "
        f"built in {got['build_s']:.0f} s, {got['index_mb']:.0f} MB",
        "",
    )


def levelled(n: int, dim: int, rng: np.random.Generator) -> Any:
    """``(n, dim)`` unit vectors with themes, topics in them and stories in those, whose early
    dimensions carry most, as Matryoshka training makes them."""
    spectrum = (1 + np.arange(dim) / 8).astype(np.float32) ** -0.6
    parents = np.zeros((1, dim), np.float32)
    for n_groups, spread in ((30, 1.0), (600, 0.8), (max(n // 20, 1), 0.7)):
        groups = rng.standard_normal((n_groups, dim), dtype=np.float32) * spread
        parents = parents[rng.integers(0, len(parents), n_groups)] + groups
    out = np.empty((n, dim), np.float32)
    for a in range(0, n, 1 << 16):
        b = min(a + (1 << 16), n)
        x = parents[rng.integers(0, len(parents), b - a)]
        x += 0.7 * rng.standard_normal((b - a, dim), dtype=np.float32)
        x *= spectrum
        out[a:b] = x / np.linalg.norm(x, axis=1, keepdims=True)
    return out


def _reader(side: Side, of_everything: bool, rng: np.random.Generator) -> Any:
    n = len(side)
    if of_everything:
        return side.at(rng.integers(0, n, rng.integers(1, 51))).mean(0)
    near = [
        rng.choice(highest(side.dot(side.at(np.array([i]))[0]), 300), rng.integers(2, 15))
        for i in rng.integers(0, n, rng.integers(1, 4))
    ]
    return side.at(np.concatenate(near)).mean(0)


def search(n: int, n_queries: int, dim: int = 256, k: int = 100) -> dict[str, float]:
    """Every other reader read 1 to 50 articles of anything, so that the query lies between
    clusters (the hard case); the others read around one to three articles."""
    import faiss

    rng = np.random.default_rng(0)
    vectors = levelled(n, dim, rng)
    side = Side(vectors, np.ones(n, np.bool_))
    readers = np.stack([_reader(side, i % 2 == 0, rng) for i in range(n_queries)])
    every = np.arange(n)
    start = time.perf_counter()
    funnel = Funnel.build(side, every, dim // 4)
    build_s = time.perf_counter() - start
    shelves = {"funnel": Shelf(side, every, None, funnel, 0), "numpy": Shelf(side, every)}
    flat = faiss.IndexFlatIP(dim)
    flat.add(vectors)
    short = Side(np.ascontiguousarray(vectors[:, : dim // 4]), side.present)
    lengths = np.linalg.norm(short.vectors, axis=1)
    ways = {
        "funnel": lambda q: shelves["funnel"].top(q, k)[0],
        "numpy": lambda q: shelves["numpy"].top(q, k)[0],
        "faiss": lambda q: flat.search(q[None], k)[1][0],
        "level": lambda q: highest(short.dot(q[: dim // 4]) / lengths, k),
    }
    spent, found = dict.fromkeys(ways, 0.0), {name: [] for name in ways}
    for reader in readers:
        for name, way in ways.items():
            start = time.perf_counter()
            found[name].append(set(way(reader).tolist()))
            spent[name] += time.perf_counter() - start

    def recall(name: str, first: int = 0, step: int = 1) -> float:
        pairs = zip(found[name], found["numpy"], strict=True)
        return float(np.mean([len(a & b) / k for a, b in list(pairs)[first::step]]))

    return {
        **{f"{name}_ms": 1000 * seconds / n_queries for name, seconds in spent.items()},
        "recall": recall("funnel"),
        "recall_hard": recall("funnel", 0, 2),
        "recall_64": recall("level"),
        "build_s": build_s,
        "index_mb": len(faiss.serialize_index(funnel.index)) / 1e6,
    }
