"""Accuracy metrics over flat scores: one sort shared by all, no loop over impressions.

``n`` impressions with ``nnz`` candidates together. Every per-impression metric returns ``(n,)
float64`` with NaN where it is undefined (no click; for AUC also no non-click); pooled metrics
return one float. Ties: candidates of equal score keep the order in which they were shown
(`TIE_RULE`); the AUCs count a tie as one half.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from newsrec.errors import ConfigError, DataError, unknown_name
from newsrec.types import Impressions, Ragged

Floats = NDArray[np.float64]

TIE_RULE = (
    "highest score first; equal scores keep the order in which the candidates were shown "
    "(AUC counts a tie as one half)"
)

# Impressions sorted at once: keys of a block stay in the cache of one core.
_BLOCK = 8192


@dataclass(frozen=True, slots=True, eq=False)
class Ranking:
    """The candidates of ``n`` impressions, best first.

    ``order (nnz,) int64``: flat position in ``candidates.values`` of every candidate, impression
    by impression, best first; ``offsets (n+1,)`` where each impression starts; ``scores (nnz,)
    float32`` in that order; ``clicks (n,)``: clicked candidates; ``click_at (c,)``: where in
    ``order`` they stand, rising, ``click_of (c,)`` their impression, ``click_rank (c,)`` their
    1-based rank. Without labels ``clicks`` is 0 everywhere, so that accuracy is undefined.
    """

    offsets: NDArray[np.int64]
    order: NDArray[np.int64]
    scores: NDArray[np.float32]
    clicks: NDArray[np.int64]
    click_at: NDArray[np.int64]
    click_of: NDArray[np.int64]
    click_rank: NDArray[np.int64]

    @classmethod
    def of(cls, scores: NDArray[np.floating], impressions: Impressions) -> Ranking:
        """Rank ``scores (nnz,)``, read as float32; `DataError` names an impression with NaN."""
        lists = impressions.candidates
        flat = np.asarray(scores, np.float32)
        if flat.shape != lists.values.shape:
            raise DataError(f"scores: {flat.shape}, expected {lists.values.shape} (one each)")
        bad = np.flatnonzero(np.isnan(flat))
        if len(bad):
            which = int(np.searchsorted(lists.offsets, bad[0], side="right")) - 1
            place, name = bad[0] - lists.offsets[which] + 1, str(impressions.ids[which])
            raise DataError(
                f"scores: NaN for candidate {place} of impression {name!r} "
                f"({len(bad)} of {len(flat)} scores), expected numbers"
            )
        order = best_first(flat, lists)
        clicked = impressions.clicked
        at = np.flatnonzero(clicked[order]) if clicked is not None else np.zeros(0, np.int64)
        of = np.searchsorted(lists.offsets, at, side="right") - 1
        return cls(
            offsets=lists.offsets,
            order=order,
            scores=flat[order],
            clicks=np.bincount(of, minlength=len(lists)),
            click_at=at,
            click_of=of,
            click_rank=at - lists.offsets[of] + 1,
        )

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def top(self, k: int) -> NDArray[np.int64]:
        """Flat positions of the first ``k`` candidates, ``(n, k)``; -1 where a list is shorter."""
        if not len(self.order):
            return np.full((len(self), k), -1, np.int64)
        at = self.offsets[:-1, None] + np.arange(k)
        inside = at < self.offsets[1:, None]
        return np.where(inside, self.order[np.minimum(at, len(self.order) - 1)], -1)

    def ranks(self) -> NDArray[np.int64]:
        """1-based rank of every candidate, ``(nnz,)`` aligned with ``candidates.values``."""
        ranks = np.empty(len(self.order), np.int64)
        starts = np.repeat(self.offsets[:-1], np.diff(self.offsets))
        ranks[self.order] = np.arange(1, len(self.order) + 1) - starts
        return ranks


def best_first(scores: NDArray[np.float32], lists: Ragged) -> NDArray[np.int64]:
    """Stable order ``(nnz,)`` of every list by falling score, as flat positions.

    Impression, falling score and place in the list are packed into one unsigned 64-bit key, so
    that one plain sort per block of impressions does a stable segmented sort.
    """
    longest = int(lists.lengths.max(initial=1))
    place_bits = max(1, (longest - 1).bit_length())
    block = min(_BLOCK, 1 << (32 - place_bits))
    order = np.empty(len(scores), np.int64)
    for first in range(0, len(lists), block):
        offsets = lists.offsets[first : first + block + 1]
        low, high = int(offsets[0]), int(offsets[-1])
        sizes = np.diff(offsets)
        starts = np.repeat(offsets[:-1], sizes)
        places = (np.arange(low, high) - starts).astype(np.uint64)
        segment = np.repeat(np.arange(len(sizes), dtype=np.uint64), sizes)
        keys = (segment << np.uint64(32)) | falling_bits(scores[low:high])
        keys = (keys << np.uint64(place_bits)) | places
        keys.sort()
        order[low:high] = starts + (keys & np.uint64((1 << place_bits) - 1)).astype(np.int64)
    return order


def falling_bits(scores: NDArray[np.float32]) -> NDArray[np.uint64]:
    """Unsigned numbers that rise as the float32 ``scores`` fall; 0.0 and -0.0 are one number."""
    bits = (scores + np.float32(0.0)).view(np.uint32)
    rising = np.where(bits >> 31, ~bits, bits | np.uint32(0x80000000))
    return (~rising).astype(np.uint64)


def auc(ranking: Ranking) -> Floats:
    """Area under the ROC curve of each impression (MIND's headline when averaged)."""
    edge = np.empty(len(ranking.order) + 1, np.bool_)
    np.not_equal(ranking.scores[1:], ranking.scores[:-1], out=edge[1:-1])
    edge[ranking.offsets] = True
    ties = np.flatnonzero(edge)
    group = np.searchsorted(ties, ranking.click_at, side="right") - 1
    first, after = ties[group], ties[group + 1]
    end = ranking.offsets[1:][ranking.click_of]
    tied = _misses_before(ranking, after) - _misses_before(ranking, first)
    below = _misses_before(ranking, end) - _misses_before(ranking, after)
    won = np.bincount(ranking.click_of, below + 0.5 * tied, minlength=len(ranking))
    misses = np.diff(ranking.offsets) - ranking.clicks
    return _ratio(won, ranking.clicks * misses)


def _misses_before(ranking: Ranking, at: NDArray[np.int64]) -> NDArray[np.int64]:
    """Non-clicks that stand before ``at (c,)`` in the flat order, of all impressions."""
    return at - np.searchsorted(ranking.click_at, at)


def mrr(ranking: Ranking) -> Floats:
    """Reciprocal rank of the first click (paper 004; the textbook's)."""
    best = np.full(len(ranking), np.inf)
    np.minimum.at(best, ranking.click_of, ranking.click_rank)
    return _ratio(1.0 / best, ranking.clicks > 0)


def mrr_mind(ranking: Ranking) -> Floats:
    """Σ (label / rank) / Σ label: MIND leaderboard's; not comparable with `mrr`."""
    total = np.bincount(ranking.click_of, 1.0 / ranking.click_rank, minlength=len(ranking))
    return _ratio(total, ranking.clicks)


def ndcg(ranking: Ranking, k: int) -> Floats:
    """nDCG with gain 2^y - 1, discount log2(rank + 1), ideal list cut at ``k``."""
    gains = np.where(ranking.click_rank <= k, 1.0 / np.log2(ranking.click_rank + 1.0), 0.0)
    found = np.bincount(ranking.click_of, gains, minlength=len(ranking))
    cut = min(k, int(ranking.clicks.max(initial=0)))
    ideal = np.concatenate([[0.0], np.cumsum(1.0 / np.log2(np.arange(2.0, cut + 2.0)))])
    return _ratio(found, ideal[np.minimum(ranking.clicks, cut)])


def hit(ranking: Ranking, k: int) -> Floats:
    """1 if a click is among the first ``k``, else 0."""
    return _ratio(_clicks_within(ranking, k) > 0, ranking.clicks > 0)


def recall(ranking: Ranking, k: int) -> Floats:
    """Share of the clicks that is among the first ``k``."""
    return _ratio(_clicks_within(ranking, k), ranking.clicks)


def auc_pooled(ranking: Ranking) -> float:
    """One AUC over all (impression, candidate) pairs; NaN without a click or a non-click."""
    return _pairs_won(ranking, ranking.scores)


def auc_torchmetrics(ranking: Ranking) -> float:
    """Pooled AUC of half-precision scores, after a sigmoid if any leaves [0, 1].

    What newsreclib most likely logged for paper 004: raw dot products saturate the sigmoid, so
    that most pairs tie. For comparison only.
    """
    with np.errstate(over="ignore", invalid="ignore"):
        half = ranking.scores.astype(np.float16) + np.float16(0.0)
        if len(half) and (half.min() < 0 or half.max() > 1):
            # There are 65,536 half-precision numbers: the sigmoid of each, then a look-up.
            every = np.arange(1 << 16, dtype=np.uint16).view(np.float16).astype(np.float32)
            half = (1.0 / (1.0 + np.exp(-every))).astype(np.float16)[half.view(np.uint16)]
    # The bits of numbers in [0, 1] rise with them, and 16 bits are sorted in linear time.
    return _pairs_won(ranking, half.view(np.uint16))


def _pairs_won(ranking: Ranking, scores: NDArray[np.float32] | NDArray[np.uint16]) -> float:
    """Share of (click, non-click) pairs in which the click scores higher, ties one half."""
    missed = np.ones(len(scores), np.bool_)
    missed[ranking.click_at] = False
    kind: Literal["stable", "quicksort"] = "stable" if scores.itemsize == 2 else "quicksort"
    hits, misses = np.sort(scores[ranking.click_at]), np.sort(scores[missed], kind=kind)
    if not len(hits) or not len(misses):
        return float("nan")
    below = np.searchsorted(misses, hits, side="left").sum(dtype=np.float64)
    tied = np.searchsorted(misses, hits, side="right").sum(dtype=np.float64) - below
    return float((below + 0.5 * tied) / (float(len(hits)) * float(len(misses))))


def _clicks_within(ranking: Ranking, k: int) -> NDArray[np.int64]:
    return np.bincount(ranking.click_of[ranking.click_rank <= k], minlength=len(ranking))


def _ratio(over: NDArray[np.generic], under: NDArray[np.generic]) -> Floats:
    """``over / under`` as float64, NaN where ``under`` is 0 or False."""
    result = np.full(len(under), np.nan)
    np.divide(over, under, out=result, where=np.asarray(under, np.float64) > 0)
    return result


#: Per-impression metrics; a name that ends in ``@`` takes a cut-off.
PER_IMPRESSION: dict[str, Callable[..., Floats]] = {
    "auc": auc,
    "mrr": mrr,
    "mrr_mind": mrr_mind,
    "ndcg@": ndcg,
    "hit@": hit,
    "recall@": recall,
}

#: Metrics of all impressions together.
POOLED: dict[str, Callable[[Ranking], float]] = {
    "auc_pooled": auc_pooled,
    "auc_torchmetrics": auc_torchmetrics,
}

ACCURACY = ("auc", "mrr", "mrr_mind", "ndcg@5", "ndcg@10", "hit@5", "hit@10", "recall@10")


def split_name(name: str) -> tuple[str, int | None]:
    """``ndcg@10`` as ``("ndcg@", 10)``, ``auc`` as ``("auc", None)``."""
    match = re.fullmatch(r"([a-z_]+@)([0-9]+)", name)
    if match is None and not name.endswith("@"):
        return name, None
    if match is None or int(match[2]) < 1:
        raise ConfigError(f"metric {name!r}: expected a cut-off of 1 or more after '@', as in @10")
    return match[1], int(match[2])


def examples(table: Iterable[str]) -> list[str]:
    """The names of a table as a reader may write them: ``ndcg@`` becomes ``ndcg@10``."""
    return [f"{name}10" if name.endswith("@") else name for name in table]


def measure(name: str, ranking: Ranking) -> Floats:
    """The per-impression accuracy metric called ``name``, ``(n,)``."""
    key, k = split_name(name)
    if key not in PER_IMPRESSION:
        raise unknown_name("metric", name, examples(PER_IMPRESSION))
    return PER_IMPRESSION[key](ranking) if k is None else PER_IMPRESSION[key](ranking, k)
