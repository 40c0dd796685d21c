"""What re-rankers cost and bring, weight by weight: trade-offs of several on several languages."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from newsrec.errors import DataError
from newsrec.evaluate.metrics import split_name
from newsrec.evaluate.significance import Comparison, Interval
from newsrec.evaluate.tradeoff import ACCURACY, TradeOff, fronts, smallest_weight

#: Diversity metrics that are shown first, at any cut-off.
MAIN = (
    "intra_list_distance@", "theme_coverage@", "topic_coverage@", "category_coverage@",
    "theme_calibration_kl@", "calibration_kl@", "story_coverage@", "gini@",
)  # fmt: skip


@dataclass(frozen=True)
class Tuning:
    """``curves``: language to re-ranker to its `TradeOff`, all at the same weights and with the
    same metrics; ``loss``: the share of nDCG@10 that variety may cost; ``provenance``: of all."""

    curves: Mapping[str, Mapping[str, TradeOff]]
    loss: float = 0.02
    provenance: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        found = [tuple(each) for each in self.curves.values()]
        if not found or not found[0] or any(names != found[0] for names in found):
            raise DataError("Tuning: expected the same re-rankers on every language, one at least")

    @property
    def rerankers(self) -> tuple[str, ...]:
        return tuple(next(iter(self.curves.values())))

    @property
    def metrics(self) -> tuple[str, ...]:
        """Diversity metrics that every language has, the main ones first."""
        every = [set(x.metrics) for each in self.curves.values() for x in each.values()]
        first = next(iter(next(iter(self.curves.values())).values())).metrics
        names = [name for name in first if name != ACCURACY and all(name in x for x in every)]
        return tuple(sorted(names, key=_place))

    @property
    def main(self) -> tuple[str, ...]:
        """The main ones of `metrics`; all where it has none."""
        return tuple(m for m in self.metrics if split_name(m)[0] in MAIN) or self.metrics

    def moves(self, language: str, metric: str) -> bool:
        """Whether some re-ranker changes the metric: it cannot in lists that the cut-off holds
        whole."""
        found = np.concatenate([x.curve(metric) for x in self.curves[language].values()])
        known = found[~np.isnan(found)]
        return bool(len(known) and np.ptp(known) > 1e-6)

    @cached_property
    def weights(self) -> Mapping[str, float]:
        """For each re-ranker the smallest relevance weight at which the mean nDCG@10 over the
        languages loses at most ``loss`` of that of score order."""
        chosen = {}
        for name in self.rerankers:
            found = [each[name] for each in self.curves.values()]
            mean = np.mean([x.curve(ACCURACY) for x in found], axis=0)
            chosen[name] = smallest_weight(found[0].weights, mean, self.loss)
        return chosen

    @property
    def diversity(self) -> dict[str, float]:
        """1 - `weights`: the largest diversity at that loss."""
        return {name: round(1 - weight, 10) for name, weight in self.weights.items()}

    @cached_property
    def intervals(self) -> Mapping[tuple[str, str], tuple[dict[str, Interval], ...]]:
        """``TradeOff.intervals`` of each language and re-ranker."""
        return {
            (language, name): found.intervals()
            for language, each in self.curves.items()
            for name, found in each.items()
        }

    @cached_property
    def costs(self) -> Mapping[tuple[str, str], Mapping[str, Comparison]]:
        """For each language and re-ranker, by metric: the list at the chosen weight minus score
        order, paired."""
        found: dict[tuple[str, str], Mapping[str, Comparison]] = {}
        for language, each in self.curves.items():
            for name, curve in each.items():
                at = curve.weights.tolist().index(self.weights[name])
                compared = curve.reports[at].compare(curve.reports[-1])
                found[language, name] = {x.metric: x for x in compared}
        return found

    @cached_property
    def fronts(self) -> Mapping[tuple[str, str], Mapping[str, Any]]:
        """For each language and metric: re-ranker to which of its weights are on the front of all
        re-rankers together."""
        return {
            (language, metric): fronts(each, metric)
            for language, each in self.curves.items()
            for metric in self.metrics
        }

    def rows(self) -> list[dict[str, Any]]:
        """``{language, reranker, relevance_weight, metric, mean, low, high, n, front}``, a row per
        point; None where there is no number, and no ``front`` for nDCG@10 itself."""
        rows = []
        for (language, name), found in self.intervals.items():
            weights = self.curves[language][name].weights.tolist()
            for i, weight in enumerate(weights):
                for metric in (ACCURACY, *self.metrics):
                    x = found[i][metric]
                    front = None
                    if metric != ACCURACY:
                        front = bool(self.fronts[language, metric][name][i])
                    numbers = {"mean": x.mean, "low": x.low, "high": x.high}
                    rows.append(
                        {"language": language, "reranker": name, "relevance_weight": weight}
                        | {"metric": metric}
                        | {k: None if np.isnan(v) else v for k, v in numbers.items()}
                        | {"n": x.n, "front": front}
                    )
        return rows

    def measured(self) -> dict[str, Any]:
        """What the chosen diversities cost: re-ranker to language to ``{ndcg@10, own_order,
        difference, low, high, p, n}``."""
        told: dict[str, Any] = {}
        for (language, name), by_metric in self.costs.items():
            x = by_metric[ACCURACY]
            own = self.curves[language][name].curve(ACCURACY)[-1]
            told.setdefault(name, {})[language] = {
                ACCURACY: float(own + x.difference), "own_order": float(own),
                "difference": x.difference, "low": x.low, "high": x.high, "p": x.p, "n": x.n,
            }  # fmt: skip
        return told


def _place(metric: str) -> int:
    name = split_name(metric)[0]
    return MAIN.index(name) if name in MAIN else len(MAIN)
