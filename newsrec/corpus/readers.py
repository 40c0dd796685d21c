"""What one reader has read so far."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from newsrec.corpus.folder import Corpus


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


def reading(corpus: Corpus, user: str, as_of: np.datetime64) -> Reading | None:
    """The reader's history at ``as_of``, or None for a reader the corpus does not know.

    It is the history logged with the reader's last impression up to then, followed by what was
    clicked in the reader's impressions up to then and is not in it already.
    """
    found = np.flatnonzero(corpus.users == user)
    if not len(found):
        return None
    latest = np.datetime64("NaT", "s")
    rows, language = np.zeros(0, np.int32), np.zeros(0, np.int16)
    clicks: list[tuple[np.datetime64, int]] = []
    for split in corpus.splits:
        impressions = corpus.impressions(split)
        mine = np.flatnonzero((impressions.user == found[0]) & (impressions.time <= as_of))
        if not len(mine):
            continue
        last = mine[np.argmax(impressions.time[mine])]
        if np.isnat(latest) or impressions.time[last] >= latest:
            latest = impressions.time[last]
            which = int(impressions.history_of[last])
            rows = np.asarray(impressions.history[which], np.int32)
            read_in = corpus.history_language(split)
            offsets = impressions.history.offsets
            language = (
                np.full(len(rows), -1, np.int16)
                if read_in is None
                else np.asarray(read_in[offsets[which] : offsets[which + 1]])
            )
        if impressions.clicked is not None:
            for i in mine:
                at = slice(impressions.candidates.offsets[i], impressions.candidates.offsets[i + 1])
                shown = impressions.candidates.values[at][impressions.clicked[at]]
                clicks.extend((impressions.time[i], int(row)) for row in shown)
    clicks.sort(key=lambda click: click[0])
    later = [
        row for row in dict.fromkeys(row for _, row in clicks) if row not in set(rows.tolist())
    ]
    return Reading(
        np.concatenate([rows, np.array(later, np.int32)]),
        np.concatenate([language, np.full(len(later), -1, np.int16)]),
    )
