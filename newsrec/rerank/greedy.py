"""Score order, relevance in [0, 1], and the greedy head that most re-rankers share.

What a candidate is worth to the list so far is ``w · relevance + (1 - w) · bonus`` with ``w`` the
relevance weight; each re-ranker says only what its bonus is. Several weights make several lists of
the same candidates, side by side: what they share is computed once.
"""

from __future__ import annotations

from collections.abc import Sequence
from numbers import Real
from typing import Protocol, runtime_checkable

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
    """What ``m`` lists of the same ``n`` candidates gain, apart from relevance."""

    def bonus(self) -> Floats:
        """``(m, n)`` or ``(n,)``, finite: what each candidate would add to each list so far."""
        ...

    def add(self, chosen: Ints) -> None:
        """Candidate ``chosen[i]`` joins list ``i``; ``(m,)``."""
        ...


@runtime_checkable
class Weighted(Protocol):
    """A re-ranker that is a frozen dataclass with a relevance weight, and can try several."""

    @property
    def relevance_weight(self) -> float: ...

    def orders(self, pool: Pool, weights: Sequence[float]) -> Ints:
        """Its permutation at each of ``weights (m,)``, ``(m, n)``."""
        ...

    def __call__(self, pool: Pool) -> Ints: ...


def greedy(pool: Pool, diversity: Diversity, weights: Sequence[float], k: int) -> Ints:
    """Permutations ``(m, n)``, one for each relevance weight: ``k`` candidates, each the best for
    the list before it, then the others in score order."""
    order, lists, n = score_order(pool), np.arange(len(weights)), len(pool)
    rank = np.empty(n, np.int64)
    rank[order] = np.arange(n)
    weight = np.asarray(weights, np.float64)[:, None]
    relevant, rest = weight * relevance_of(pool), 1 - weight
    places = np.empty((len(lists), n), np.int64)
    for place in range(min(k, n)):
        worth = relevant + rest * diversity.bonus()
        ties = worth >= worth.max(axis=1, keepdims=True) - TIE
        best = np.where(ties, rank, n).argmin(axis=1)
        relevant[lists, best] = -np.inf  # it is on the list
        places[:, place] = best
        diversity.add(best)
    left = np.isfinite(relevant)[:, order]
    places[:, min(k, n) :] = order[np.nonzero(left)[1]].reshape(len(lists), -1)
    return places


def score_order(pool: Pool) -> Ints:
    """Highest score first, ``(n,)``; equal scores keep the order of the candidates."""
    return np.argsort(-pool.scores, kind="stable").astype(np.int64)


def by_worth(worth: Floats, order: Ints) -> Ints:
    """``order (n,)`` sorted by falling ``worth (…, n)`` of the candidates; ties keep it."""
    steps = np.round(worth[..., order] / TIE)
    return order[np.argsort(-steps, axis=-1, kind="stable")]


def tame(scores: Floats) -> Floats:
    """Scores whose differences and squares would be no numbers, in [-1, 1]; others as they are."""
    most = np.abs(scores).max()
    return scores / most if most > 1e150 else scores


def relevance_of(pool: Pool) -> Floats:
    """Scores mapped to [0, 1] inside the pool, ``(n,)``; all 0 where they are all the same.

    Without it, MMR and its kin would change when scores are rescaled.
    """
    scores = np.asarray(pool.scores, np.float64)
    if not len(scores):
        return scores
    scores = tame(scores)
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
