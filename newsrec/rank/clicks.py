"""Clicks with their times: how often an article was clicked before a moment, never after."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from newsrec.errors import DataError
from newsrec.types import Impressions

_NAT = np.iinfo(np.int64).min
Times = NDArray[np.datetime64]


@dataclass(frozen=True, slots=True, eq=False)
class ClickLog:
    """``m`` clicks sorted by article, then time.

    ``row (m,) int64`` news rows, ``time (m,) int64`` seconds since 1970. Clicks of unknown time are
    left out: nobody can say that they came before a moment.
    """

    row: NDArray[np.int64]
    time: NDArray[np.int64]

    @classmethod
    def of(cls, *splits: Impressions) -> ClickLog:
        """The clicks in the impressions of ``splits``, which must be labelled."""
        rows, times = [np.zeros(0, np.int64)], [np.zeros(0, np.int64)]
        for impressions in splits:
            if impressions.clicked is None:
                raise DataError("clicks of an unlabelled split: expected impressions with labels")
            lengths = impressions.candidates.lengths
            rows.append(impressions.candidates.values[impressions.clicked].astype(np.int64))
            times.append(np.repeat(seconds(impressions.time), lengths)[impressions.clicked])
        row, time = np.concatenate(rows), np.concatenate(times)
        known = time != _NAT
        row, time = row[known], time[known]
        order = np.lexsort((time, row))
        return cls(row[order], time[order])

    def count(self, rows: NDArray[np.integer], before: Times) -> NDArray[np.int64]:
        """Clicks on ``rows (k,)`` earlier than ``before (k,)``; none before an unknown time."""
        rows = np.asarray(rows, np.int64)
        limit = np.broadcast_to(seconds(before), rows.shape)
        if not len(self.row):
            return np.zeros(len(rows), np.int64)
        # One sorted key for (article, time); times are cut to the log's span: keys stay small.
        first, span = int(self.time.min()), int(np.ptp(self.time)) + 2
        key = self.row * span + (self.time - first)
        offset = np.clip(limit, first, first + span - 1) - first
        return np.searchsorted(key, rows * span + offset) - np.searchsorted(key, rows * span)


def seconds(times: Times) -> NDArray[np.int64]:
    """Seconds since 1970; NaT is the smallest int64."""
    return np.asarray(times, "datetime64[s]").astype(np.int64)


def first_shown(n_news: int, *splits: Impressions) -> Times:
    """When each article was first offered to a reader, ``(n_news,) datetime64[s]``, NaT if never.

    Stands in for the publication time where a log has none (MIND). An article shown in an
    impression was first shown then or earlier, so nothing of the future is used.
    """
    first = np.full(n_news, np.iinfo(np.int64).max, np.int64)
    for impressions in splits:
        times = np.repeat(seconds(impressions.time), impressions.candidates.lengths)
        known = times != _NAT
        np.minimum.at(first, impressions.candidates.values[known], times[known])
    first[first == np.iinfo(np.int64).max] = _NAT
    return first.view("datetime64[s]")
