"""Beyond accuracy: how varied, how personal and how even the first ``k`` of each list are.

All metrics see a `Listing`, return ``(n,) float64`` and are NaN where an impression lacks what
they need; `NotInCorpus` when the whole corpus does. An *aspect* is ``category``, ``subcategory``
or ``story`` of the news table, or ``theme``, ``topic`` or ``story`` of a cluster tree.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial

import numpy as np
from numpy.typing import NDArray

from newsrec.errors import DataError
from newsrec.evaluate.metrics import Ranking
from newsrec.evaluate.shares import Floats, Ints, Shares, distinct_classes
from newsrec.types import Impressions, NewsTable

ASPECTS = ("category", "subcategory", "story")
CLUSTERS = ("theme", "topic")
_SMOOTHING = 0.01
_BLOCK = 4096


class NotInCorpus(DataError):
    """A metric needs something that this corpus does not have; it is skipped and said."""


@dataclass(frozen=True, slots=True, eq=False)
class Listing:
    """Ranked impressions and what is known of their news.

    ``vectors (n_news, dim)``: shelf vectors, or None; ``language (n_news,)``: index into
    ``languages`` of the language an article is shown in, or None where all are shown in one;
    ``traits``: arrays of the corpus's owner for RADio (see `newsrec.evaluate.radio`); ``aspects``:
    as in `newsrec.evaluate.run.Shown`.
    """

    ranking: Ranking
    impressions: Impressions
    news: NewsTable
    vectors: NDArray[np.floating] | None = None
    language: NDArray[np.integer] | None = None
    languages: tuple[str, ...] = ()
    traits: Mapping[str, object] = field(default_factory=dict)
    aspects: Mapping[str, NDArray[np.integer]] = field(default_factory=dict)
    _kept: dict[tuple[object, ...], Shares] = field(default_factory=dict, repr=False)

    def classes(self, aspect: str) -> tuple[Ints, int]:
        """Class of each article ``(n_news,)``, -1 unknown, and the number of classes."""
        if aspect in self.aspects:
            found = np.asarray(self.aspects[aspect], np.int64)
            if found.shape != (len(self.news),):
                raise DataError(f"aspect {aspect!r}: {found.shape}, expected ({len(self.news)},)")
            return found, int(found.max(initial=-1)) + 1
        if aspect in CLUSTERS:
            raise NotInCorpus("needs clusters of the articles, which were not given (--clusters)")
        codes = np.asarray(getattr(self.news, aspect), np.int64)
        if not len(codes) or codes.max() < 0:
            raise NotInCorpus(f"no article has a {aspect}")
        names = len(getattr(self.news, f"{aspect}_names", ()))
        return codes, max(names, int(codes.max()) + 1)

    def top_news(self, k: int) -> Ints:
        """News rows of the first ``k``, ``(n, k)``; -1 where a list is shorter."""
        at = self.ranking.top(k)
        if not len(self.ranking.order):
            return at
        return np.where(at >= 0, self.impressions.candidates.values[at].astype(np.int64), -1)

    def top_shares(self, aspect: str, k: int, by_rank: bool = False) -> Shares:
        """Distribution of the first ``k``; ``by_rank`` weighs a place by 1 / rank."""
        return self._keep(("top", aspect, k, by_rank), lambda: self._top(aspect, k, by_rank))

    def _top(self, aspect: str, k: int, by_rank: bool) -> Shares:
        codes, n_classes = self.classes(aspect)
        rows = self.top_news(k)
        weights = np.broadcast_to(1.0 / np.arange(1, k + 1), rows.shape).ravel()
        return Shares.of(
            np.repeat(np.arange(len(rows)), k),
            np.where(rows >= 0, codes[rows], -1).ravel(),
            weights if by_rank else None,
            len(rows),
            n_classes,
        )

    def history_shares(self, aspect: str) -> Shares:
        """Distribution of each distinct history; `row_of` is ``impressions.history_of``."""
        history = self.impressions.history
        codes, n = self.classes(aspect)
        make = partial(Shares.of, history.owner(), codes[history.values], None, len(history), n)
        return self._keep(("history", aspect), make)

    def reachable(self, aspect: str) -> Ints:
        """Classes among the candidates of each impression, ``(n,)``."""
        lists = self.impressions.candidates
        codes, n_classes = self.classes(aspect)
        return distinct_classes(lists.owner(), codes[lists.values], len(lists), n_classes)

    @property
    def history_of(self) -> Ints:
        return self.impressions.history_of.astype(np.int64)

    def _keep(self, key: tuple[object, ...], make: Callable[[], Shares]) -> Shares:
        if key not in self._kept:
            self._kept[key] = make()
        return self._kept[key]


def entropy(listing: Listing, k: int, aspect: str) -> Floats:
    """Entropy of the classes of the first ``k`` over log(number of classes).

    D of MANNeR (Iana et al. 2023), in [0, 1].
    """
    _, n_classes = listing.classes(aspect)
    if n_classes < 2:
        raise NotInCorpus(f"one {aspect} only: entropy over log(1) is undefined")
    spread: Floats = listing.top_shares(aspect, k).entropy() / np.log(n_classes)
    return spread


def jaccard(listing: Listing, k: int, aspect: str) -> Floats:
    """Generalised Jaccard of class counts: Σ min / Σ max over first ``k`` and history.

    PS of MANNeR (Iana et al. 2023), in [0, 1]; NaN for readers without history.
    """
    mine, history = listing.top_shares(aspect, k), listing.history_shares(aspect)
    total = history.total[listing.history_of]
    counts = mine.share * mine.total[mine.owner]
    shared = mine.sums(
        np.minimum(counts, mine.against(history, listing.history_of) * total[mine.owner])
    )
    union = mine.total + total - shared
    return np.where(total > 0, shared / np.where(union > 0, union, 1), np.nan)


def coverage(listing: Listing, k: int, aspect: str) -> Floats:
    """Distinct classes in the first ``k`` over those that ``k`` candidates could have shown.

    The denominator is min(k, distinct classes among the candidates), so 1 is always reachable.
    """
    mine = listing.top_shares(aspect, k)
    most = np.minimum(listing.reachable(aspect), k)
    return np.where(most > 0, mine.distinct() / np.maximum(most, 1), np.nan)


def intra_list_distance(listing: Listing, k: int) -> Floats:
    """Mean of 1 - cosine over the pairs of the first ``k``; NaN below two items.

    From sums of unit vectors: Σ over pairs of cosines = (|Σ u|² - m) / 2 for ``m`` items.
    """
    if listing.vectors is None:
        raise NotInCorpus("the ranker uses no vectors")
    from scipy.sparse import csr_array

    vectors = np.asarray(listing.vectors, np.float32)  # a copy only of half-precision shelves
    rows = listing.top_news(k)
    norms = np.sqrt(np.einsum("ij,ij->i", vectors, vectors))
    scale = np.divide(1, norms, where=norms > 0, out=np.zeros_like(norms))
    weights = np.where(rows >= 0, scale[rows], 0)
    count = (weights > 0).sum(axis=1)
    squared = np.empty(len(rows))
    for first in range(0, len(rows), _BLOCK):
        block = slice(first, first + _BLOCK)
        m = len(rows[block])
        flat = (weights[block].ravel(), np.maximum(rows[block], 0).ravel(), np.arange(m + 1) * k)
        total = csr_array(flat, shape=(m, len(vectors))) @ vectors
        squared[block] = np.einsum("ij,ij->i", total, total)
    pairs = count * (count - 1)
    distance = 1.0 - (squared - count) / np.where(pairs > 0, pairs, 1)
    return np.where(pairs > 0, np.maximum(distance, 0.0), np.nan)


def calibration_kl(listing: Listing, k: int, aspect: str = "category") -> Floats:
    """KL(history || first ``k``), the list weighted by 1 / rank; 0 is perfectly calibrated."""
    mine = listing.top_shares(aspect, k, by_rank=True)
    return mine.kl_from(listing.history_shares(aspect), listing.history_of, _SMOOTHING)


def calibration_js(listing: Listing, k: int, aspect: str = "category") -> Floats:
    """Jensen–Shannon divergence of the first ``k`` (1 / rank) from the history: RADio's
    calibration."""
    mine = listing.top_shares(aspect, k, by_rank=True)
    return mine.js(listing.history_shares(aspect), listing.history_of)


def language_shares(listing: Listing, k: int) -> dict[str, Floats]:
    """Share of each language among the first ``k`` of a mixed shelf, ``{code: (n,)}``."""
    if listing.language is None:
        raise NotInCorpus("the shelf is in one language")
    rows = listing.top_news(k)
    found = np.where(rows >= 0, np.asarray(listing.language, np.int64)[rows], -1)
    shown = (rows >= 0).sum(axis=1)
    return {
        code: np.where(shown > 0, (found == i).sum(axis=1) / np.maximum(shown, 1), np.nan)
        for i, code in enumerate(listing.languages)
    }


def gini(listing: Listing, k: int) -> float:
    """Gini coefficient of how often each article that could be shown is among the first ``k``.

    0: all equally often; towards 1: a few get everything. NaN without candidates.
    """
    offered = np.bincount(listing.impressions.candidates.values) > 0
    if not len(offered):
        return float("nan")
    rows = listing.top_news(k)
    shown = np.bincount(rows[rows >= 0], minlength=len(offered))
    rising = np.sort(shown[offered]).astype(np.float64)
    m = len(rising)
    return float(np.dot(2 * np.arange(1, m + 1) - m - 1, rising) / (m * rising.sum()))


#: Per-impression metrics; every one takes a cut-off.
DIVERSITY: dict[str, Callable[[Listing, int], Floats]] = {
    **{f"{a}_entropy@": partial(entropy, aspect=a) for a in (*ASPECTS, *CLUSTERS)},
    **{f"{a}_jaccard@": partial(jaccard, aspect=a) for a in (*ASPECTS, *CLUSTERS)},
    **{f"{a}_coverage@": partial(coverage, aspect=a) for a in (*ASPECTS, *CLUSTERS)},
    "intra_list_distance@": intra_list_distance,
    "calibration_kl@": calibration_kl,
    "calibration_js@": calibration_js,
    **{f"{a}_calibration_kl@": partial(calibration_kl, aspect=a) for a in CLUSTERS},
    **{f"{a}_calibration_js@": partial(calibration_js, aspect=a) for a in CLUSTERS},
}

#: Metrics of all lists together.
POOLED_DIVERSITY: dict[str, Callable[[Listing, int], float]] = {"gini@": gini}

#: Of these, less is better; of the others more, Jaccard included: it says how personal a list is.
LESS_IS_BETTER = (
    "calibration_kl@", "calibration_js@", "gini@",
    *(f"{a}_calibration_{how}@" for a in CLUSTERS for how in ("kl", "js")),
)  # fmt: skip

DIVERSITY_DEFAULT = (
    "category_entropy@10",
    "category_jaccard@10",
    "category_coverage@10",
    "subcategory_coverage@10",
    "story_coverage@10",
    "intra_list_distance@10",
    "calibration_kl@10",
    "calibration_js@10",
    "gini@10",
    *(f"{a}_{what}@10" for a in CLUSTERS for what in ("entropy", "jaccard", "coverage")),
    *(f"{a}_calibration_{how}@10" for a in CLUSTERS for how in ("kl", "js")),
)
