"""Late fusion: candidate times history, averaged (LFRec).

score(candidate) = mean over the history of candidate · history, the dot-product fusion of Iana,
Glavaš & Paulheim 2023 ("Simplifying Content-Based Neural News Recommendation", SIGIR), used with a
frozen encoder in "News Without Borders" §4 (paper 004). A mean of products is a product with the
mean, so each reader is one vector and nothing is trained.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from newsrec.errors import ConfigError, DataError, unknown_name
from newsrec.rank.centre import CENTRES, sides
from newsrec.rank.histories import Rows, has_vector, history_rows, only
from newsrec.rank.sides import Floats, Side
from newsrec.types import Embeddings, Features, Impressions, Ragged

#: Values of reader vectors held at a time: 128 MB.
_READER_VALUES = 1 << 25


Languages = NDArray[np.integer] | None


@dataclass(frozen=True, slots=True, eq=False)
class LateFusion:
    """A `Ranker` without parameters.

    Reads ``features.history[view]`` and ``features.candidates[view]``. ``history_limit``: the
    newest (``newest=True``) or oldest clicks that have a vector, None for all; the others do not
    count. ``normalize`` and ``centre`` as in `newsrec.rank.centre.sides`; the defaults
    leave raw encoders as published and centre those with rows of length 1. ``history_language`` and
    ``shelf_language`` number the language of each row of the two matrices where they mix several;
    None: as the features say.

    Readers without history, and candidates without a vector, score 0.
    """

    view: str = "title+abstract"
    history_limit: int | None = 50
    newest: bool = True
    normalize: bool | str = "spec"
    centre: str = "spec"
    history_language: Languages = None
    shelf_language: Languages = None
    threads: int | None = None

    def __post_init__(self) -> None:
        if self.centre not in CENTRES:
            raise unknown_name("centre", self.centre, CENTRES)
        if self.normalize not in (True, False, "spec"):
            raise unknown_name("normalize", str(self.normalize), ("True", "False", "spec"))
        if self.history_limit is not None and self.history_limit < 1:
            raise ConfigError(f"history_limit: {self.history_limit}, expected at least 1, or None")

    def sides(self, features: Features) -> tuple[Side, Side]:
        """``(history, shelf)`` as this fusion compares them; `newsrec.rank.search` takes the
        second, `newsrec.rank.reasons` rows of both."""
        return sides(
            _view(features.history, self.view, "history"),
            _view(features.candidates, self.view, "candidates"),
            centre=self.centre,
            normalize=self.normalize,
            history_language=_first(self.history_language, features.history_language),
            shelf_language=_first(self.shelf_language, features.shelf_language),
            means=None if features.means is None else features.means.get(self.view),
        )

    def read(self, impressions: Impressions, features: Features) -> Ragged:
        """Rows of the history matrix that count, per distinct history: ``len(history)`` lists."""
        embeddings = _view(features.history, self.view, "history")
        lists = history_rows(impressions, features)
        kept = only(lists, has_vector(lists.values, embeddings.present))
        if self.history_limit is None:
            return kept
        return kept.tail(self.history_limit) if self.newest else kept.head(self.history_limit)

    def score(self, impressions: Impressions, features: Features) -> Floats:
        """``(nnz,) float32``."""
        history, shelf = self.sides(features)
        candidates, read = impressions.candidates, self.read(impressions, features)
        _check_rows(candidates.values, len(shelf))
        scores = np.zeros(len(candidates.values), np.float32)
        order = np.argsort(impressions.history_of, kind="stable")
        sorted_of = impressions.history_of[order]
        step = max(1, _READER_VALUES // shelf.dim)
        for first in range(0, len(read), step):
            here = np.arange(first, min(first + step, len(read)))
            readers = history.means(
                read if len(here) == len(read) else read.take(here), self.threads
            )
            a, b = np.searchsorted(sorted_of, [first, first + len(here)])
            lists, of = candidates.take(order[a:b]), sorted_of[a:b] - first
            scores[candidates.positions(order[a:b])] = shelf.dots(lists, readers, of, self.threads)
        return scores


def _first(own: Languages, said: Languages) -> Languages:
    return said if own is None else own


def _view(found: Mapping[str, Embeddings], view: str, side: str) -> Embeddings:
    if view not in found:
        have = ", ".join(found) or "none"
        raise ConfigError(
            f"late fusion needs the {side} vectors of view {view!r}; the features have: {have}"
        )
    return found[view]


def _check_rows(rows: Rows, n: int) -> None:
    if len(rows) and not 0 <= rows.min() <= rows.max() < n:
        bad = rows.min() if rows.min() < 0 else rows.max()
        raise DataError(f"candidate row {bad}, but the candidate matrix has {n} rows")
