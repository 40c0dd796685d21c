"""Time in equal buckets, as wide as the span of the articles asks for."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

_HOUR, _DAY = 3600, 86400
_STEPS = tuple([n * _HOUR for n in (1, 6)] + [n * _DAY for n in (1, 7, 28, 91, 364, 3640, 36400)])
# Buckets begin on a Monday at 00:00 UTC: 1969-12-29, so that a week is a newsroom's week.
_MONDAY = -3 * _DAY
_MOST = 72
_FAR = 0.02


@dataclass(frozen=True, slots=True)
class Timeline:
    """``n`` buckets of ``step_s`` seconds from ``start`` (seconds since 1970, UTC).

    ``n_unknown`` articles have no time; ``n_outside`` lie so far from all others that they would
    leave no room for them.
    """

    start: int
    step_s: int
    n: int
    n_unknown: int
    n_outside: int

    def bucket(self, published: NDArray[np.datetime64]) -> NDArray[np.int64]:
        """``(k,)``: the bucket of each time, -1 for NaT and outside."""
        seconds = published.astype("datetime64[s]").astype(np.int64)
        place = (seconds - self.start) // self.step_s
        known = ~np.isnat(published) & (place >= 0) & (place < self.n)
        return np.where(known, place, -1)

    def starts(self) -> NDArray[np.datetime64]:
        """``(n,) datetime64[s]``: where each bucket begins."""
        seconds = self.start + self.step_s * np.arange(self.n, dtype=np.int64)
        return seconds.astype("datetime64[s]")


def timeline(published: NDArray[np.datetime64]) -> Timeline | None:
    """At most 72 buckets of 1 or 6 hours, a day, 7, 28, 91, 364 … days over ``published
    (n,)``; None when no time is known.

    Up to 2 % of the articles are left outside when they lie further from the middle half than
    five times its width and a week (a wrong year, say).
    """
    known = ~np.isnat(published)
    seconds = published[known].astype("datetime64[s]").astype(np.int64)
    if not len(seconds):
        return None
    near = _near(seconds)
    first, last = int(seconds[near].min()), int(seconds[near].max())
    for step in _STEPS:
        start = first - (first - _MONDAY) % step
        n = (last - start) // step + 1
        if n <= _MOST:
            break
    inside = (seconds >= start) & (seconds < start + n * step)
    n_outside = len(seconds) - int(np.count_nonzero(inside))
    return Timeline(start, step, n, len(published) - len(seconds), n_outside)


def _near(seconds: NDArray[np.int64]) -> NDArray[np.bool_]:
    low, high = np.quantile(seconds, (0.25, 0.75))
    fence = 5 * (high - low) + 7 * _DAY
    near = (seconds >= low - fence) & (seconds <= high + fence)
    far = np.count_nonzero(~near) > _FAR * len(seconds)
    return np.ones_like(near) if far else near
