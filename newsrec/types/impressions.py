"""What readers were shown and what they clicked."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from newsrec.errors import DataError
from newsrec.types.ragged import Array, Ragged


@dataclass(frozen=True, slots=True, eq=False)
class Impressions:
    """``n`` lists shown to readers; carries rows, never text or language.

    ``ids (n,) str``; ``user (n,) int32``; ``time (n,) datetime64[s]``; ``history``: `Ragged` of
    news rows, each distinct history once, oldest first, and ``history_of (n,) int32`` says which
    one is an impression's; ``candidates``: `Ragged` of ``n`` lists of news rows; ``clicked
    (nnz,) bool`` aligned with ``candidates.values``, or None for an unlabelled split. Scores are
    ``(nnz,) float32`` with the same alignment.
    """

    ids: NDArray[np.str_]
    user: NDArray[np.int32]
    time: NDArray[np.datetime64]
    history: Ragged
    history_of: NDArray[np.int32]
    candidates: Ragged
    clicked: NDArray[np.bool_] | None = None

    def __post_init__(self) -> None:
        n = len(self.ids)
        for name in ("user", "time", "history_of"):
            if getattr(self, name).shape != (n,):
                raise DataError(f"Impressions.{name}: {getattr(self, name).shape}, expected ({n},)")
        if len(self.candidates) != n:
            raise DataError(f"Impressions.candidates: {len(self.candidates)} lists, expected {n}")
        if n and not (self.history_of.min() >= 0 and self.history_of.max() < len(self.history)):
            raise DataError(f"Impressions.history_of: outside 0 … {len(self.history) - 1}")
        if self.clicked is not None and self.clicked.shape != self.candidates.values.shape:
            raise DataError(
                f"Impressions.clicked: {self.clicked.shape}, "
                f"expected {self.candidates.values.shape} (one per candidate)"
            )

    def __len__(self) -> int:
        return len(self.ids)

    @property
    def history_lengths(self) -> NDArray[np.int64]:
        """Clicks known of each impression's reader, ``(n,)``."""
        return self.history.lengths[self.history_of]

    def take(self, rows: Array) -> Impressions:
        """The impressions ``rows (k,)`` in that order; only histories that are used remain."""
        rows = np.asarray(rows, np.int64)
        used, history_of = np.unique(self.history_of[rows], return_inverse=True)
        at = self.candidates.positions(rows)
        return Impressions(
            ids=self.ids[rows],
            user=self.user[rows],
            time=self.time[rows],
            history=self.history.take(used),
            history_of=history_of.astype(np.int32).reshape(-1),
            candidates=self.candidates.take(rows),
            clicked=None if self.clicked is None else self.clicked[at],
        )

    def keep_candidates(self, mask: NDArray[np.bool_]) -> Impressions:
        """Drop the candidates where ``mask (nnz,)`` is False; no impression is dropped."""
        if mask.shape != self.candidates.values.shape:
            raise DataError(f"mask: {mask.shape}, expected {self.candidates.values.shape}")
        # Differences of a running count are safe for empty lists, unlike np.add.reduceat.
        running = np.concatenate([[0], np.cumsum(mask)])
        lengths = running[self.candidates.offsets[1:]] - running[self.candidates.offsets[:-1]]
        return replace(
            self,
            candidates=Ragged.from_lengths(self.candidates.values[mask], lengths),
            clicked=None if self.clicked is None else self.clicked[mask],
        )
