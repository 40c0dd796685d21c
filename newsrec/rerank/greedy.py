"""Score order, relevance in [0, 1], and the greedy head that most re-rankers share.

What a candidate is worth to the list so far is ``w · relevance + (1 - w) · bonus`` with ``w`` the
relevance weight; each re-ranker says only what its bonus is.
"""

from __future__ import annotations

from numbers import Real
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from newsrec.errors import ConfigError
from newsrec.types import Pool

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

#: Worths closer than this are a tie, and ties keep score order: what rounding adds (to rescaled
#: scores, to float32 products) must not decide. Relevance spans 1, so it is 0.001 % of the range.
TIE = 1e-5

#: How many candidates are chosen greedily; the rest follow in score order.
HEAD = 20


class Diversity(Protocol):
    """What a list gains, apart from relevance."""

    def bonus(self) -> Floats:
        """``(n,)`` finite: what each candidate would add to the list so far, relevance apart."""
        ...

    def add(self, chosen: int) -> None:
        """Candidate ``chosen`` joins the list."""
        ...


def greedy(pool: Pool, diversity: Diversity, relevance_weight: float, k: int) -> Ints:
    """Permutation ``(n,)``: ``k`` candidates, each the best for the list before it, then the
    others in score order."""
    left = score_order(pool)
    relevance = relevance_of(pool)
    head = []
    for _ in range(min(k, len(pool))):
        worth = relevance_weight * relevance + (1 - relevance_weight) * diversity.bonus()
        worth = worth[left]
        place = int(np.argmax(worth >= worth.max() - TIE))
        head.append(int(left[place]))
        left = np.delete(left, place)
        diversity.add(head[-1])
    return np.concatenate([np.asarray(head, np.int64), left])


def score_order(pool: Pool) -> Ints:
    """Highest score first, ``(n,)``; equal scores keep the order of the candidates."""
    return np.argsort(-pool.scores, kind="stable").astype(np.int64)


def by_worth(worth: Floats, order: Ints) -> Ints:
    """``order (n,)`` sorted by falling ``worth (n,)`` of the candidates; ties keep it."""
    steps = np.round(worth[order] / TIE)
    return order[np.argsort(-steps, kind="stable")]


def relevance_of(pool: Pool) -> Floats:
    """Scores mapped to [0, 1] inside the pool, ``(n,)``; all 0 where they are all the same.

    Without it, MMR and its kin would change when scores are rescaled.
    """
    scores = np.asarray(pool.scores, np.float64)
    if not len(scores):
        return scores
    low = scores.min()
    span = scores.max() - low
    return (scores - low) / span if span > 0 else np.zeros(len(scores))


def check_weight(relevance_weight: object) -> None:
    """`ConfigError` unless a number from 0 to 1."""
    check_share("relevance_weight", relevance_weight, " (0: diversity alone, 1: score order)")


def check_share(name: str, value: object, meaning: str = "") -> None:
    """`ConfigError` unless a number from 0 to 1; ``meaning`` is added to what was expected."""
    if isinstance(value, bool) or not isinstance(value, Real) or not 0 <= float(value) <= 1:
        raise ConfigError(f"{name}: {value!r}, expected a number from 0 to 1{meaning}")


def check_count(name: str, value: object) -> None:
    """`ConfigError` unless a whole number of 1 or more."""
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < 1:
        raise ConfigError(f"{name}: {value!r}, expected a whole number of 1 or more")
