"""Rectangles whose areas are the values: squarified treemap (Bruls, Huizing and van Wijk 2000)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

Box = tuple[float, float, float, float]


def squarify(values: Sequence[float], box: Box) -> NDArray[np.float64]:
    """``(n, 4)``: x, y, width and height in ``box`` for each of ``values``, largest first, all
    above 0. They cover the box without overlap, as near to squares as rows of them can be."""
    x, y, width, height = box
    left = float(sum(values))
    places = np.zeros((len(values), 4))
    start = 0
    while start < len(values):
        side = min(width, height)
        scale = width * height / left
        end, total = _row(values, start, side, scale)
        across = total * scale / side
        along = np.array(values[start:end], float) / total * side
        offset = np.r_[0, np.cumsum(along)[:-1]]
        if width >= height:
            places[start:end] = [
                (x, y + at, across, n) for at, n in zip(offset, along, strict=True)
            ]
            x, width = x + across, max(width - across, 1e-9)
        else:
            places[start:end] = [
                (x + at, y, n, across) for at, n in zip(offset, along, strict=True)
            ]
            y, height = y + across, max(height - across, 1e-9)
        left -= total
        start = end
    return places


def _row(values: Sequence[float], start: int, side: float, scale: float) -> tuple[int, float]:
    """Where the row from ``start`` ends, and its sum: one more would make its worst longer."""
    total, worst = 0.0, np.inf
    for end in range(start, len(values)):
        more = total + values[end]
        across = more * scale / side
        shapes = (across**2 / (values[end] * scale), values[start] * scale / across**2)
        if max(shapes) > worst:
            return end, total
        total, worst = more, max(shapes)
    return len(values), total
