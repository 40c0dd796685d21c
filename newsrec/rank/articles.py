"""Every article that impressions name, once, and what a head reads of it.

An article is read in the history's language or the shelf's; where the two are the same matrices it
is one article, and its vector is worked out once.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from newsrec.errors import DataError
from newsrec.rank.histories import history_rows, only
from newsrec.rank.inputs import Inputs, Ints
from newsrec.rank.sides import Floats, Side
from newsrec.types import Features, Impressions, Ragged


@dataclass(frozen=True, slots=True, eq=False)
class Articles:
    """``n`` distinct articles; ``history`` and ``candidates`` of the impressions number them.

    ``row (n,)``: row of the matrices of their side, ``clicked (n,) bool``: that side is the
    history's; ``present (n, n_views)``; ``category (n,)`` and ``entities (n, max_entities)``: rows
    of the head's tables, 0 unknown. ``history`` has the newest (or oldest) clicks of which some
    view has a vector. ``text (n, n_views)``: the number of each text, -1 none, where texts are
    encoded anew and stored vectors not read; else None.
    """

    inputs: Inputs
    sides: tuple[tuple[Side, Side], ...]
    row: Ints
    clicked: NDArray[np.bool_]
    present: NDArray[np.bool_]
    category: Ints
    entities: Ints
    history: Ragged
    candidates: Ragged
    text: Ints | None = None

    def __len__(self) -> int:
        return len(self.row)

    def vectors(self, which: Ints) -> Floats:
        """``(k, n_views, dim) float32`` of articles ``which (k,)``; zeros where there is none."""
        out = np.empty((len(which), len(self.sides), self.inputs.dim), np.float32)
        from_history, rows = self.clicked[which], self.row[which]
        for view, pair in enumerate(self.sides):
            for side, here in zip(pair, (from_history, ~from_history), strict=True):
                if here.all():
                    _take(side, rows, out[:, view])
                elif here.any():
                    out[here, view] = side.at(rows[here])
        if self.inputs.length != 1.0:
            out *= np.float32(self.inputs.length)
        return out


def _take(side: Side, rows: Ints, out: Floats) -> None:
    """``side.at(rows)`` into ``out (k, dim)``, in one pass over plain rows; absent ones are stored
    as zeros."""
    plain = side.mean is None and side.scale is None and side.vectors.dtype == np.float32
    if plain and out.flags.c_contiguous and len(side):
        np.take(np.asarray(side.vectors), rows, axis=0, out=out, mode="clip")
    else:
        out[:] = side.at(rows)


def articles_of(
    impressions: Impressions,
    features: Features,
    inputs: Inputs,
    *,
    history_limit: int = 50,
    newest: bool = True,
) -> Articles:
    """The articles of ``impressions`` as a head with ``inputs`` reads them.

    Of each history the ``newest`` ``history_limit`` clicks that can be read, else the oldest.
    `ConfigError` when the features are another encoder's, `DataError` for rows out of range.
    """
    news = features.news
    pairs = inputs.sides(features)
    shown = impressions.candidates.values.astype(np.int64)
    _check_range("candidate", shown, len(news))
    read = impressions.history.values.astype(np.int64)
    _check_range("history", read, len(news))
    at = history_rows(impressions, features).values.astype(np.int64) if pairs else read
    readable = at >= 0
    if pairs:
        sizes = {len(history) for history, _ in pairs}, {len(shelf) for _, shelf in pairs}
        _check_range("history", at[readable], min(sizes[0]))
        _check_range("candidate", shown, min(sizes[1]))
        readable[readable] = _any_present([h for h, _ in pairs], at[readable])
    # Both rows of a click are cut alike: as one number.
    both = only(impressions.history.like(at * len(news) + read), readable)
    history = both.tail(history_limit) if newest else both.head(history_limit)
    same = features.history_rows is None and all(h is s for h, s in pairs)
    rows, of_news, clicked, clicks, places = _distinct(history.values, shown, len(news), same)
    present = np.zeros((len(rows), len(pairs)), np.bool_)
    for view, pair in enumerate(pairs):
        for side, here in zip(pair, (clicked, ~clicked), strict=True):
            present[here, view] = side.present[rows[here]]
    return Articles(
        inputs, pairs, rows, clicked, present,
        inputs.category_rows(news)[of_news], inputs.entity_rows(news)[of_news],
        history.like(clicks), impressions.candidates.like(places),
    )  # fmt: skip


def _distinct(
    read: Ints, shown: Ints, n_news: int, same: bool
) -> tuple[Ints, Ints, NDArray[np.bool_], Ints, Ints]:
    """``(row, news, clicked)`` of every distinct article, then the numbers of clicks and
    candidates among them; ``read``: matrix row times ``n_news`` plus news row."""
    if same:
        used, numbers = _numbered(np.concatenate([read % max(n_news, 1), shown]), n_news)
        k = len(read)
        return used, used, np.zeros(len(used), np.bool_), numbers[:k], numbers[k:]
    pairs, clicks = np.unique(read, return_inverse=True)
    used, places = _numbered(shown, n_news)
    rows = np.concatenate([pairs // max(n_news, 1), used])
    of_news = np.concatenate([pairs % max(n_news, 1), used])
    clicked = np.arange(len(rows)) < len(pairs)
    return rows, of_news, clicked, clicks.reshape(-1).astype(np.int64), places + len(pairs)


def _numbered(values: Ints, n: int) -> tuple[Ints, Ints]:
    """The distinct ``values`` below ``n``, rising, and the number of each value among them."""
    seen = np.zeros(n, np.bool_)
    seen[values] = True
    number = np.cumsum(seen) - 1
    return np.flatnonzero(seen), number[values]


def _any_present(sides: list[Side], rows: Ints) -> NDArray[np.bool_]:
    found = np.zeros(len(rows), np.bool_)
    for side in sides:
        found |= side.present[rows]
    return found


def _check_range(what: str, rows: Ints, n: int) -> None:
    if len(rows) and not 0 <= rows.min() <= rows.max() < n:
        bad = rows.min() if rows.min() < 0 else rows.max()
        raise DataError(f"{what} row {bad}, but there are {n} rows")
