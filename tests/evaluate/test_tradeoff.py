"""The Pareto front against its definition, and what a trade-off says."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from newsrec.errors import ConfigError, DataError
from newsrec.evaluate.report import EvalReport
from newsrec.evaluate.tradeoff import TradeOff, pareto
from tests.evaluate.made import PROVENANCE


def report(**means: float) -> EvalReport:
    """One impression, so that means are what was given."""
    return EvalReport(
        names=tuple(means),
        values=np.array([[x] for x in means.values()]),
        rows=np.arange(1),
        ids=np.array(["I0"]),
        readers=np.zeros(1, np.int32),
        counts={},
        provenance=PROVENANCE,
    )


def made(*points: tuple[float, float], metric: str = "category_coverage@10") -> TradeOff:
    """Weights evenly up to 1; points are (nDCG@10, ``metric``)."""
    reports = tuple(report(**{"ndcg@10": a, metric: b}) for a, b in points)
    return TradeOff(np.linspace(1 / len(points), 1, len(points)), reports)


NUMBERS = st.one_of(st.integers(0, 4).map(float), st.just(float("nan")))


@settings(deadline=None)
@given(st.lists(st.tuples(NUMBERS, NUMBERS), max_size=12))
def test_the_front_is_what_its_definition_says(points: list[tuple[float, float]]) -> None:
    def beaten(p: tuple[float, float], q: tuple[float, float]) -> bool:
        return q[0] >= p[0] and q[1] >= p[1] and q != p

    expected = [
        not any(np.isnan(p)) and not any(beaten(p, q) for q in points if not any(np.isnan(q)))
        for p in points
    ]
    first, second = (np.array([p[i] for p in points], np.float64) for i in (0, 1))
    assert pareto(first, second).tolist() == expected


def test_rounding_puts_nothing_on_the_front() -> None:
    same = np.array([0.9, np.nextafter(0.9, 1), 0.9])
    assert pareto(np.array([0.1, 0.2, 0.3]), same).tolist() == [False, False, True]


def test_more_is_better_but_for_divergences() -> None:
    points = [(0.2, 0.9), (0.3, 0.5), (0.35, 0.6), (0.4, 0.1)]
    assert made(*points).front("category_coverage@10").tolist() == [True, False, True, True]
    front = made(*points, metric="calibration_kl@10").front("calibration_kl@10")
    assert front.tolist() == [False, False, False, True]


def test_the_most_diverse_that_keeps_accuracy() -> None:
    found = made((0.30, 1), (0.382, 1), (0.393, 1), (0.4, 1))
    assert found.most_diverse() == 0.75  # 0.4 less 2 % is 0.392
    assert found.most_diverse(loss=0.05) == 0.5
    assert found.most_diverse(loss=0.0) == 1.0
    assert found.most_diverse(loss=0.3) == 0.25
    assert made((0.395, 1), (0.3, 1), (0.4, 1)).most_diverse() == pytest.approx(1 / 3)


def test_the_table() -> None:
    found = made((0.2, 0.9), (0.4, 0.1))
    assert found.rows() == [
        {"relevance_weight": 0.5, "ndcg@10": 0.2, "category_coverage@10": 0.9},
        {"relevance_weight": 1.0, "ndcg@10": 0.4, "category_coverage@10": 0.1},
    ]
    assert found.rows(["ndcg@10"])[0] == {"relevance_weight": 0.5, "ndcg@10": 0.2}


def test_what_does_not_fit_is_refused() -> None:
    with pytest.raises(ConfigError, match=r"unknown metric .*'ndcg@5'; known: cat.*mean 'ndcg@10'"):
        made((0.2, 0.9)).curve("ndcg@5")
    for weights in ([0.5], [1.0, 0.5], [0.5, 0.5, 1.0], []):
        with pytest.raises(DataError, match="rising numbers that end in 1"):
            TradeOff(np.array(weights), tuple(report(x=1) for _ in weights))
    with pytest.raises(DataError, match="of 1 reports"):
        TradeOff(np.array([0.5, 1.0]), (report(x=1),))
