"""The plainest greedy list: every remaining candidate is tried at every place."""

from __future__ import annotations

from collections.abc import Callable

from newsrec.rerank.greedy import TIE
from newsrec.types import Pool


def relevance(pool: Pool) -> list[float]:
    """Scores from 0 to 1."""
    scores = [float(s) for s in pool.scores]
    low, high = min(scores), max(scores)
    return [(s - low) / (high - low) if high > low else 0.0 for s in scores]


def greedily(pool: Pool, worth: Callable[[list[int]], float], k: int) -> list[int]:
    """``k`` candidates, each with the largest ``worth`` of the list with it (ties in score order),
    then the rest in score order."""
    left = sorted(range(len(pool)), key=lambda i: -float(pool.scores[i]))
    head: list[int] = []
    while left and len(head) < k:
        tried = [worth([*head, i]) for i in left]
        head.append(left.pop(next(j for j, w in enumerate(tried) if w >= max(tried) - TIE)))
    return head + left
