"""Which texts go through a model together."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray


def batches(
    lengths: NDArray[np.int64], *, budget: int, most: int | None = None, spread: float = 1.0
) -> Iterator[NDArray[np.int64]]:
    """Rows ``(k,)`` of each batch; together every row of ``lengths (n,)`` (in tokens) once.

    Longest first, so that what does not fit into memory fails at once; at most ``budget`` tokens a
    batch with its padding and ``most`` texts, never less than one text; no text is shorter than
    the longest of its batch by more than the share ``spread``. 0: nothing is padded.
    """
    order = np.argsort(-lengths, kind="stable")
    falling = lengths[order]
    start = 0
    while start < len(order):
        longest = int(falling[start])
        end = start + max(1, budget // max(longest, 1))
        if most is not None:
            end = min(end, start + most)
        if spread < 1:
            shortest = longest - int(longest * spread)
            end = min(end, int(np.searchsorted(-falling, -shortest, side="right")))
        yield order[start:end]
        start = min(end, len(order))


def padded(
    tokens: Sequence[Sequence[int]], pad: int, *, left: bool = False
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """``(ids, mask)``, both ``(n, longest)``; ``mask`` is 1 where there is a token."""
    width = max(map(len, tokens))
    ids = np.full((len(tokens), width), pad, np.int64)
    mask = np.zeros((len(tokens), width), np.int64)
    for i, row in enumerate(tokens):
        at = slice(width - len(row), width) if left else slice(0, len(row))
        ids[i, at], mask[i, at] = row, 1
    return ids, mask
