"""What variety costs: accuracy against diversity over relevance weights, and the Pareto front."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from newsrec.errors import DataError, unknown_name
from newsrec.evaluate.diversity import LESS_IS_BETTER
from newsrec.evaluate.metrics import split_name
from newsrec.evaluate.report import EvalReport
from newsrec.evaluate.shares import Floats

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
        sign = -1.0 if split_name(metric)[0] in LESS_IS_BETTER else 1.0
        return pareto(self.curve(accuracy), sign * self.curve(metric))

    def most_diverse(self, loss: float = 0.02, accuracy: str = ACCURACY) -> float:
        """The smallest relevance weight that keeps ``1 - loss`` of the accuracy of score order."""
        found = self.curve(accuracy)
        # Means of the same lists in another order differ by rounding.
        return float(self.weights[np.argmax(found >= (1 - loss) * found[-1] - 1e-9)])

    def rows(self, metrics: Sequence[str] | None = None) -> list[dict[str, float]]:
        """The table: ``{relevance_weight, metric: mean, …}`` for each weight."""
        chosen = {metric: self.curve(metric) for metric in metrics or self.metrics}
        return [
            {"relevance_weight": float(w)} | {name: float(x[i]) for name, x in chosen.items()}
            for i, w in enumerate(self.weights)
        ]


def pareto(first: Floats, second: Floats) -> NDArray[np.bool_]:
    """Points ``(m,)`` of which no other is as good in both and better in one; more is better.

    Points that are NaN in either are not on the front, and keep no other off it. What differs by
    less than 1e-9 is the same: means of the same lists in another order differ by rounding.
    """
    first, second = np.round(first, 9), np.round(second, 9)
    a, b = first[:, None], second[:, None]
    as_good = (first >= a) & (second >= b)
    better = (first > a) | (second > b)
    defined = ~np.isnan(first) & ~np.isnan(second)
    return np.asarray(defined & ~np.any(as_good & better, axis=1))
