"""Impressions cut, filtered and renumbered: what a protocol does to a log."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from newsrec.corpus.distinct import distinct_lists
from newsrec.types import Impressions, Ragged

#: Paper 004's cut of MIND train into train and validation (newsreclib's ``valid_time_split``).
MIND_VALID_FROM = np.datetime64("2019-11-14T00:00:00", "s")
#: Histories of newsreclib: its ``max_history_len``, of which it keeps the oldest clicks.
NEWSRECLIB_HISTORY = 50
PROTOCOLS = ("newsrec", "newsreclib")

_CHUNK = 1 << 16


def cut_at(
    impressions: Impressions, moment: np.datetime64
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Rows before ``moment`` and rows from it on."""
    later = impressions.time >= moment
    return np.flatnonzero(~later), np.flatnonzero(later)


def drop_cold(impressions: Impressions) -> tuple[Impressions, int]:
    """Without the impressions of readers with an empty history, and how many those were."""
    warm = np.flatnonzero(impressions.history_lengths > 0)
    return impressions.take(warm), len(impressions) - len(warm)


def oldest_clicks(impressions: Impressions, limit: int = NEWSRECLIB_HISTORY) -> Impressions:
    """Histories cut to their ``limit`` oldest clicks, as newsreclib does."""
    history, which = distinct_lists(impressions.history.head(limit))
    return replace(impressions, history=history, history_of=which[impressions.history_of])


def renumber(
    impressions: Impressions, user_of: NDArray[np.int32], news_of: NDArray[np.int32] | None
) -> Impressions:
    """Readers and (unless None) news by the numbers of a larger table: ``new = of[old]``."""
    changes: dict[str, object] = {"user": user_of[impressions.user]}
    if news_of is not None:
        for name in ("history", "candidates"):
            lists: Ragged = getattr(impressions, name)
            changes[name] = lists.like(news_of[lists.values])
    return replace(impressions, **changes)  # type: ignore[arg-type]


def first_shown(impressions: list[Impressions], n_news: int) -> NDArray[np.datetime64]:
    """When each article was first a candidate, ``(n_news,) datetime64[s]``, NaT if never."""
    never = np.iinfo(np.int64).max
    found = np.full(n_news, never)
    for part in impressions:
        seconds = part.time.astype("datetime64[s]").astype(np.int64)
        # Latest first: of several assignments to one place numpy keeps the last.
        order = np.argsort(-seconds, kind="stable")
        seen = np.full(n_news, never)
        for start in range(0, len(order), _CHUNK):
            rows = order[start : start + _CHUNK]
            at = part.candidates.positions(rows)
            seen[part.candidates.values[at]] = np.repeat(
                seconds[rows], part.candidates.lengths[rows]
            )
        np.minimum(found, seen, out=found)
    return np.where(found == never, np.datetime64("NaT", "s"), found.astype("datetime64[s]"))
