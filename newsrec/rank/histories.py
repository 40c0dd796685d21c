"""Which rows of the history matrices a reader's clicks are, and which of them can be read."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from newsrec.errors import DataError
from newsrec.types import Features, Impressions, Ragged

Rows = NDArray[np.integer]


def history_rows(impressions: Impressions, features: Features) -> Ragged:
    """The distinct histories as rows of the history matrices; negative where there is none."""
    rows = features.history_rows
    if rows is None:
        return impressions.history
    if rows.shape != impressions.history.values.shape:
        raise DataError(
            f"Features.history_rows: {rows.shape}, expected {impressions.history.values.shape}, "
            "one per clicked article of impressions.history"
        )
    return impressions.history.like(rows)


def has_vector(rows: Rows, present: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """``(k,)``: which ``rows`` point at a present row; negative ones do not."""
    if len(rows) and rows.max() >= len(present):
        raise DataError(f"history row {rows.max()}, but the history matrix has {len(present)} rows")
    if not len(present):
        return np.zeros(len(rows), np.bool_)
    return np.asarray((rows >= 0) & present[rows])


def only(lists: Ragged, keep: NDArray[np.bool_]) -> Ragged:
    """The items of every list where ``keep (nnz,)``; lists may become empty."""
    running = np.concatenate([[0], np.cumsum(keep)])
    return Ragged(lists.values[keep], running[lists.offsets].astype(np.int64))


def newest_readable(lists: Ragged, present: NDArray[np.bool_], limit: int | None) -> Ragged:
    """The last ``limit`` items (None: all) of every list that point at a present row."""
    kept = only(lists, has_vector(lists.values, present))
    return kept if limit is None else kept.tail(limit)


def readable(impressions: Impressions, features: Features, view: str | None) -> NDArray[np.bool_]:
    """``(n distinct histories,)``: which have an article with a vector of ``view``; with None or a
    view that the features lack, which have an article at all."""
    lists = history_rows(impressions, features)
    if view is None or view not in features.history:
        return lists.lengths > 0
    found = has_vector(lists.values, features.history[view].present)
    return np.bincount(lists.owner(), found, len(lists)) > 0


def part(
    impressions: Impressions, features: Features, rows: NDArray[np.integer]
) -> tuple[Impressions, Features]:
    """The impressions ``rows (k,)``, and features whose ``history_rows`` fit them."""
    taken = impressions.take(rows)
    if features.history_rows is None:
        return taken, features
    used = np.unique(impressions.history_of[rows])
    at = impressions.history.positions(used)
    return taken, replace(features, history_rows=features.history_rows[at])
