"""Impressions as re-rankers see them, and re-ranked impressions as scores."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial

import numpy as np
from numpy.typing import NDArray

from newsrec.errors import DataError
from newsrec.evaluate.diversity import ASPECTS
from newsrec.evaluate.run import Shown
from newsrec.protocols import Reranker
from newsrec.rerank.greedy import Weighted
from newsrec.rerank.table import aspects_of, reads_vectors
from newsrec.types import NewsTable, Pool

Scores = NDArray[np.float32]
Orders = Callable[[Pool, Sequence[float]], NDArray[np.int64]]
#: Name to the class of each article, ``(n_news,)``, -1 unknown.
Aspects = Mapping[str, NDArray[np.integer]]


def table_aspects(news: NewsTable) -> dict[str, NDArray[np.integer]]:
    """Category, subcategory and story, where the table knows them of any article."""
    columns = {name: getattr(news, name) for name in ASPECTS}
    return {name: classes for name, classes in columns.items() if np.any(classes >= 0)}


def known_aspects(shown: Shown) -> dict[str, NDArray[np.integer]]:
    """`table_aspects` and the levels of a cluster tree, which win where both know a story."""
    return {**table_aspects(shown.news), **shown.aspects}


def pools(scores: Scores, shown: Shown, aspects: Aspects | None = None) -> Iterator[Pool]:
    """One `Pool` per impression of ``shown``, with ``scores (nnz,)``.

    ``aspects``: classes of all news (default: `known_aspects`). Raises `DataError` for scores or
    aspects of another length.
    """
    impressions, news = shown.impressions, shown.news
    lists, histories = impressions.candidates, impressions.history
    if scores.shape != lists.values.shape:
        raise DataError(f"scores: {scores.shape}, expected {lists.values.shape} (one each)")
    known = known_aspects(shown) if aspects is None else aspects
    for name, classes in known.items():
        if classes.shape != (len(news),):
            raise DataError(f"aspect {name!r}: {classes.shape}, expected ({len(news)},)")
    scored = lists.like(scores)
    for i, rows in enumerate(lists):
        read = histories[int(impressions.history_of[i])]
        try:
            yield Pool(
                scores=scored[i],
                vectors=None if shown.vectors is None else shown.vectors[rows],
                aspects={name: classes[rows] for name, classes in known.items()},
                history={name: classes[read] for name, classes in known.items()},
                language=None if shown.language is None else shown.language[rows],
                languages=shown.languages,
            )
        except DataError as error:
            raise DataError(f"impression {str(impressions.ids[i])!r}: {error}") from None


def reranked(
    rerankers: Sequence[Reranker], scores: Scores, shown: Shown, aspects: Aspects | None = None
) -> NDArray[np.float32]:
    """``(len(rerankers), nnz)``: minus each candidate's place in the list of each re-ranker, to be
    measured or ranked like scores. `DataError` for a re-ranker that loses a candidate.

    Re-rankers that differ in relevance weight alone are asked together.
    """
    found = np.full((len(rerankers), len(scores)), np.nan, np.float32)
    offsets = shown.impressions.candidates.offsets
    families = list(_families(rerankers))
    lean, read = _only_what_is_read(rerankers, shown, aspects)
    places = -np.arange(shown.impressions.candidates.lengths.max(initial=0), dtype=np.float32)
    for start, pool in zip(offsets, pools(scores, lean, read), strict=False):
        for one, rows, weights in families:
            orders = one(pool, weights)
            found[rows, start + orders] = places[: orders.shape[1]]
    for reranker, lost in zip(rerankers, np.isnan(found).sum(axis=1), strict=True):
        if lost:
            raise DataError(f"{reranker}: lost {lost} of {len(scores)} candidates, expected none")
    return found


def _families(
    rerankers: Sequence[Reranker],
) -> Iterator[tuple[Orders, NDArray[np.int64], tuple[float, ...]]]:
    """What gives the orders ``(m, n)`` of those that differ in relevance weight alone, their
    numbers ``(m, 1)``, and their weights."""
    kinds: list[tuple[Reranker, list[int], list[float]]] = []
    for i, reranker in enumerate(rerankers):
        if not isinstance(reranker, Weighted):
            kinds.append((reranker, [i], []))
            continue
        same = replace(reranker, relevance_weight=1.0)  # type: ignore[type-var]
        kind = next((kind for kind in kinds if kind[2] and kind[0] == same), None)
        if kind is None:
            kind = (same, [], [])
            kinds.append(kind)
        kind[1].append(i)
        kind[2].append(reranker.relevance_weight)
    for one, rows, weights in kinds:
        orders = one.orders if isinstance(one, Weighted) else partial(_alone, one)
        yield orders, np.asarray(rows)[:, None], tuple(weights)


def _alone(reranker: Reranker, pool: Pool, weights: Sequence[float]) -> NDArray[np.int64]:
    return reranker(pool)[None]


def _only_what_is_read(
    rerankers: Sequence[Reranker], shown: Shown, aspects: Aspects | None
) -> tuple[Shown, Aspects]:
    """Without vectors and aspects that none of ``rerankers`` looks at; all for one of another
    kind, of which nobody knows what it does."""
    known = known_aspects(shown) if aspects is None else aspects
    if not all(isinstance(reranker, Weighted) for reranker in rerankers):
        return shown, known
    read = {aspect for reranker in rerankers for aspect in aspects_of(reranker)}
    vectors = shown.vectors if any(map(reads_vectors, rerankers)) else None
    # What is missing is told by the re-ranker, beside what there is.
    read = read if read <= set(known) else set(known)
    return replace(shown, vectors=vectors), {a: known[a] for a in known if a in read}
