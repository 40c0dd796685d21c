"""Why an article is recommended: the article read that speaks most for it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from newsrec.rank.sides import Floats


@dataclass(frozen=True, slots=True, eq=False)
class Reasons:
    """``which (k,)``: position in the history of the article that contributes most to each of ``k``
    recommendations, -1 without a history; ``share (k,) float32`` in [0, 1]."""

    which: NDArray[np.int64]
    share: Floats


def reasons(shelf: Floats, history: Floats) -> Reasons:
    """Exact under late fusion: a score is the sum over the history of candidate · read / n.

    ``shelf (k, dim)`` and ``history (h, dim)`` are rows of the two sides of the fusion that made
    the scores (`newsrec.rank.sides.Side.at`). Contributions can be negative (against the article),
    so ``share`` is the largest contribution over the sum of the positive ones: of all that speaks
    for the article, how much this one says. Without negative contributions that is its share of
    the score. When nothing speaks for an article the share is 0, and what speaks least against it
    is named. Ties go to the newest article.
    """
    if not len(history):
        return Reasons(np.full(len(shelf), -1, np.int64), np.zeros(len(shelf), np.float32))
    parts = np.einsum("kd,hd->kh", shelf.astype(np.float64), history.astype(np.float64))
    which = parts.shape[1] - 1 - np.argmax(parts[:, ::-1], axis=1)
    for_it = np.maximum(parts, 0)
    total = for_it.sum(1)
    best = for_it[np.arange(len(shelf)), which]
    share = np.divide(best, total, out=np.zeros(len(shelf)), where=total > 0)
    return Reasons(which, share.astype(np.float32))
