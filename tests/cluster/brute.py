"""Clustering written down as it is defined, in float64, with every similarity computed anew."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from newsrec.types.clusters import dense
from newsrec.types.embeddings import unit_rows

STEPS = 2.0**40


def brute(
    vectors: NDArray[np.floating], threshold: float, linkage: str, group: NDArray | None = None
) -> NDArray[np.int32]:
    """The clusters of a threshold: average linkage merges the nearest pair, one at a time;
    centroid linkage all reciprocal nearest neighbours of a round."""
    group = np.zeros(len(vectors), int) if group is None else group
    labels = np.full(len(vectors), -1)
    for g in np.unique(group):
        rows = np.flatnonzero(group == g)
        labels[rows] = labels.max() + 1 + _one_group(vectors[rows], threshold, linkage)
    return dense(labels)


def _one_group(vectors: NDArray, threshold: float, linkage: str) -> NDArray:
    unit = unit_rows(vectors)
    first = sorted(range(len(unit)), key=lambda row: (unit[row] + np.float32(0)).tobytes())
    unit = unit.astype(float)
    gram = unit @ unit.T
    twins: dict[bytes, list[int]] = {}
    for row in first:
        twins.setdefault((unit[row] + 0.0).tobytes(), []).append(row)
    member = np.array([np.isin(np.arange(len(unit)), rows) for rows in twins.values()], float)
    while len(member) > 1:
        pairs = _reciprocal(_similarity(member, gram, linkage), threshold, linkage)
        for a, b in pairs:
            member[a] += member[b]
        member = np.delete(member, [b for _, b in pairs], axis=0)
        if not pairs:
            break
    return member.argmax(0)


def _similarity(member: NDArray, gram: NDArray, linkage: str) -> NDArray:
    sims = member @ gram @ member.T
    scale = member.sum(1) if linkage == "average" else np.sqrt(np.maximum(np.diag(sims), 1e-24))
    sims = np.round(sims / np.outer(scale, scale) * STEPS) / STEPS
    np.fill_diagonal(sims, -9)
    return sims


def _reciprocal(sims: NDArray, threshold: float, linkage: str) -> list[tuple[int, int]]:
    """What merges next; clusters are in the order of their first vector, so the first of equals is
    the one that the rule asks for."""
    limit = round(threshold * STEPS) / STEPS
    if sims.max() < limit:
        return []
    if linkage == "average":
        a, b = divmod(int(sims.argmax()), len(sims))
        return [(min(a, b), max(a, b))]
    nearest = sims.argmax(1)
    return [
        (a, int(b))
        for a, b in enumerate(nearest)
        if a < b and nearest[b] == a and sims[a, b] >= limit
    ]
