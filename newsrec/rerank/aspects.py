"""Lists that cover aspects (themes, topics, categories): xQuAD and PM-2.

An article has one class of the aspect. P(article | class) is ``satisfaction`` times its relevance
if it is of that class, else 0. How much each class is wanted, P(class | reader), is the history's
share of it mixed with an even share (`newsrec.rerank.mix.Mix.wanted`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from newsrec.rerank.greedy import (
    HEAD,
    Floats,
    Ints,
    check_count,
    check_share,
    check_weight,
    greedy,
    relevance_of,
)
from newsrec.rerank.mix import Mix
from newsrec.types import Pool


@dataclass(frozen=True, slots=True)
class XQuad:
    """Next comes the largest ``w · relevance + (1 - w) · Σ P(a) P(i|a) Π (1 - P(j|a))``, the
    product over those chosen: a class counts less the better the list already serves it.

    Santos, Macdonald and Ounis 2010. ``satisfaction`` in [0, 1]: how well one article
    of full relevance serves its class. ``exploration`` in [0, 1]: part of the weight that goes
    evenly to all classes on offer. Raises `DataError` for candidates without the aspect.
    """

    relevance_weight: float = 0.7
    aspect: str = "category"
    exploration: float = 0.5
    satisfaction: float = 0.5
    k: int = HEAD

    def __post_init__(self) -> None:
        check_weight(self.relevance_weight)
        check_count("k", self.k)
        check_share("exploration", self.exploration)
        check_share("satisfaction", self.satisfaction)

    def __call__(self, pool: Pool) -> Ints:
        """Permutation of ``range(n)``, best first."""
        return np.asarray(self.orders(pool, (self.relevance_weight,))[0])

    def orders(self, pool: Pool, weights: Sequence[float]) -> Ints:
        """The same at each of ``weights (m,)``, ``(m, n)``."""
        mix = Mix.in_pool(pool, self.aspect)
        serves = self.satisfaction * relevance_of(pool)
        unserved = _Unserved(mix, serves, mix.wanted(self.exploration), len(weights))
        return greedy(pool, unserved, weights, self.k)


class _Unserved:
    """xQuAD's Σ P(a) P(i|a) Π (1 - P(j|a)); ``_open (m, classes)`` is P(a) times the product."""

    def __init__(self, mix: Mix, serves: Floats, wanted: Floats, m: int) -> None:
        self._mix, self._serves, self._lists = mix, serves, np.arange(m)
        self._open = mix.room(m, wanted)

    def bonus(self) -> Floats:
        return self._serves * self._open[:, self._mix.of]

    def add(self, chosen: Ints) -> None:
        self._open[self._lists, self._mix.of[chosen]] *= 1 - self._serves[chosen]


@dataclass(frozen=True, slots=True)
class Pm2:
    """Places are shared out as seats are in Sainte-Laguë's method: a class that is wanted ``v`` and
    has ``s`` places has the quotient v / (2 s + 1), and the class with the largest is due.

    Next comes the largest ``w · relevance + (1 - w) · (f · q_due P(i|due) + (1 - f) · Σ q_a
    P(i|a))``, the sum over the other classes. Dang and Croft 2012, where ``f`` is λ and
    ``w`` is 0; ``focus`` in [0, 1] is ``f``: how much the class that is due comes first. The
    quotients are divided by the largest, so that ``w`` means the same at every place, and a class
    without candidates left is not due. ``exploration`` as in `XQuad`. Raises `DataError` for
    candidates without the aspect.
    """

    relevance_weight: float = 0.7
    aspect: str = "category"
    exploration: float = 0.5
    focus: float = 0.8
    k: int = HEAD

    def __post_init__(self) -> None:
        check_weight(self.relevance_weight)
        check_count("k", self.k)
        check_share("exploration", self.exploration)
        check_share("focus", self.focus)

    def __call__(self, pool: Pool) -> Ints:
        """Permutation of ``range(n)``, best first."""
        return np.asarray(self.orders(pool, (self.relevance_weight,))[0])

    def orders(self, pool: Pool, weights: Sequence[float]) -> Ints:
        """The same at each of ``weights (m,)``, ``(m, n)``."""
        mix, serves = Mix.in_pool(pool, self.aspect), relevance_of(pool)
        seats = _Seats(mix, serves, mix.wanted(self.exploration), self.focus, len(weights))
        return greedy(pool, seats, weights, self.k)


class _Seats:
    """PM-2's quotients; ``_left (m, classes)`` counts the candidates that are not chosen."""

    def __init__(self, mix: Mix, serves: Floats, wanted: Floats, focus: float, m: int) -> None:
        self._mix, self._serves, self._focus, self._lists = mix, serves, focus, np.arange(m)
        self._wanted, self._places = mix.room(m, wanted), mix.room(m)
        self._left = mix.room(m, np.bincount(mix.of[mix.of >= 0], minlength=len(wanted)))

    def bonus(self) -> Floats:
        quotients = np.where(self._left > 0, self._wanted / (2 * self._places + 1), 0.0)
        due = np.argmax(quotients, axis=1)
        most = quotients[self._lists, due][:, None]
        part = np.full(quotients.shape, 1 - self._focus)
        part[self._lists, due] = self._focus
        worth = part * quotients / np.where(most > 0, most, 1.0)
        return self._serves * worth[:, self._mix.of]

    def add(self, chosen: Ints) -> None:
        of = self._mix.of[chosen]
        self._places[self._lists, of] += 1
        self._left[self._lists, of] -= 1
