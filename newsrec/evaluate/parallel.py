"""Which impressions two languages serve alike: only these can be compared across languages.

A shelf drops candidates without text, and a list of five is easier than one of fifty: means over
lists of different lengths differ whatever the language does.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from newsrec.evaluate.report import EvalReport
from newsrec.types import Impressions

#: Below so many common impressions two languages are not compared, unless these are all they have.
MINIMUM = 30


@dataclass(frozen=True, slots=True, eq=False)
class Parallel:
    """Positions ``mine``, ``other`` of the impressions that two reports serve with the same
    candidates and clicks; ``whole``: these are all that either has."""

    mine: NDArray[np.int64]
    other: NDArray[np.int64]
    whole: bool

    @classmethod
    def of(cls, report: EvalReport, other: EvalReport) -> Parallel:
        mine, theirs = report.common(other)
        return cls(mine, theirs, len(mine) == len(report) == len(other))

    def __len__(self) -> int:
        return len(self.mine)

    @property
    def enough(self) -> bool:
        return self.whole or len(self) >= MINIMUM


def list_keys(impressions: Impressions) -> NDArray[np.uint64]:
    """A hash ``(n,)`` of each list: its candidates in their order, and their clicks."""
    lists = impressions.candidates
    clicked = np.zeros(len(lists.values), np.bool_)
    if impressions.clicked is not None:
        clicked = impressions.clicked
    place = np.arange(len(lists.values)) - np.repeat(lists.offsets[:-1], lists.lengths)
    words = lists.values.astype(np.uint64) * np.uint64(2) + clicked.astype(np.uint64)
    mixed = _mixed(_mixed(words) + place.astype(np.uint64))
    running = np.concatenate([np.zeros(1, np.uint64), np.cumsum(mixed, dtype=np.uint64)])
    sums: NDArray[np.uint64] = running[lists.offsets[1:]] - running[lists.offsets[:-1]]
    return sums


def _mixed(x: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """SplitMix64 (Steele, Lea and Flood 2014); arithmetic wraps around."""
    x = x + np.uint64(0x9E3779B97F4A7C15)
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return x ^ (x >> np.uint64(31))
