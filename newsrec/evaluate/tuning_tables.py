"""A `Tuning` as tables: what fits a terminal, and all of it."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from newsrec.evaluate.render import Grid, number, signed, with_interval
from newsrec.evaluate.tradeoff import ACCURACY, less_is_better
from newsrec.evaluate.tuning import Tuning

#: Columns of the tables for a terminal, beside nDCG@10.
_FEW = 4
_HEADINGS = {
    "intra_list_distance": "ILD", "theme_coverage": "themes", "topic_coverage": "topics",
    "category_coverage": "categories", "story_coverage": "stories",
    "theme_calibration_kl": "theme KL", "calibration_kl": "KL", "gini": "Gini", "ndcg": "nDCG",
}  # fmt: skip


_STILL = (
    "No diversity metric moves: the cut-off holds every list whole. Try a smaller one: --metrics "
    "intra_list_distance@5,category_coverage@5."
)


def heading(metric: str) -> str:
    """``ILD@10`` for ``intra_list_distance@10``."""
    name, _, k = metric.partition("@")
    return f"{_HEADINGS.get(name, name)}{f'@{k}' if k else ''}"


def short(tuning: Tuning) -> list[Grid]:
    """Per language what the chosen diversities cost and bring; who is on the front."""
    chosen = [_chosen(tuning, language) for language in tuning.curves]
    return [*chosen, *(_on_front(tuning, x, tuning.main) for x in tuning.curves)]


def whole(tuning: Tuning) -> list[Grid]:
    """The same of every metric, and every curve, point by point."""
    chosen = [_chosen(tuning, language) for language in tuning.curves]
    front = [_on_front(tuning, language, tuning.metrics) for language in tuning.curves]
    return [*chosen, *front, *(_curve(tuning, *key) for key in tuning.intervals)]


def _chosen(tuning: Tuning, language: str) -> Grid:
    metrics = tuning.metrics[:_FEW]
    each = tuning.curves[language]
    own = next(iter(each.values()))
    rows = [_row("own order", "0", own.reports[-1].mean(), "", metrics)]
    for name, curve in each.items():
        weight, x = tuning.weights[name], tuning.costs[language, name][ACCURACY]
        means = curve.reports[curve.weights.tolist().index(weight)].mean()
        points = [signed(100 * v) for v in (x.difference, x.low, x.high)]
        cost = f"{points[0]} [{points[1]}, {points[2]}]"
        rows.append(_row(name, f"{tuning.diversity[name]:.2g}", means, cost, metrics))
    columns = ("re-ranker", "diversity", "nDCG@10", "difference", *map(heading, metrics))
    several = " (mean of the languages)" if len(tuning.curves) > 1 else ""
    notes = (
        f"The largest diversity that costs at most {100 * tuning.loss:g} % of nDCG@10 on this "
        f"split{several}; difference in points from the ranker's own order, paired, 95 % bootstrap "
        f"over {len(own.reports[-1])} impressions.",
        *(f"{heading(m)}: less is better." for m in metrics if less_is_better(m)),
        *([] if any(tuning.moves(language, m) for m in tuning.main) else [_STILL]),
    )
    return Grid(f"What variety costs: {language}", columns, tuple(rows), notes)


def _row(
    name: str, diversity: str, means: dict[str, float], cost: str, metrics: tuple[str, ...]
) -> tuple[str, ...]:
    cells = (number(means[metric], metric) for metric in metrics)
    return (name, diversity, number(means[ACCURACY]), cost, *cells)


def _on_front(tuning: Tuning, language: str, metrics: Sequence[str]) -> Grid:
    """A row per metric: the relevance weights of each re-ranker that are on the front."""
    brief = [name.split(":")[0] for name in tuning.rerankers]
    names = brief if len(set(brief)) == len(brief) else list(tuning.rerankers)
    rows = []
    for metric in (m for m in tuning.metrics if m in metrics):
        found = tuning.fronts[language, metric]
        told = [
            f"{shown} {_span(tuning.curves[language][name].weights[:-1][found[name][:-1]])}"
            for shown, name in zip(names, tuning.rerankers, strict=True)
            if found[name][:-1].any()
        ]
        rows.append((metric, "; ".join(told) or "own order alone"))
    note = "Relevance weights that none beats in nDCG@10 or the metric without losing the other."
    return Grid(f"On the front: {language}", ("metric", "who"), tuple(rows), (note,))


def _span(weights: NDArray[np.float64]) -> str:
    """``0.5–0.9``: from and to."""
    return f"{weights[0]:g}" + (f"–{weights[-1]:g}" if len(weights) > 1 else "")


def _curve(tuning: Tuning, language: str, name: str) -> Grid:
    """A row per weight; a star marks the front of all re-rankers."""
    curve, found = tuning.curves[language][name], tuning.intervals[language, name]
    rows = []
    for i, weight in enumerate(curve.weights.tolist()):
        cells = [
            f"{number(found[i][m].mean, m)}{'*' if tuning.fronts[language, m][name][i] else ''}"
            for m in tuning.metrics
        ]
        rows.append((f"{weight:g}", with_interval(found[i][ACCURACY], ACCURACY), *cells))
    columns = ("relevance weight", "nDCG@10 [95 %]", *tuning.metrics)
    note = "* on the front of nDCG@10 and this metric, all re-rankers together."
    return Grid(f"{name}: {language}", columns, tuple(rows), (note,))
