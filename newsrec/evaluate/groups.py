"""Kinds of impressions that a mean over all of them hides."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from newsrec.types import Impressions, NewsTable

#: Upper ends of the bins of history length, in clicks.
BINS = (0, 5, 10, 20, 50)

COLD, WARM = "cold (no history)", "with history"


def group_labels(
    impressions: Impressions, news: NewsTable, clicks_known: NDArray[np.integer]
) -> dict[str, NDArray[np.str_]]:
    """``readers``, ``history length`` and ``category``: labels ``(n,) str`` each.

    ``clicks_known (n,)``: length of each reader's history before any limit. The category is that
    of the clicked article, "(several)" where clicks differ, "(unknown)" where none is known.
    """
    groups = {
        "readers": np.where(clicks_known > 0, WARM, COLD),
        "history length": _bin_names()[np.searchsorted(BINS, clicks_known)],
    }
    if impressions.clicked is not None and len(news) and news.category.max() >= 0:
        groups["category"] = _clicked_category(impressions, impressions.clicked, news)
    return groups


def _bin_names() -> NDArray[np.str_]:
    middle = [f"{a + 1}–{b}" for a, b in pairwise(BINS)]
    return np.asarray([f"{BINS[0]}", *middle, f"{BINS[-1] + 1}+"])


def _clicked_category(
    impressions: Impressions, clicked: NDArray[np.bool_], news: NewsTable
) -> NDArray[np.str_]:
    at = np.flatnonzero(clicked)
    of = np.searchsorted(impressions.candidates.offsets, at, side="right") - 1
    codes = news.category[impressions.candidates.values[at]].astype(np.int64)
    n, big = len(impressions), len(news.category_names)
    lowest, highest = np.full(n, big), np.full(n, -1)
    np.minimum.at(lowest, of, codes)
    np.maximum.at(highest, of, codes)
    names = np.asarray([*news.category_names, "(several)", "(unknown)"])
    one = np.where(lowest == highest, lowest, big)
    return names[np.where(highest < 0, big + 1, one)]
