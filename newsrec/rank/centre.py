"""Taking the mean out of a language's vectors, and rows to length 1.

A mean that all vectors of a language share says which language a text is in and nothing of what it
is about: left in, it adds the same amount to every score, or to every score of one language (see
Libovický, Rosa & Fraser 2020, "On the language neutrality of pre-trained multilingual
representations", §3). Statistics are those of a whole matrix, never of the impressions scored.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from newsrec.errors import DataError, unknown_name
from newsrec.rank.blocks import block_rows, spread
from newsrec.rank.sides import Side
from newsrec.types import Embeddings

Groups = NDArray[np.integer] | None

#: What ``centre`` may be.
CENTRES = ("spec", "none", "global", "language")

#: With fewer rows a mean says more about the rows than about their language; it is left in.
MIN_ROWS = 8


def plain(embeddings: Embeddings, language: Groups = None) -> Side:
    """The rows as stored; ``language (n,)`` numbers the language of each row, None: all one."""
    vectors = np.asarray(embeddings.vectors)
    if language is not None:
        language = np.asarray(language)
        if len(language) and language.min() < 0:
            # -1 (unknown) becomes a group of its own.
            language = np.where(language < 0, language.max() + 1, language)
    return Side(vectors, np.asarray(embeddings.present), group=language)


def sides(
    history: Embeddings,
    shelf: Embeddings,
    *,
    centre: str = "spec",
    normalize: bool | str = "spec",
    history_language: Groups = None,
    shelf_language: Groups = None,
    means: NDArray[np.float32] | None = None,
) -> tuple[Side, Side]:
    """Both sides of a fusion, ``(history, shelf)``, prepared.

    ``centre``: ``none``; ``global`` removes one mean of all rows of both sides; ``language`` the
    mean of each side (of each language in it); ``spec`` is ``language`` for encoders whose rows
    have length 1 and ``none`` for raw ones, as published. ``normalize`` scales rows to length 1
    after centring: True, False, or ``spec``, which gives rows back the length they have by the
    encoder's spec. A mean of fewer than `MIN_ROWS` rows is not removed.

    ``means (n_languages, dim)``: removed in place of those of the matrices, whose rows need not
    say anything about their languages; ``*_language`` number them.
    """
    if centre not in CENTRES:
        raise unknown_name("centre", centre, CENTRES)
    if normalize not in (True, False, "spec"):
        raise unknown_name("normalize", str(normalize), ("True", "False", "spec"))
    if history.vectors.shape[1] != shelf.vectors.shape[1]:
        raise DataError(
            f"history vectors have {history.vectors.shape[1]} dimensions, the shelf's "
            f"{shelf.vectors.shape[1]}: both sides of late fusion need the same encoder"
        )
    one = history is shelf and history_language is shelf_language
    found = [plain(shelf, shelf_language)]
    if not one:
        found.append(plain(history, history_language))
    unit = [e.normalized if normalize == "spec" else bool(normalize) for e in (shelf, history)]
    if centre == "spec":
        centre = "language" if shelf.normalized and history.normalized else "none"
    if means is not None and centre != "none":
        found = [replace(side, mean=means, scale=None) for side in found]
    elif centre == "language":
        found = [without_means(side) for side in found]
    elif centre == "global":
        found = _without_one_mean(found)
    stored_unit = centre == "none" and normalize == "spec"
    if not stored_unit:
        found = [unit_rows(s) if u else s for s, u in zip(found, unit, strict=False)]
    return found[-1], found[0]


def mean_of(sides: Iterable[Side]) -> NDArray[np.float64] | None:
    """Mean of the present rows of all ``sides`` together ``(dim,)``; None below `MIN_ROWS` rows."""
    parts = [_sums(side) for side in sides]
    total = sum(int(counts.sum()) for _, counts in parts)
    if total < MIN_ROWS:
        return None
    return np.asarray(np.sum([sums.sum(0) for sums, _ in parts], 0) / total)


def without_means(side: Side, otherwise: NDArray[np.float64] | None = None) -> Side:
    """The mean of the present rows of each group removed.

    Groups of few rows take ``otherwise (dim,)``, or without it the mean of all rows of the side.
    """
    sums, counts = _sums(side)
    total = int(counts.sum())
    if otherwise is None and total < MIN_ROWS:
        return side
    overall = sums.sum(0) / total if otherwise is None else otherwise
    mean = np.where(
        (counts >= MIN_ROWS)[:, None], sums / np.maximum(counts, 1)[:, None], overall[None]
    )
    return replace(side, mean=mean.astype(np.float32), scale=None)


def unit_rows(side: Side) -> Side:
    """Rows (without their mean, if one is removed) scaled to length 1; zeros stay zeros."""
    scale = np.zeros(len(side), np.float32)
    bare = replace(side, scale=None)

    def run(start: int, end: int) -> None:
        for a in range(start, end, size):
            b = min(a + size, end)
            x = bare.at(np.arange(a, b))
            norm = np.sqrt(np.einsum("ij,ij->i", x, x))
            np.divide(1, norm, out=scale[a:b], where=norm > _TINY)

    size = block_rows(side.dim)
    spread(run, len(side), size)
    return replace(side, scale=scale)


# Rows this short are rounding errors of a row that equals the mean.
_TINY = 1e-6


def _without_one_mean(found: list[Side]) -> list[Side]:
    mean = mean_of(found)
    if mean is None:
        return found
    return [replace(side, mean=mean.astype(np.float32)[None], group=None) for side in found]


def _sums(side: Side) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Sums of the present rows of each group ``(n_groups, dim)``, and counts ``(n_groups,)``."""
    n_groups = 1 if side.group is None or not len(side.group) else int(side.group.max()) + 1
    sums = np.zeros((n_groups, side.dim), np.float64)
    size = block_rows(side.dim)
    for a in range(0, len(side), size):
        here = side.present[a : a + size]
        x = np.asarray(side.vectors[a : a + size], np.float32)
        if side.group is None:
            sums[0] += np.add.reduce(x[here], 0, np.float64)
            continue
        group = side.group[a : a + size]
        for g in np.unique(group[here]):
            sums[g] += np.add.reduce(x[here & (group == g)], 0, np.float64)
    group = np.zeros(len(side), np.int64) if side.group is None else side.group
    counts = np.bincount(group[side.present].astype(np.int64), minlength=n_groups)
    return sums, counts
