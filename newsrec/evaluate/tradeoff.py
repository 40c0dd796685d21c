"""What variety costs: accuracy against diversity over relevance weights, and the Pareto front."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from newsrec.errors import DataError, unknown_name
from newsrec.evaluate.diversity import LESS_IS_BETTER
from newsrec.evaluate.metrics import split_name
from newsrec.evaluate.report import EvalReport
from newsrec.evaluate.shares import Floats
from newsrec.evaluate.significance import Interval, intervals

ACCURACY = "ndcg@10"


@dataclass(frozen=True, slots=True, eq=False)
class TradeOff:
    """One re-ranker at ``m`` relevance weights, on the same impressions.

    ``weights (m,)`` rise and end in 1, score order; ``reports``: one per weight, with the same
    metrics, so that intervals and paired tests can be had of any two.
    """

    weights: Floats
    reports: tuple[EvalReport, ...]

    def __post_init__(self) -> None:
        w = self.weights
        if len(w) != len(self.reports) or not len(w) or w[-1] != 1 or np.any(np.diff(w) <= 0):
            raise DataError(
                f"TradeOff: weights {w.tolist()} of {len(self.reports)} reports, expected rising "
                "numbers that end in 1, one per report"
            )

    @property
    def metrics(self) -> tuple[str, ...]:
        """Names of the metrics, pooled ones last."""
        return tuple(self.reports[-1].mean())

    def curve(self, metric: str) -> Floats:
        """Mean of ``metric`` at each weight, ``(m,)``; `ConfigError` for one that is not there."""
        if metric not in self.metrics:
            raise unknown_name("metric of this trade-off", metric, self.metrics)
        return np.asarray([report.mean()[metric] for report in self.reports])

    def front(self, metric: str, accuracy: str = ACCURACY) -> NDArray[np.bool_]:
        """Weights ``(m,)`` that no other beats in one of ``metric`` and ``accuracy`` without losing
        in the other."""
        return fronts({"": self}, metric, accuracy)[""]

    def most_diverse(self, loss: float = 0.02, accuracy: str = ACCURACY) -> float:
        """The smallest relevance weight that keeps ``1 - loss`` of the accuracy of score order."""
        return smallest_weight(self.weights, self.curve(accuracy), loss)

    def intervals(self) -> tuple[dict[str, Interval], ...]:
        """95 % percentile bootstrap of every metric at each weight; pooled metrics have no bounds.

        The same resamples at every weight: only the lists differ.
        """
        last = self.reports[-1]
        values = np.concatenate([report.values.T for report in self.reports], axis=1)
        found = intervals(values, np.random.default_rng(last.provenance.seed))
        m, nan = len(last.names), float("nan")
        return tuple(
            dict(zip(report.names, found[i * m : (i + 1) * m], strict=True))
            | {name: Interval(x, nan, nan, len(report)) for name, x in report.pooled.items()}
            for i, report in enumerate(self.reports)
        )

    def rows(self, metrics: Sequence[str] | None = None) -> list[dict[str, float]]:
        """The table: ``{relevance_weight, metric: mean, …}`` for each weight."""
        chosen = {metric: self.curve(metric) for metric in metrics or self.metrics}
        return [
            {"relevance_weight": float(w)} | {name: float(x[i]) for name, x in chosen.items()}
            for i, w in enumerate(self.weights)
        ]


def smallest_weight(weights: Floats, accuracy: Floats, loss: float) -> float:
    """Of ``weights (m,)``, rising to 1, the smallest that keeps ``1 - loss`` of ``accuracy (m,)``
    at 1. What falls short by less than 1e-9 does so by rounding."""
    return float(weights[np.argmax(accuracy >= (1 - loss) * accuracy[-1] - 1e-9)])


def less_is_better(metric: str) -> bool:
    """Whether a diversity metric falls as lists get better."""
    return split_name(metric)[0] in LESS_IS_BETTER


def fronts(
    curves: Mapping[str, TradeOff], metric: str, accuracy: str = ACCURACY
) -> dict[str, NDArray[np.bool_]]:
    """`pareto` of all ``curves`` together: which weights ``(m,)`` of each are on the front."""
    sign = -1.0 if less_is_better(metric) else 1.0
    first = np.concatenate([found.curve(accuracy) for found in curves.values()])
    second = np.concatenate([sign * found.curve(metric) for found in curves.values()])
    ends = np.cumsum([len(found.weights) for found in curves.values()])[:-1]
    return dict(zip(curves, np.split(pareto(first, second), ends), strict=True))


def pareto(first: Floats, second: Floats) -> NDArray[np.bool_]:
    """Points ``(m,)`` of which no other is as good in both and better in one; more is better.

    Points that are NaN in either are not on the front, and keep no other off it. What differs by
    less than 1e-6 is the same: means of the same lists in another order differ by rounding.
    """
    first, second = np.round(first, 6), np.round(second, 6)
    a, b = first[:, None], second[:, None]
    as_good = (first >= a) & (second >= b)
    better = (first > a) | (second > b)
    defined = ~np.isnan(first) & ~np.isnan(second)
    return np.asarray(defined & ~np.any(as_good & better, axis=1))
