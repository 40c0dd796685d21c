"""Impressions to training batches: negatives, order, and each article once.

What a row is and which negatives it gets depend on the seed, the epoch and the row alone, never on
what is beside it; nothing is drawn from a global generator.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from newsrec.errors import DataError
from newsrec.rank.articles import Articles
from newsrec.rank.inputs import Ints
from newsrec.types import Impressions, Ragged

Bools = NDArray[np.bool_]
Words = NDArray[np.uint64]

#: Epoch whose negatives the validation rows keep.
VALID = -1
# Batches that are sorted by history length together: enough for rows of like length to meet.
_POOL = 64


@dataclass(frozen=True, slots=True, eq=False)
class Batch:
    """``b`` rows; ``articles (m,)`` are needed, and numbered from 0 in what follows.

    ``history (b, t)``, oldest first, valid where ``history_mask``; ``candidates (b, c)``, valid
    where ``mask``, ``clicked (b, c)``.
    """

    articles: Ints
    history: Ints
    history_mask: Bools
    candidates: Ints
    mask: Bools
    clicked: Bools


@dataclass(frozen=True, slots=True, eq=False)
class ClickRows:
    """What there is to learn from impressions.

    One row a click (``one_click``) or an impression with all its clicks; ``history_of``,
    ``clicks``, ``others``: each row's history, its clicks and the impression's non-clicks, as
    articles. ``counts`` says how many impressions were left out, and why.
    """

    articles: Articles
    history_of: Ints
    clicks: Ragged
    others: Ragged
    other_of: Ints
    negatives: int
    seed: int
    counts: dict[str, int]

    def __len__(self) -> int:
        return len(self.history_of)

    def told(self) -> dict[str, Any]:
        """How many rows, and 16 hex digits that other rows do not share."""
        articles = self.articles
        parts = [self.history_of, self.clicks.values, self.others.values, articles.row,
                 articles.history.values, articles.category, articles.entities]  # fmt: skip
        if articles.text is not None:
            parts.append(articles.text)
        total = hashlib.blake2b(digest_size=8)
        for part in parts:
            total.update(np.ascontiguousarray(part).tobytes())
        return {"rows": len(self), "data": total.hexdigest()}

    @classmethod
    def of(
        cls,
        impressions: Impressions,
        articles: Articles,
        *,
        one_click: bool = True,
        negatives: int = 4,
        seed: int = 42,
    ) -> ClickRows:
        """Impressions with a click, a non-click and a readable history; `DataError` for none."""
        if impressions.clicked is None:
            raise DataError("training needs impressions with clicks, and these have no labels")
        candidates, clicked = articles.candidates, impressions.clicked
        n_clicked = np.bincount(candidates.owner(), clicked, len(candidates)).astype(np.int64)
        reasons = {
            "without_click": n_clicked == 0,
            "without_non_click": n_clicked == candidates.lengths,
            "without_history": articles.history.lengths[impressions.history_of] == 0,
        }
        keep, counts = np.ones(len(impressions), np.bool_), {"impressions": len(impressions)}
        for name, holds in reasons.items():
            counts[name] = int(np.count_nonzero(keep & holds))
            keep &= ~holds
        used = np.flatnonzero(keep)
        counts["used"] = len(used)
        if not len(used):
            said = ", ".join(f"{k} {v}" for k, v in counts.items() if v and k != "used")
            raise DataError(
                f"no usable impression ({said or 'none at all'}): training needs a click, a "
                "non-click and a readable history in one impression"
            )
        clicks, others = (
            _chosen(candidates, mask).take(used) for mask in (clicked, ~clicked)
        )  # fmt: skip
        row_of = clicks.owner() if one_click else np.arange(len(used))
        if one_click:
            clicks = Ragged.from_lengths(clicks.values, np.ones(len(clicks.values), np.int64))
        history_of = impressions.history_of[used][row_of].astype(np.int64)
        return cls(articles, history_of, clicks, others, row_of, negatives, seed, counts)

    def batches(self, epoch: int, size: int) -> list[Ints]:
        """Every row once, in batches of rows whose histories are about as long."""
        order = np.argsort(_mixed(self.seed, epoch, np.arange(len(self))), kind="stable")
        lengths = self.articles.history.lengths[self.history_of]
        found = []
        for start in range(0, len(order), size * _POOL):
            pool = order[start : start + size * _POOL]
            pool = pool[np.argsort(lengths[pool], kind="stable")]
            found += [pool[i : i + size] for i in range(0, len(pool), size)]
        turn = np.argsort(_mixed(self.seed, epoch, np.arange(len(found)), 1), kind="stable")
        return [found[i] for i in turn]

    def batch(self, rows: Ints, epoch: int) -> Batch:
        """The batch of ``rows (b,)`` as epoch ``epoch`` has it."""
        shown, clicked = self._shown(rows, epoch)
        read = self.articles.history.take(self.history_of[rows])
        articles, numbers = np.unique(
            np.concatenate([read.values, shown.values]), return_inverse=True
        )
        numbers = numbers.reshape(-1).astype(np.int64)
        history, history_mask = _padded(read.like(numbers[: len(read.values)]))
        candidates, mask = _padded(shown.like(numbers[len(read.values) :]))
        labels, _ = _padded(shown.like(clicked))
        return Batch(articles, history, history_mask, candidates, mask, labels)

    def _shown(self, rows: Ints, epoch: int) -> tuple[Ragged, Bools]:
        """Clicks, then drawn non-clicks, of every row; which are clicks."""
        clicks, others = self.clicks.take(rows), self.others.take(self.other_of[rows])
        wanted = clicks.lengths * self.negatives
        drawn = draw(others.lengths, wanted, _mixed(self.seed, epoch, rows, 2))
        wrong = others.values[np.repeat(others.offsets[:-1], wanted) + drawn]
        lengths = clicks.lengths + wanted
        shown = Ragged.from_lengths(np.empty(int(lengths.sum()), np.int64), lengths)
        place = np.arange(len(shown.values)) - np.repeat(shown.offsets[:-1], lengths)
        clicked = place < np.repeat(clicks.lengths, lengths)
        shown.values[clicked], shown.values[~clicked] = clicks.values, wrong
        return shown, clicked


def draw(n: Ints, wanted: Ints, keys: Words) -> Ints:
    """For each list ``wanted[i]`` of the numbers below ``n[i]``, all different if there are enough
    and else with replacement: flat. ``keys (m,)``: each list's own randomness.

    Floyd's sampling: step s picks t below n - wanted + s + 1, or that bound's last if t was picked.
    """
    most = int(wanted.max(initial=0))
    picked = np.full((len(n), most), -1, np.int64)
    short = n < wanted
    for step in range(most):
        bound = np.where(short, n, n - wanted + step + 1)
        chance = _mixed(step, 0, keys).astype(np.float64) / 2.0**64
        pick = np.minimum((chance * bound).astype(np.int64), bound - 1)
        again = (picked[:, :step] == pick[:, None]).any(1) & ~short
        picked[:, step] = np.where(again, bound - 1, pick)
    return picked[np.arange(most) < wanted[:, None]]


def order_of(seed: int, n: int, epoch: int = VALID) -> Ints:
    """A permutation of ``range(n)`` that belongs to a seed and an epoch."""
    return np.argsort(_mixed(seed, epoch, np.arange(n), 3), kind="stable")


def _mixed(seed: int, epoch: int, numbers: NDArray[np.generic], use: int = 0) -> Words:
    """64 random bits for each number, those of `splitmix64` (Steele et al. 2014), chained."""
    state = np.zeros(len(numbers), np.uint64)
    for word in (seed, epoch, use):
        state = _splitmix(state ^ np.uint64(word % 2**64))
    return _splitmix(state ^ numbers.astype(np.uint64))


def _splitmix(x: Words) -> Words:
    with np.errstate(over="ignore"):
        x = x + np.uint64(0x9E3779B97F4A7C15)
        x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        return np.asarray(x ^ (x >> np.uint64(31)))


def _chosen(lists: Ragged, mask: Bools) -> Ragged:
    running = np.concatenate([[0], np.cumsum(mask)]).astype(np.int64)
    return Ragged(lists.values[mask], running[lists.offsets])


def _padded(lists: Ragged) -> tuple[NDArray[Any], Bools]:
    """``(n, longest)`` with zeros behind each list, and where it is not padding."""
    lengths = lists.lengths
    mask = np.arange(int(lengths.max(initial=0))) < lengths[:, None]
    out = np.zeros(mask.shape, lists.values.dtype)
    out[mask] = lists.values
    return out, mask
