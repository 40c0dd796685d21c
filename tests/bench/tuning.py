"""The thresholds that ship with `mini`, and what else about our clusters was measured.

Everything is chosen on the tuning halves; figures called *measured* are of the other halves.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from newsrec.cluster import Curve, judge_pairs, merge_nearest, tune_level
from newsrec.encode.presets import THRESHOLDS
from newsrec.protocols import Encoder
from newsrec.types.embeddings import unit_rows
from tests.bench.news_sets import SHELVES, Graded, semeval
from tests.bench.quality import GRID, LENGTH, LEVELS, curve, graded_part, halves

Vectors = NDArray[np.float32]
Labels = NDArray[np.integer]
Change = Callable[[Vectors], Vectors]

#: An F1 this near to the best counts as equal when the flat part of a curve is named.
FLAT = 0.01


def tuned(
    data: Path, encoder: Encoder, half: int = 0, *, english: bool = False, most: int = 2000
) -> tuple[Curve, ...]:
    """One curve a level: themes by the mean F1 over all shelves; topics inside the themes of the
    `middle` threshold, stories inside those topics, by SemEval's grades. ``english``: only what is
    in English; an encoder without three levels looks at all its dimensions at each."""
    sizes = encoder.spec.levels
    theme, topic, story = sizes if len(sizes) == 3 else (sizes[-1],) * 3
    names = ("bbc", "ag_news") if english else tuple(SHELVES)
    shelves = [halves(SHELVES[name](data), encoder, most)[half] for name in names]
    found = [curve(part.vectors, theme, part.truth) for part in shelves]
    mean = [np.mean([getattr(c, name) for c in found], axis=0) for name in _RATES]
    curves = [Curve(theme, GRID, *mean, np.sum([c.clusters for c in found], axis=0))]
    graded = semeval(data, english).take(half)
    vectors, _ = graded_part(graded, encoder)
    within = None
    for level, dim in enumerate((topic, story), start=2):
        above = curves[-1]
        within = merge_nearest(vectors, middle(above), dim=above.dim, group=within).labels()
        same = graded.grade >= level
        curves.append(tune_level(vectors, dim, graded.pairs, same, within=within, thresholds=GRID))
    return tuple(curves)


_RATES = ("precision", "recall", "f1")


def flat(found: Curve) -> tuple[float, float]:
    """The lowest and the highest threshold of the run around the best that loses at most `FLAT`."""
    near = found.f1 >= found.f1.max() - FLAT
    at = int(np.argmin(np.abs(found.threshold - found.best.threshold)))
    low = high = at
    while low > 0 and near[low - 1]:
        low -= 1
    while high + 1 < len(near) and near[high + 1]:
        high += 1
    return float(found.threshold[low]), float(found.threshold[high])


def middle(found: Curve) -> float:
    """The threshold that ships: the middle of the flat part, since its very best is chance."""
    low, high = flat(found)
    return float(GRID[int(np.argmin(np.abs(GRID - (low + high) / 2)))])


def thresholds(data: Path, encoder: Encoder) -> Iterator[str]:
    """Best thresholds on the tuning halves, how flat, and the curve on both halves."""
    tuning, testing = (tuned(data, encoder, half) for half in (0, 1))
    shipped = THRESHOLDS[encoder.spec.name]
    yield (
        "| level, dimensions | best | F1 there | within 0.01 of it | its middle | shipped | "
        "F1 of shipped | measured: F1 of shipped | measured: best of any |"
    )
    yield "|---|---|---|---|---|---|---|---|---|"
    for name, mine, other, default in zip(LEVELS, tuning, testing, shipped, strict=True):
        low, high = flat(mine)
        at = int(np.argmin(np.abs(GRID - default)))
        yield (
            f"| {name}, {mine.dim} | {mine.best.threshold:.2f} | {mine.f1.max():.3f} | "
            f"{low:.2f} … {high:.2f} | {middle(mine):.2f} | {default:.2f} | "
            f"{mine.f1[at]:.3f} | {other.f1[at]:.3f} | "
            f"{other.f1.max():.3f} at {other.best.threshold:.2f} |"
        )
    yield "\nF1 by threshold, tuning half / measured half:\n"
    yield "| threshold | " + " | ".join(LEVELS) + " |"
    yield "|---|---|---|---|"
    for at in range(6, len(GRID) - 20, 4):
        cells = [f"{a.f1[at]:.3f} / {b.f1[at]:.3f}" for a, b in zip(tuning, testing, strict=True)]
        yield f"| {GRID[at]:.2f} | {' | '.join(cells)} |"


def lengths(data: Path, encoder: Encoder) -> Iterator[str]:
    """How much of the text: thresholds of its own for each length."""
    yield "| characters | BBC | AG News | MasakhaNEWS | SemEval theme | topic | story | λ |"
    yield "|---|---|---|---|---|---|---|---|"
    for length in (0, 100, 200, LENGTH, 600, 1000, 2000, None):
        cells, chosen = [], []
        for name in ("bbc", "ag_news", "masakhanews"):
            f1, best = shelf_score(data, encoder, name, length=length)
            cells.append(f"{f1:.3f}")
            chosen.append(best)
        if length != 0:  # SemEval's titles are not marked
            for f1, best in graded_scores(semeval(data), encoder, length=length):
                cells.append(f"{f1:.3f}")
                chosen.append(best)
        named = {0: "title", None: "all"}.get(length, str(length))
        cells += [""] * (6 - len(cells))
        yield f"| {named} | {' | '.join(cells)} | {', '.join(f'{c:.2f}' for c in chosen)} |"


def variants(data: Path, encoder: Encoder) -> Iterator[str]:
    """Other ways to cluster the same texts; each with thresholds of its own."""
    yield (
        "| what | BBC | AG News | MasakhaNEWS | TNEWS | SemEval theme | topic | story |\n"
        "|---|---|---|---|---|---|---|---|"
    )
    full = encoder.spec.levels[-1]
    options = {
        "shipped: language means out, average linkage, refine": {},
        "language means left in": {"centre": False},
        "one mean for all languages out": {"centre": False, "change": without_axes(0)},
        "the first principal axis out, too": {"change": without_axes(1)},
        "the first three out": {"change": without_axes(3)},
        "axes scaled to variance^0.25": {"change": whitened(0.25)},
        "all dimensions at every level": {"dims": (full,) * 3},
        "centroid linkage": {"linkage": "centroid"},
        "merge upward": {"direction": "merge"},
        "articles moved to the nearest mean afterwards": {"move": True},
        "the title twice": {"titles": 2},
    }
    for what, option in options.items():
        cells = []
        merged = option.get("direction") == "merge"
        for name in SHELVES:
            if merged:  # needs thresholds of the finer levels, which the topics do not give
                cells.append("")
            else:
                cells.append(f"{shelf_score(data, encoder, name, **option)[0]:.3f}")  # type: ignore[arg-type]
        if not {"move", "titles"} & option.keys():
            scores = graded_scores(semeval(data), encoder, **option)  # type: ignore[arg-type]
            cells += [f"{f1:.3f}" for f1, _ in scores]
        yield f"| {what} | {' | '.join(cells)}{' | ' * (7 - len(cells))} |"


def shelf_score(
    data: Path, encoder: Encoder, name: str, *, length: int | None = LENGTH, centre: bool = True,
    linkage: str = "average", dims: Sequence[int] | None = None, change: Change | None = None,
    move: bool = False, titles: int = 1, most: int = 1000,
) -> tuple[float, float]:  # fmt: skip
    """F1 of themes on the measured half, and the threshold that the tuning half gave."""
    dim = (dims or encoder.spec.levels)[0]
    shelf = SHELVES[name](data)
    again = [" ".join([title] * titles) for title in shelf.title]
    more = int(np.mean([len(title) for title in shelf.title])) * (titles - 1)
    length = length + more if length else length
    parts = halves(replace(shelf, title=again), encoder, most, length, centre)
    tune, test = ((change(p.vectors) if change else p.vectors) for p in parts)
    step = 1 if linkage == "average" else 2
    best = curve(tune, dim, parts[0].truth, linkage, step).best.threshold
    labels = merge_nearest(test, best, linkage, dim=dim).labels()
    if move:
        labels = to_nearest(test[:, :dim], labels)
    return float(parts[1].truth.rates(labels)[2]), best


def graded_scores(
    graded: Graded, encoder: Encoder, *, length: int | None = LENGTH, centre: bool = True,
    linkage: str = "average", direction: str = "refine", dims: Sequence[int] | None = None,
    change: Change | None = None,
) -> list[tuple[float, float]]:  # fmt: skip
    """The same for SemEval's three levels, coarse to fine, nested."""
    sizes = dims or encoder.spec.levels
    tune, test = graded.take(0), graded.take(1)
    mine, theirs = (graded_part(half, encoder, length, centre)[0] for half in (tune, test))
    if change:
        mine, theirs = change(mine), change(theirs)
    order = (1, 2, 3) if direction == "refine" else (3, 2, 1)
    given, other = None, None
    kind = "group" if direction == "refine" else "start"
    scores = {}
    grid = GRID if linkage == "average" else GRID[::2]
    for level in order:
        dim, same = sizes[level - 1], tune.grade >= level
        options = {"dim": dim, kind: given}
        if linkage == "average":
            forest = merge_nearest(mine, float(grid[0]), linkage, **options)  # type: ignore[arg-type]
            tried = [forest.labels(float(t)) for t in grid]
        else:
            tried = [merge_nearest(mine, float(t), linkage, **options).labels() for t in grid]  # type: ignore[arg-type]
        rates = np.array([judge_pairs(labels, tune.pairs, same) for labels in tried])
        best = Curve(dim, grid, *rates.T, np.zeros(len(grid), np.int64)).best.threshold
        given = merge_nearest(mine, best, linkage, **options).labels()  # type: ignore[arg-type]
        other = merge_nearest(theirs, best, linkage, dim=dim, **{kind: other}).labels()  # type: ignore[arg-type]
        scores[level] = (judge_pairs(other, test.pairs, test.grade >= level)[2], best)
    return [scores[level] for level in (1, 2, 3)]


def without_axes(n: int) -> Change:
    """The mean and the first ``n`` principal axes of all rows out, rows of length 1 again."""

    def change(vectors: Vectors) -> Vectors:
        rows = vectors - vectors.mean(0)
        axes = np.linalg.svd(rows, full_matrices=False)[2][:n]
        return unit_rows(rows - rows @ axes.T @ axes)

    return change


def whitened(power: float) -> Change:
    """Every dimension divided by its variance to ``power``; a level stays a prefix."""

    def change(vectors: Vectors) -> Vectors:
        return unit_rows(vectors / np.maximum(vectors.var(0), 1e-12) ** power)

    return change


def to_nearest(vectors: Vectors, labels: Labels, at_least: int = 5) -> Labels:
    """Every article to the nearest mean of the clusters with ``at_least`` articles."""
    rows = unit_rows(vectors)
    kept = np.flatnonzero(np.bincount(labels) >= at_least)
    if not len(kept):
        return labels
    means = unit_rows(np.stack([rows[labels == k].mean(0) for k in kept]))
    return np.argmax(rows @ means.T, axis=1)
