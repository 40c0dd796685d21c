"""Batches of translation groups for a static encoder: what is read, how it is drawn."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from newsrec.types import Ragged

Floats = NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class Material:
    """What training reads.

    share: source -> part of a batch's groups; kinds: sources of like texts, see `Options.focus`;
    tokens: text -> piece numbers; groups: group -> texts; chance ``(n_texts,)``: weight of a text
    when a group has more texts than are drawn; source ``(n_groups,)``, rising; favour
    ``(n_groups,)``: running sum of the weights by which groups of a source are drawn; goal
    ``(n_groups,)``: row of the teacher's vector of the group or -1; teacher ``(n, dim)``.
    """

    tokens: Ragged
    groups: Ragged
    chance: Floats
    favour: NDArray[np.float64]
    source: NDArray[np.int16]
    share: dict[int, float]
    kinds: tuple[tuple[int, ...], ...]
    goal: NDArray[np.int32]
    teacher: Floats


@dataclass(frozen=True, slots=True)
class Options:
    """How long and how.

    focus: the part of the steps that draw from one of `Material.kinds` only (chosen by its share),
    which makes the negatives of a batch alike; shared_rate: what `rate` is multiplied by for rows
    that pieces share; drop: the part of the pieces left out at
    random; average_from: the table is the mean over the steps after this part of the run.
    """

    steps: int = 6000
    n_groups: int = 700
    n_texts: int = 4
    n_tokens: int = 48
    rate: float = 5e-3
    shared_rate: float = 0.4
    warm_up: int = 200
    temperature: float = 0.1
    distil: float = 6.0
    drop: float = 0.1
    focus: float = 0.7
    levels: tuple[int, ...] = (64, 128, 256)
    average_from: float = 0.7
    half: bool = True
    checkpoint: int = 1000


def draw(
    material: Material, options: Options, rng: np.random.Generator
) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
    """One batch: text numbers ``(n,)`` and the group each belongs to ``(n,)``."""
    picked, shares = [], material.share
    if rng.random() < options.focus:
        totals = [sum(shares[source] for source in one) for one in material.kinds]
        kind = int(np.searchsorted(np.cumsum(totals), rng.random() * sum(totals)))
        shares = {source: shares[source] / totals[kind] for source in material.kinds[kind]}
    for source, share in shares.items():
        first, last = np.searchsorted(material.source, [source, source + 1])
        below = material.favour[first - 1] if first else 0.0
        count = min(rng.poisson(share * options.n_groups), 4 * (last - first))
        at = below + rng.random(count) * (material.favour[last - 1] - below)
        picked.append(np.searchsorted(material.favour[:last], at, side="right").clip(max=last - 1))
    groups = np.unique(np.concatenate(picked))
    members = material.groups.take(groups)
    owner = members.owner()
    # Weighted sampling without replacement: keep the smallest exponential clocks of each group.
    clock = rng.exponential(size=len(owner)) / material.chance[members.values]
    order = np.lexsort((clock, owner))
    rank = np.arange(len(owner)) - members.offsets[:-1][owner]
    kept = order[rank < rng.integers(2, options.n_texts + 1, len(groups))[owner]]
    return members.values[kept], groups[owner[kept]]


def bags(
    material: Material, texts: NDArray[np.int32], options: Options, rng: np.random.Generator
) -> Ragged:
    """Piece numbers of the texts, at most `n_tokens` each, some dropped at random."""
    bag = material.tokens.take(texts)
    owner = bag.owner()
    keep = np.arange(len(owner)) - bag.offsets[:-1][owner] < options.n_tokens
    if options.drop:
        keep &= rng.random(len(owner)) >= options.drop
    return Ragged.from_lengths(bag.values[keep], np.bincount(owner[keep], minlength=len(texts)))
