"""Unclicked articles for logs that do not tell what was shown: a stand-in, recorded as such."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta

import numpy as np
from numpy.typing import NDArray

from newsrec.corpus.clicks import Visit


@dataclass(frozen=True, slots=True, eq=False)
class Published:
    """Articles ``ids (n,)`` of one language in order of ``time (n,) datetime64[s]``."""

    ids: list[str]
    time: NDArray[np.datetime64]

    def between(self, after: np.datetime64, until: np.datetime64) -> list[str]:
        """Published after ``after`` and up to ``until``."""
        ends = np.searchsorted(self.time, np.array([after, until]), side="right")
        return self.ids[int(ends[0]) : int(ends[1])]


def by_language(
    ids: Sequence[str], language_of: NDArray[np.int16], time: NDArray[np.datetime64]
) -> dict[int, Published]:
    """The articles whose time is known, by place of their language."""
    found = {}
    for place in np.unique(language_of):
        rows = np.flatnonzero((language_of == place) & ~np.isnat(time))
        rows = rows[np.argsort(time[rows], kind="stable")]
        found[int(place)] = Published([ids[row] for row in rows.tolist()], time[rows])
    return found


def add_negatives(
    visits: Sequence[Visit],
    shelves: dict[int, Published],
    language_of: dict[str, int],
    n: int,
    window: timedelta,
    rng: np.random.Generator,
) -> tuple[list[Visit], int]:
    """Visits of a lone click with ``n`` articles added that the reader never clicked; and to how
    many fewer could be added.

    They are drawn without replacement from those in the language of the click (another language
    would give the click away) published in the ``window`` before it, and stand with the click in
    random order. Visits whose list is known stay as they are.
    """
    clicked: dict[str, set[str]] = {}
    for visit in visits:
        taken = (name for name, was in visit.shown.items() if was)
        clicked.setdefault(visit.user, set()).update(taken)
    found, short = [], 0
    for visit in visits:
        if visit.complete or not visit.shown:
            found.append(visit)
            continue
        shelf = shelves.get(language_of[next(iter(visit.shown))])
        recent = shelf.between(visit.time - np.timedelta64(window), visit.time) if shelf else []
        drawn = _draw(recent, clicked[visit.user], n, rng)
        short += len(drawn) < n
        names = [*visit.shown, *drawn]
        shown = {names[k]: visit.shown.get(names[k], False) for k in rng.permutation(len(names))}
        found.append(Visit(visit.id, visit.user, visit.time, False, shown))
    return found, short


def _draw(recent: list[str], refused: set[str], n: int, rng: np.random.Generator) -> list[str]:
    drawn: dict[str, None] = {}
    if len(recent) > 4 * (n + len(refused)):
        # Few of many: drawing again what was drawn or refused is cheaper than listing the rest.
        while len(drawn) < n:
            for k in rng.integers(0, len(recent), n - len(drawn)):
                if recent[k] not in refused:
                    drawn[recent[k]] = None
        return list(drawn)
    rest = [name for name in recent if name not in refused]
    return [rest[int(k)] for k in rng.permutation(len(rest))[:n]]
