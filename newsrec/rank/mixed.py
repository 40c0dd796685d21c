"""One list from the shelves of several languages.

Each language is searched on its own `newsrec.rank.search.Shelf`, whose side has that language's
mean removed (``centre="language"``, whatever the encoder). Otherwise a language whose vectors share
a direction with the reader's wins by language alone: `exposure` of such a list is 1 for it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from newsrec.rank.search import first_of_story
from newsrec.rank.sides import Floats


@dataclass(frozen=True, slots=True, eq=False)
class MixedList:
    """``language (k,) int64`` indexes ``languages``; ``rows (k,)`` news rows; ``scores (k,)``."""

    languages: tuple[str, ...]
    language: NDArray[np.int64]
    rows: NDArray[np.int64]
    scores: Floats

    def once(self, story: NDArray[np.integer] | None) -> MixedList:
        """The first version of every article and, with ``story (n_news,)``, of every story."""
        keep = np.flatnonzero(first_of_story(self.rows))
        if story is not None:
            keep = keep[first_of_story(story[self.rows[keep]])]
        return replace(
            self, language=self.language[keep], rows=self.rows[keep], scores=self.scores[keep]
        )

    def head(self, n: int) -> MixedList:
        """The first ``n``."""
        return replace(self, language=self.language[:n], rows=self.rows[:n], scores=self.scores[:n])


def merge(
    found: Mapping[str, tuple[NDArray[np.int64], Floats]],
    k: int,
    story: NDArray[np.integer] | None = None,
    *,
    once: bool = True,
) -> MixedList:
    """The best ``k`` of the lists ``{language: (rows, scores)}``, best first.

    An article that is on several shelves, and with ``story (n_news,)`` a story, comes once, in the
    language in which it scores highest (all versions stay unless ``once``). Ties go to the smaller
    row, then to the language named first.
    """
    languages = tuple(found)
    language = np.repeat(np.arange(len(found)), [len(rows) for rows, _ in found.values()])
    rows = np.concatenate([np.zeros(0, np.int64), *(rows for rows, _ in found.values())])
    scores = np.concatenate([np.zeros(0, np.float32), *(scores for _, scores in found.values())])
    order = np.lexsort((language, rows, -scores))
    if once:
        order = order[first_of_story(rows[order])]
    if once and story is not None:
        order = order[first_of_story(story[rows[order]])]
    order = order[:k]
    return MixedList(languages, language[order], rows[order], scores[order])


def exposure(languages: Sequence[str]) -> dict[str, float]:
    """Share of each language in a list, largest first; sums to 1, empty for an empty list."""
    names, counts = np.unique(np.asarray(languages, np.str_), return_counts=True)
    order = np.argsort(-counts, kind="stable")
    return {str(names[i]): float(counts[i] / counts.sum()) for i in order}
