"""What readers without history get: fresh and popular, spread over categories.

heat = (1 + clicks before now) · ½^(age / half-life), then a round-robin over categories: every
category's hottest article first, hottest category first, then every category's second, and so on.
Articles of unknown age count as the oldest.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from newsrec.protocols import Ranker
from newsrec.rank.baselines import age_hours, published
from newsrec.rank.clicks import ClickLog, Times
from newsrec.rank.histories import part, readable
from newsrec.rank.sides import Floats, Rows
from newsrec.types import Features, Impressions, NewsTable

#: Hours after which an article counts half.
HALF_LIFE_H = 24.0


@dataclass(frozen=True, slots=True, eq=False)
class ColdStart:
    """A `Ranker` that looks at no reader.

    ``clicks``: a log, of which only clicks before the impression count; ``first_seen (n_news,)``
    stands in for unknown publication times (see `newsrec.rank.clicks.first_shown`).
    """

    clicks: ClickLog
    first_seen: Times | None = None
    half_life_h: float = HALF_LIFE_H

    def heat(self, news: NewsTable, rows: Rows, now: Times) -> NDArray[np.float64]:
        """``(k,)``: recency times popularity of news ``rows (k,)`` at ``now`` (one or ``(k,)``)."""
        now = np.broadcast_to(now, rows.shape)
        ages = age_hours(published(news, self.first_seen)[rows], now)
        # One moment has one oldest article, but a list's scores must not depend on other lists:
        # unknown ages are older than anything, and popularity still orders them.
        ages = np.where(np.isnan(ages), _UNKNOWN_HALF_LIVES * self.half_life_h, ages)
        decay = np.exp2(-np.clip(ages / self.half_life_h, 0, _UNKNOWN_HALF_LIVES))
        return np.asarray((1.0 + self.clicks.count(rows, now)) * decay)

    def order(self, news: NewsTable, rows: Rows, now: Times) -> NDArray[np.int64]:
        """Permutation of ``range(k)``, best first, of the shelf's news ``rows (k,)`` at ``now``.

        Which languages and how old is the caller's choice of ``rows``.
        """
        heat = self.heat(news, rows, now)
        return spread_over(heat, news.category[rows], rows, np.zeros(len(rows), np.int64))

    def score(self, impressions: Impressions, features: Features) -> Floats:
        """``(nnz,) float32``: minus the place in the order of the list."""
        candidates = impressions.candidates
        rows, lists = candidates.values, candidates.owner()
        heat = self.heat(features.news, rows, np.repeat(impressions.time, candidates.lengths))
        order = spread_over(heat, features.news.category[rows], rows, lists)
        places = np.empty(len(rows), np.int64)
        places[order] = np.arange(len(rows)) - candidates.offsets[lists[order]]
        return -places.astype(np.float32)


# 2^-200 is tiny but not zero in float64, so that popularity still orders articles of unknown age.
_UNKNOWN_HALF_LIVES = 200.0


def spread_over(
    heat: NDArray[np.float64], category: Rows, row: Rows, lists: Rows
) -> NDArray[np.int64]:
    """Round-robin over categories inside every list: positions ``(k,)``, list after list.

    ``heat``, ``category``, ``row``, ``lists`` are ``(k,)``; ties go to the smaller news row.
    Articles of unknown category (-1) share one turn.
    """
    n = len(heat)
    if n == 0:
        return np.zeros(0, np.int64)
    order = np.lexsort((row, -heat, category, lists))
    new = np.ones(n, np.bool_)
    new[1:] = (category[order][1:] != category[order][:-1]) | (
        lists[order][1:] != lists[order][:-1]
    )
    starts = np.flatnonzero(new)
    group = np.cumsum(new) - 1
    turn = np.arange(n) - starts[group]
    best = heat[order][starts][group]
    first_row = row[order][starts][group]
    return np.asarray(order[np.lexsort((first_row, -best, turn, lists[order]))], np.int64)


@dataclass(frozen=True, slots=True, eq=False)
class WithFallback:
    """A `Ranker`: ``ranker`` for readers with history, ``fallback`` for the others.

    A reader has history when at least one clicked article has a vector of ``view`` (None: when
    there is at least one click). Which is which: `known`.
    """

    ranker: Ranker
    fallback: Ranker
    view: str | None = "title+abstract"

    def known(self, impressions: Impressions, features: Features) -> NDArray[np.bool_]:
        """``(n,)``: whose history can be read."""
        return readable(impressions, features, self.view)[impressions.history_of]

    def score(self, impressions: Impressions, features: Features) -> Floats:
        """``(nnz,) float32``."""
        known = self.known(impressions, features)
        if known.all():
            return self.ranker.score(impressions, features)
        scores = np.empty(len(impressions.candidates.values), np.float32)
        for mask, ranker in ((known, self.ranker), (~known, self.fallback)):
            rows = np.flatnonzero(mask)
            if len(rows):
                scores[impressions.candidates.positions(rows)] = ranker.score(
                    *part(impressions, features, rows)
                )
        return scores
