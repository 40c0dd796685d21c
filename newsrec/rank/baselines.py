"""Rankers that read no text: what every number must be compared with."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from newsrec.errors import DataError
from newsrec.rank.clicks import ClickLog, Times, seconds
from newsrec.rank.sides import Floats
from newsrec.types import Features, Impressions, NewsTable

_NAT = np.iinfo(np.int64).min


@dataclass(frozen=True, slots=True)
class Random:
    """A `Ranker`: uniform scores in [0, 1) drawn from (seed, impression id, article id).

    A hash instead of a generator, so that a score depends on nothing else.
    """

    seed: int = 0

    def score(self, impressions: Impressions, features: Features) -> Floats:
        """``(nnz,) float32``."""
        candidates = impressions.candidates
        lists = _mix(_hash(impressions.ids) + _hash(np.asarray([str(self.seed)]))[0])
        articles = _hash(features.news.ids)[candidates.values]
        mixed = _mix(np.repeat(lists, candidates.lengths) + _mix(articles))
        return ((mixed >> np.uint64(40)).astype(np.float64) / (1 << 24)).astype(np.float32)


@dataclass(frozen=True, slots=True, eq=False)
class Popularity:
    """A `Ranker`: clicks in ``clicks`` (the training split's) before the impression."""

    clicks: ClickLog

    def score(self, impressions: Impressions, features: Features) -> Floats:
        """``(nnz,) float32``, numbers of clicks."""
        times = np.repeat(impressions.time, impressions.candidates.lengths)
        return self.clicks.count(impressions.candidates.values, times).astype(np.float32)


@dataclass(frozen=True, slots=True, eq=False)
class Recency:
    """A `Ranker`: newest first.

    ``first_seen (n_news,)`` stands in where the publication time is unknown (see
    `newsrec.rank.clicks.first_shown`). Articles of unknown time come last.
    """

    first_seen: Times | None = None

    def score(self, impressions: Impressions, features: Features) -> Floats:
        """``(nnz,) float32``, minus the age in hours."""
        lengths = impressions.candidates.lengths
        ages = age_hours(
            published(features.news, self.first_seen)[impressions.candidates.values],
            np.repeat(impressions.time, lengths),
        )
        return np.where(np.isnan(ages), -_OLDEST_HOURS, -ages).astype(np.float32)


# A thousand years: below the score of every dated article.
_OLDEST_HOURS = 24 * 365 * 1000.0


@dataclass(frozen=True, slots=True)
class CategoryProfile:
    """A `Ranker`: share of the candidate's category in the history plus that of its subcategory.

    Shares are over the articles whose category is known; an unknown category scores 0.
    """

    def score(self, impressions: Impressions, features: Features) -> Floats:
        """``(nnz,) float32`` in [0, 2]."""
        news = features.news
        return sum(
            (_shares(impressions, codes) for codes in (news.category, news.subcategory)),
            np.zeros(len(impressions.candidates.values), np.float32),
        )


def published(news: NewsTable, first_seen: Times | None = None) -> Times:
    """Publication times ``(n_news,)``, from ``first_seen`` where unknown; NaT where both are."""
    if first_seen is None:
        return news.published
    if first_seen.shape != news.published.shape:
        raise DataError(f"first_seen: {first_seen.shape}, expected {news.published.shape}")
    return np.where(np.isnat(news.published), first_seen, news.published)


def age_hours(times: Times, now: Times) -> NDArray[np.float64]:
    """Hours from ``times`` to ``now``, both ``(k,)``; NaN where ``times`` is unknown.

    Where ``now`` is unknown, ages count from 1 January 2000: the order stays right.
    """
    made, at = seconds(times), seconds(now)
    at = np.where(at == _NAT, 946684800, at)
    hours = (at - np.where(made == _NAT, 0, made)) / 3600.0
    return np.where(made == _NAT, np.nan, hours)


def _shares(impressions: Impressions, codes: NDArray[np.int16]) -> Floats:
    """``(nnz,)``: share of each candidate's code among the known codes of the history."""
    history, candidates = impressions.history, impressions.candidates
    n_codes = int(codes.max(initial=-1)) + 1
    if n_codes == 0:
        return np.zeros(len(candidates.values), np.float32)
    read = codes[history.values].astype(np.int64)
    known = read >= 0
    owner = history.owner()[known]
    totals = np.bincount(owner, minlength=len(history))
    # (history, code) pairs that occur, sorted: small where a table of all pairs would not be.
    pairs, counts = np.unique(owner * n_codes + read[known], return_counts=True)
    of = np.repeat(impressions.history_of.astype(np.int64), candidates.lengths)
    code = codes[candidates.values].astype(np.int64)
    wanted = of * n_codes + code
    at = np.minimum(np.searchsorted(pairs, wanted), max(len(pairs) - 1, 0))
    if not len(pairs):
        return np.zeros(len(wanted), np.float32)
    hit = (pairs[at] == wanted) & (code >= 0)
    return np.where(hit, counts[at] / np.maximum(totals[of], 1), 0).astype(np.float32)


def _hash(strings: NDArray[np.str_]) -> NDArray[np.uint64]:
    """FNV-1a over the code points of ``(n,)`` strings, the same whatever the array's width."""
    strings = np.ascontiguousarray(strings)
    width = strings.dtype.itemsize // 4
    codes = strings.view(np.uint32).reshape(len(strings), width) if width else None
    out = np.full(len(strings), 0xCBF29CE484222325, np.uint64)
    for column in range(width):
        assert codes is not None
        code = codes[:, column].astype(np.uint64)
        out = np.where(code > 0, (out ^ code) * np.uint64(0x100000001B3), out)
    return out


def _mix(x: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """splitmix64's finaliser (Steele, Lea & Flood 2014): every bit in depends on every bit out."""
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return np.asarray(x ^ (x >> np.uint64(31)), np.uint64)
