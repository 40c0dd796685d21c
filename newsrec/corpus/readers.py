"""What one reader has read so far."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from newsrec.corpus.folder import Corpus
from newsrec.types import Impressions


@dataclass(frozen=True, slots=True, eq=False)
class Reading:
    """One reader's history, oldest first.

    ``rows (h,) int32`` are news rows; ``language (h,) int16`` is the place in ``corpus.languages``
    of the language each was read in, -1 where the log does not say.
    """

    rows: NDArray[np.int32]
    language: NDArray[np.int16]

    def __len__(self) -> int:
        return len(self.rows)


_NOTHING = Reading(np.zeros(0, np.int32), np.zeros(0, np.int16))


def reading(corpus: Corpus, user: str, as_of: np.datetime64) -> Reading | None:
    """The reader's history at ``as_of``, or None for a reader the corpus does not know.

    It is the history logged with the reader's last impression up to then, followed by what was
    clicked in the reader's impressions up to then and is not in it already.
    """
    found = np.flatnonzero(corpus.users == user)
    if not len(found):
        return None
    logged, latest = _NOTHING, np.datetime64("NaT", "s")
    clicks: list[tuple[np.datetime64, int]] = []
    for split in corpus.splits:
        impressions = corpus.impressions(split)
        mine = np.flatnonzero((impressions.user == found[0]) & (impressions.time <= as_of))
        if not len(mine):
            continue
        last = mine[np.argmax(impressions.time[mine])]
        if np.isnat(latest) or impressions.time[last] >= latest:
            latest = impressions.time[last]
            read_in = corpus.history_language(split)
            logged = _logged(impressions, read_in, int(impressions.history_of[last]))
        clicks.extend(_clicked(impressions, mine))
    return _followed_by(logged, clicks)


def _logged(impressions: Impressions, read_in: NDArray[np.int16] | None, which: int) -> Reading:
    """History ``which``, in the languages ``read_in (nnz of history,)`` if the log tells."""
    rows = np.asarray(impressions.history[which], np.int32)
    if read_in is None:
        return Reading(rows, np.full(len(rows), -1, np.int16))
    offsets = impressions.history.offsets
    return Reading(rows, np.asarray(read_in[offsets[which] : offsets[which + 1]]))


def _clicked(
    impressions: Impressions, mine: NDArray[np.int64]
) -> Iterator[tuple[np.datetime64, int]]:
    """Time and news row of each click in the impressions ``mine``; none where unlabelled."""
    if impressions.clicked is None:
        return
    offsets = impressions.candidates.offsets
    for i in mine:
        at = slice(offsets[i], offsets[i + 1])
        shown = impressions.candidates.values[at][impressions.clicked[at]]
        yield from ((impressions.time[i], int(row)) for row in shown)


def _followed_by(logged: Reading, clicks: list[tuple[np.datetime64, int]]) -> Reading:
    """``logged`` and after it, in order of time, what was clicked and is not in it."""
    in_order = sorted(clicks, key=lambda click: click[0])
    known = set(logged.rows.tolist())
    later = [row for row in dict.fromkeys(row for _, row in in_order) if row not in known]
    return Reading(
        np.concatenate([logged.rows, np.array(later, np.int32)]),
        np.concatenate([logged.language, np.full(len(later), -1, np.int16)]),
    )
