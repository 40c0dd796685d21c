"""Visits to impressions: a reader's history is what they clicked strictly before."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from newsrec.corpus.clicks import Visit
from newsrec.types import Impressions, Ragged


def impressions_of(
    visits: Sequence[Visit], row_of: Mapping[str, int], limit: int
) -> tuple[Impressions, NDArray[np.str_]]:
    """``n`` visits as impressions in the same order, and the readers ``(n_users,)``.

    Every id shown is in ``row_of``. Histories hold the newest ``limit`` clicks, oldest first:
    stored whole, they would grow with the square of a reader's clicks.
    """
    user_row: dict[str, int] = {}
    user = np.array([user_row.setdefault(v.user, len(user_row)) for v in visits], np.int32)
    time = np.array([visit.time for visit in visits], "datetime64[s]")
    lengths = np.array([len(visit.shown) for visit in visits], np.int64)
    rows = np.array([row_of[name] for v in visits for name in v.shown], np.int32)
    clicked = np.array([c for v in visits for c in v.shown.values()], np.bool_)
    candidates = Ragged.from_lengths(rows, lengths)
    owner = candidates.owner()[clicked]
    history, history_of = _histories(user, time, owner, rows[clicked], limit)
    impressions = Impressions(
        ids=np.array([visit.id for visit in visits], np.str_),
        user=user,
        time=time,
        history=history,
        history_of=history_of,
        candidates=candidates,
        clicked=clicked,
    )
    return impressions, np.array(list(user_row), np.str_)


def _histories(
    user: NDArray[np.int32],
    time: NDArray[np.datetime64],
    owner: NDArray[np.int64],
    rows: NDArray[np.int32],
    limit: int,
) -> tuple[Ragged, NDArray[np.int32]]:
    """Each different history once, and whose it is, ``(n,)``: clicks ``rows (k,)`` of the
    impressions ``owner (k,)``."""
    if not len(user):
        return Ragged.from_lists([]), np.zeros(0, np.int32)
    seconds = time.astype(np.int64)
    span = int(seconds.max() - seconds.min()) + 1
    # One number that sorts by reader, then by time.
    key = user.astype(np.int64) * span + (seconds - seconds.min())
    order = np.argsort(key[owner], kind="stable")
    clicks, when = rows[order], key[owner][order]
    first = np.searchsorted(when, user.astype(np.int64) * span, side="left")
    stop = np.searchsorted(when, key, side="left")
    first = np.maximum(first, stop - limit)
    pairs, history_of = np.unique(
        np.stack([np.where(first == stop, 0, first), np.where(first == stop, 0, stop)], axis=1),
        axis=0,
        return_inverse=True,
    )
    lengths = pairs[:, 1] - pairs[:, 0]
    begin = np.cumsum(lengths) - lengths
    at = np.arange(int(lengths.sum())) + np.repeat(pairs[:, 0] - begin, lengths)
    return Ragged.from_lengths(clicks[at], lengths), history_of.reshape(-1).astype(np.int32)
