"""Lists whose mix of classes is the history's (Steck 2018, "Calibrated Recommendations")."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from newsrec.errors import unknown_name
from newsrec.rerank.greedy import HEAD, Floats, Ints, check_count, check_weight, greedy, score_order
from newsrec.rerank.mix import Mix
from newsrec.types import Pool

#: Steck 2018: the list's shares are mixed with this much of the history's.
SMOOTHING = 0.01


def kl_terms(wanted: Floats, shares: Floats) -> Floats:
    """Summands ``(…, m)`` of KL(wanted || shares smoothed), over -log(SMOOTHING), which sum to a
    number in [0, 1]; ``wanted (m,)``, ``shares (…, m)``."""
    smooth = (1 - SMOOTHING) * shares + SMOOTHING * wanted
    ratio = np.divide(wanted, smooth, out=np.ones_like(smooth), where=wanted > 0)
    return np.asarray(wanted * np.log(ratio) / -np.log(SMOOTHING))


def js_terms(wanted: Floats, shares: Floats) -> Floats:
    """Summands ``(…, m)`` of the Jensen–Shannon divergence in base 2: sums in [0, 1]."""
    both = wanted + shares
    total = np.zeros_like(both)
    for part in (wanted, shares):
        ratio = np.divide(2 * part, both, out=np.ones_like(both), where=part > 0)
        total += 0.5 * part * np.log2(ratio)
    return total


DIVERGENCES: dict[str, Callable[[Floats, Floats], Floats]] = {"kl": kl_terms, "js": js_terms}


@dataclass(frozen=True, slots=True)
class Calibrated:
    """Next comes the largest ``w · Σ relevance - (1 - w) · divergence`` of the list with it.

    Steck 2018, greedily. ``divergence``: ``kl`` (smoothed as there, over its largest value, log
    100) or ``js``; a place weighs 1 / rank, as in ``calibration_kl@k`` and ``calibration_js@k``.
    Articles of unknown class change no share; until a class is known the divergence is 1. A reader
    of whose history no class is known gets score order. Raises `DataError` for candidates without
    the aspect.
    """

    relevance_weight: float = 0.7
    aspect: str = "category"
    divergence: str = "kl"
    k: int = HEAD

    def __post_init__(self) -> None:
        check_weight(self.relevance_weight)
        check_count("k", self.k)
        if self.divergence not in DIVERGENCES:
            raise unknown_name("divergence", self.divergence, tuple(DIVERGENCES))

    def __call__(self, pool: Pool) -> Ints:
        """Permutation of ``range(n)``, best first."""
        return np.asarray(self.orders(pool, (self.relevance_weight,))[0])

    def orders(self, pool: Pool, weights: Sequence[float]) -> Ints:
        """The same at each of ``weights (m,)``, ``(m, n)``."""
        mix = Mix.in_pool(pool, self.aspect)
        if not mix.history.any():
            return np.tile(score_order(pool), (len(weights), 1))
        balance = _Balance(mix, DIVERGENCES[self.divergence], len(weights))
        return greedy(pool, balance, weights, self.k)


class _Balance:
    """Minus the divergence of the history from each list with one article more of each class."""

    def __init__(self, mix: Mix, terms: Callable[[Floats, Floats], Floats], m: int) -> None:
        self._mix, self._terms, self._lists = mix, terms, np.arange(m)
        self._some_unknown = bool(np.any(mix.of < 0))
        self._mass = mix.room(m)
        self._rank = 1

    def bonus(self) -> Floats:
        wanted, mass, place = self._mix.history, self._mass[:, :-1], 1 / self._rank
        total = mass.sum(axis=1, keepdims=True)
        # One more of class c changes every share by the same factor, and c's on top of that.
        others = self._terms(wanted, mass / (total + place))
        own = self._terms(wanted, (mass + place) / (total + place))
        found = self._mix.room(len(mass), others.sum(axis=1, keepdims=True) - others + own)
        if self._some_unknown:
            now = self._terms(wanted, mass / np.where(total > 0, total, 1)).sum(axis=1)
            found[:, -1] = np.where(total[:, 0] > 0, now, 1.0)
        return -found[:, self._mix.of]

    def add(self, chosen: Ints) -> None:
        of = self._mix.of[chosen]
        known = of >= 0
        self._mass[self._lists[known], of[known]] += 1 / self._rank
        self._rank += 1
