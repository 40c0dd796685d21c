"""Impressions as re-rankers see them, and re-ranked impressions as scores."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from newsrec.errors import DataError
from newsrec.evaluate.diversity import ASPECTS
from newsrec.evaluate.run import Shown
from newsrec.protocols import Reranker
from newsrec.types import NewsTable, Pool

Scores = NDArray[np.float32]
#: Name to the class of each article, ``(n_news,)``, -1 unknown.
Aspects = Mapping[str, NDArray[np.integer]]


def table_aspects(news: NewsTable) -> dict[str, NDArray[np.integer]]:
    """Category, subcategory and story, where the table knows them of any article."""
    columns = {name: getattr(news, name) for name in ASPECTS}
    return {name: classes for name, classes in columns.items() if np.any(classes >= 0)}


def pools(scores: Scores, shown: Shown, aspects: Aspects | None = None) -> Iterator[Pool]:
    """One `Pool` per impression of ``shown``, with ``scores (nnz,)``.

    ``aspects``: classes of all news (default: `table_aspects`), such as the levels of a cluster
    tree. Raises `DataError` for scores or aspects of another length.
    """
    impressions, news = shown.impressions, shown.news
    lists, histories = impressions.candidates, impressions.history
    if scores.shape != lists.values.shape:
        raise DataError(f"scores: {scores.shape}, expected {lists.values.shape} (one each)")
    known = table_aspects(news) if aspects is None else aspects
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
    measured or ranked like scores. `DataError` for a re-ranker that loses a candidate."""
    found = np.full((len(rerankers), len(scores)), np.nan, np.float32)
    offsets = shown.impressions.candidates.offsets
    for start, pool in zip(offsets, pools(scores, shown, aspects), strict=False):
        for places, reranker in zip(found, rerankers, strict=True):
            order = reranker(pool)
            places[start + order] = -np.arange(len(order), dtype=np.float32)
    for reranker, lost in zip(rerankers, np.isnan(found).sum(axis=1), strict=True):
        if lost:
            raise DataError(f"{reranker}: lost {lost} of {len(scores)} candidates, expected none")
    return found
