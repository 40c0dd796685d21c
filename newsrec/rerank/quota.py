"""At most so many articles per story, topic, …, and a story in the reader's best language."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from newsrec.errors import ConfigError
from newsrec.languages import canonical
from newsrec.rerank.greedy import (
    Ints,
    by_worth,
    check_count,
    check_weight,
    relevance_of,
    score_order,
)
from newsrec.types import Pool

STORY = "story"


@dataclass(frozen=True, slots=True)
class Quota:
    """Candidates in score order, those over a quota after the others.

    ``at_most``: aspect to the largest number of articles per class; unknown classes have no quota.
    Walking down in score order, a candidate is over when one of its classes is full, and then
    fills none. ``languages``: the reader's, best first (ISO 639-3); where stories have a quota, the
    versions of a story exchange places so that the best language takes the best place (languages
    that are not named last, ties in score order).

    Below a relevance weight of 1/2 the quota is strict; above, a candidate that is over it costs
    ``1 - w`` and may come back by its relevance, ``w`` times [0, 1]; at 1 there is neither quota
    nor exchange. Raises `DataError` for candidates without one of the aspects, `ConfigError` for a
    language that nobody knows.
    """

    relevance_weight: float = 0.0
    at_most: Mapping[str, int] = field(default_factory=lambda: {STORY: 1})
    languages: Sequence[str] = ()

    def __post_init__(self) -> None:
        check_weight(self.relevance_weight)
        for aspect, n in self.at_most.items():
            check_count(f"at_most[{aspect!r}]", n)
        if isinstance(self.languages, str):
            raise ConfigError(f"languages: {self.languages!r}, expected a list of codes")
        codes = tuple(canonical(code, "--rerank quota, languages") for code in self.languages)
        object.__setattr__(self, "languages", codes)

    def __call__(self, pool: Pool) -> Ints:
        """Permutation of ``range(n)``, best first."""
        return np.asarray(self.orders(pool, (self.relevance_weight,))[0])

    def orders(self, pool: Pool, weights: Sequence[float]) -> Ints:
        """The same at each of ``weights (m,)``, ``(m, n)``."""
        order = places = score_order(pool)
        if STORY in self.at_most and self.languages and pool.language is not None:
            order = best_language_first(places, pool.classes(STORY), _preference(self, pool))
        over = over_quota(
            [(pool.classes(aspect)[order], n) for aspect, n in self.at_most.items()], len(pool)
        )
        # Relevance belongs to the place: a version in a better language takes both.
        relevance = relevance_of(pool)[places]
        w = np.asarray(weights, np.float64)[:, None]
        worth = w * relevance - (1 - w) * over
        found = order[by_worth(worth, np.arange(len(pool)))]
        return np.where(w == 1, places, found)


def _preference(quota: Quota, pool: Pool) -> Ints:
    """Place of each candidate's language in the reader's preference, ``(n,)``."""
    wanted = list(quota.languages)
    rank = [wanted.index(x) if x in wanted else len(wanted) for x in pool.languages]
    return np.asarray(rank, np.int64)[np.asarray(pool.language, np.int64)]


def best_language_first(order: Ints, story: Ints, preference: Ints) -> Ints:
    """``order (n,)`` with the members of each story exchanged so that they stand by rising
    ``preference (n,)``, ties in ``order``; a story keeps its places. Story -1: alone."""
    place = np.arange(len(order))
    own = np.where(story[order] >= 0, story[order], -1 - place)
    places = np.lexsort((place, own))
    members = np.lexsort((place, preference[order], own))
    found = np.empty_like(order)
    found[places] = order[members]
    return found


def over_quota(aspects: list[tuple[Ints, int]], n: int) -> NDArray[np.bool_]:
    """Which of ``n`` places are over a quota; ``aspects``: classes ``(n,)`` by place, -1 unknown,
    and how many a class may have."""
    over = np.zeros(n, np.bool_)
    seen: list[dict[int, int]] = [{} for _ in aspects]
    columns = [classes.tolist() for classes, _ in aspects]
    most = [limit for _, limit in aspects]
    for place, own in enumerate(zip(*columns, strict=True)):
        full = (c >= 0 and s.get(c, 0) >= m for c, s, m in zip(own, seen, most, strict=True))
        if any(full):
            over[place] = True
            continue
        for c, s in zip(own, seen, strict=True):
            s[c] = s.get(c, 0) + 1
    return over
