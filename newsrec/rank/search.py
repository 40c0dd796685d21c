"""The best articles of a whole shelf for one reader: exact on small shelves, a funnel on large."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from newsrec.errors import ConfigError, DataError
from newsrec.rank.funnel import Funnel, open_funnel
from newsrec.rank.sides import Floats, Side

Rows = NDArray[np.int64]

#: Shelves smaller than this are searched exactly, without FAISS: 200,000 x 256 takes some 30 ms.
EXACT_BELOW = 200_000

#: Shortlist of the funnel: at least this many, this many times ``k``, this part of the shelf.
_SHORTLIST, _SHORTLIST_PER_K, _SHORTLIST_PART = 2000, 20, 1 / 250


@dataclass(frozen=True, slots=True, eq=False)
class Shelf:
    """``rows (m,)`` of ``side``, rising, that may be recommended.

    ``story (n,)`` numbers the story of every row of ``side``, -1 for one of its own, or is None.
    ``funnel`` indexes at least these rows; without it every search is exact.
    """

    side: Side
    rows: Rows
    story: NDArray[np.integer] | None = None
    funnel: Funnel | None = None
    exact_below: int = EXACT_BELOW

    def __post_init__(self) -> None:
        n = len(self.side)
        if len(self.rows) and not (self.rows[0] >= 0 and self.rows[-1] < n):
            raise DataError(f"Shelf.rows: outside 0 … {n - 1}")
        if np.any(np.diff(self.rows) <= 0):
            raise DataError("Shelf.rows: expected rising row numbers, each once")
        if self.story is not None and self.story.shape != (n,):
            raise DataError(f"Shelf.story: {self.story.shape}, expected ({n},)")

    @classmethod
    def of(
        cls,
        side: Side,
        rows: NDArray[np.integer] | None = None,
        *,
        story: NDArray[np.integer] | None = None,
        levels: Sequence[int] = (),
        folder: Path | None = None,
        key: str = "",
        exact_below: int = EXACT_BELOW,
    ) -> Shelf:
        """A shelf of ``rows`` (default: all present). From ``exact_below`` rows on it is indexed at
        the smallest of ``levels`` (none: all dimensions); the index is kept in ``folder / key``,
        where ``key`` names what the vectors depend on (their spec's hash, the centring)."""
        every = np.flatnonzero(side.present)
        chosen = every if rows is None else np.unique(np.asarray(rows, np.int64))
        funnel = None
        if len(chosen) >= exact_below:
            dim = min(levels, default=side.dim)
            # The index holds all present rows: other choices of rows can use it, too.
            funnel = (
                Funnel.build(side, every, dim, key)
                if folder is None
                else open_funnel(folder / (key or "index"), side, every, dim, key)
            )
        return cls(side, chosen, story, funnel, exact_below)

    def top(
        self, reader: Floats, k: int, exclude: NDArray[np.integer] | Sequence[int] = ()
    ) -> tuple[Rows, Floats]:
        """The best ``k`` rows for ``reader (dim,)`` and their scores, best first.

        Never a row of ``exclude``, never two of one story. Ties go to the smaller row. Fewer than
        ``k`` only when the shelf has no more.
        """
        if k < 1:
            raise ConfigError(f"k: {k}, expected at least 1")
        rows, allowed = self.rows, None
        if len(exclude) or self.funnel is not None:
            allowed = np.zeros(len(self.side), np.bool_)
            allowed[rows] = True
            allowed[np.asarray(exclude, np.int64)] = False
            rows = rows[allowed[rows]]
        if self.funnel is not None and allowed is not None and len(rows) >= self.exact_below:
            found = self._funnelled(self.funnel, reader, k, allowed)
            if found is not None:
                return found
        whole = len(rows) == len(self.side)
        return self._best(rows, self.side.dot(reader, None if whole else rows), k)

    def _funnelled(
        self, funnel: Funnel, reader: Floats, k: int, allowed: NDArray[np.bool_]
    ) -> tuple[Rows, Floats] | None:
        """By the index; None when even a long shortlist holds fewer than ``k`` stories."""
        size = max(_SHORTLIST, _SHORTLIST_PER_K * k, int(_SHORTLIST_PART * len(allowed)))
        size = min(size, len(allowed))
        for _ in range(2):
            short = np.sort(funnel.shortlist(reader, size, allowed))
            rows, scores = self._best(short, self.side.dot(reader, short), k)
            if len(rows) == k:
                return rows, scores
            size = min(10 * size, len(allowed))
        return None

    def _best(self, rows: Rows, scores: Floats, k: int) -> tuple[Rows, Floats]:
        wanted = k
        while True:
            at = highest(scores, wanted)
            if self.story is not None:
                at = at[first_of_story(self.story[rows[at]])]
            if len(at) >= k or wanted >= len(rows):
                return rows[at[:k]], scores[at[:k]]
            wanted *= 4


def highest(scores: Floats, k: int) -> Rows:
    """Positions of the ``k`` highest scores, highest first; ties go to the smaller position."""
    n = len(scores)
    at = np.arange(n)
    if k < n:
        threshold = np.partition(scores, n - k)[n - k]
        at = np.flatnonzero(scores >= threshold)
    return at[np.argsort(-scores[at], kind="stable")][:k]


def first_of_story(story: NDArray[np.integer]) -> NDArray[np.bool_]:
    """``(k,)``: True for the first article of every story of a list; -1 is a story of its own."""
    keep = np.asarray(story < 0)
    _, first = np.unique(story, return_index=True)
    keep[first] = True
    return keep
