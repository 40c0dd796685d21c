"""A pool of 2,000 candidates re-ranked to its first 20, against the plainest way to the same list.

The reference computes, for every place and every remaining candidate, what its formula says, from
the similarities of all pairs; that is 2,000 × 2,000 cosines before the first place. Lists are
compared in the same run.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from newsrec.rerank.calibrate import kl_terms
from newsrec.rerank.greedy import TIE, Floats, relevance_of, score_order
from newsrec.rerank.mix import Mix
from newsrec.rerank.table import make_reranker
from newsrec.types import Pool
from tests.bench import Row, best_of, measure

WEIGHT = 0.5
OPTIONS: dict[str, dict[str, Any]] = {
    "quota": {"relevance_weight": 0.0, "at_most": {"story": 1, "category": 3}},
    "manner": {"weights": {"category": -1.0}},
}


def rows(quick: bool) -> Iterator[Row]:
    """The lines of the table; each re-ranker in a process of its own."""
    shape = {"n": 200, "dim": 32} if quick else {"n": 2000, "dim": 768}
    for name in ("quota", "mmr", "xquad", "pm2", "dpp", "calibrated", "manner"):
        ours, _, peak = measure("tests.bench.rerank:ours", name=name, **shape)
        plain: dict[str, Any] = {}
        if name in PLAIN:
            plain, _, _ = measure("tests.bench.rerank:reference", name=name, **shape)
            if plain["first"] != ours["first"]:
                raise RuntimeError(f"{name}: ours and the reference differ")
        yield Row(
            f"re-rank {shape['n']:,} × {shape['dim']} to 20: {name}",
            f"{ours['ms']:.2f} ms",
            "≤ 5 ms",
            f"{plain['ms']:.0f} ms (all pairs, every candidate anew)" if plain else "",
            plain["ms"] / ours["ms"] if plain else None,
            peak,
        )


def news_like(n: int, dim: int, seed: int = 0) -> Pool:
    """Candidates in stories of power-law sizes and 18 topics; a history of 50 clicks."""
    rng = np.random.default_rng(seed)
    story = np.minimum(rng.zipf(1.5, n), n) + np.where(rng.random(n) < 0.7, n * rng.random(n), 0)
    story = story.astype(np.int64)
    topic = story % 18
    centres = rng.standard_normal((18, dim))
    stories = rng.standard_normal((int(story.max()) + 1, dim))
    noise = rng.standard_normal((n, dim))
    vectors = (centres[topic] + stories[story] + 0.5 * noise).astype(np.float32)
    taste = rng.dirichlet(np.full(18, 0.3))
    read = rng.choice(18, 50, p=taste)
    return Pool(
        scores=(10 * taste[topic] + rng.standard_normal(n)).astype(np.float32),
        vectors=vectors,
        aspects={"category": topic, "story": story},
        history={"category": read},
    )


def ours(name: str, n: int, dim: int) -> dict[str, Any]:
    """Milliseconds of one list, best of 20, and its first 20."""
    pool = news_like(n, dim)
    reranker = make_reranker(name, **{"relevance_weight": WEIGHT, **OPTIONS.get(name, {})})
    seconds = best_of(20, lambda: reranker(pool))
    return {"ms": 1e3 * seconds, "first": reranker(pool)[:20].tolist()}


def reference(name: str, n: int, dim: int) -> dict[str, Any]:
    """The same of the plain way, best of three."""
    pool = news_like(n, dim)
    first: list[int] = []
    seconds = best_of(3, lambda: first.extend(PLAIN[name](pool)))
    return {"ms": 1e3 * seconds, "first": first[:20]}


def _plainly(pool: Pool, bonus: Callable[[list[int], int], float]) -> list[int]:
    """Twenty places, every candidate tried at each; ties in score order."""
    relevance, left = relevance_of(pool), score_order(pool).tolist()
    head: list[int] = []
    for _ in range(20):
        tried = np.array([WEIGHT * relevance[i] + (1 - WEIGHT) * bonus(head, i) for i in left])
        head.append(left.pop(int(np.argmax(tried >= tried.max() - TIE))))
    return head


def _pairs(pool: Pool) -> Floats:
    vectors = np.asarray(pool.vectors, np.float64)
    unit = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    return np.asarray(unit @ unit.T)


def _mmr(pool: Pool) -> list[int]:
    cosine = _pairs(pool)
    return _plainly(pool, lambda head, i: -cosine[i, head].max() if head else 0.0)


def _dpp(pool: Pool) -> list[int]:
    similar = (1 + _pairs(pool)) / 2

    def bonus(head: list[int], i: int) -> float:
        chosen = [*head, i]
        return float(np.linalg.slogdet(similar[np.ix_(chosen, chosen)])[1])

    return _plainly(pool, bonus)


def _calibrated(pool: Pool) -> list[int]:
    mix = Mix.in_pool(pool, "category")

    def bonus(head: list[int], i: int) -> float:
        mass = np.zeros(len(mix.history))
        np.add.at(mass, mix.of[[*head, i]], 1 / np.arange(1, len(head) + 2))
        return -float(kl_terms(mix.history, mass / mass.sum()).sum())

    return _plainly(pool, bonus)


PLAIN: dict[str, Callable[[Pool], list[int]]] = {
    "mmr": _mmr,
    "dpp": _dpp,
    "calibrated": _calibrated,
}
