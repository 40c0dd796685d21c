"""What is chosen of several trade-offs, and their common front."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from newsrec.errors import DataError
from newsrec.evaluate.curves import draw_curves
from newsrec.evaluate.report import EvalReport
from newsrec.evaluate.tradeoff import TradeOff, fronts
from newsrec.evaluate.tuning import Tuning
from newsrec.evaluate.tuning_tables import short, whole
from tests.evaluate.made import PROVENANCE

METRIC, LESS = "category_coverage@10", "calibration_kl@10"


def curve(*points: tuple[float, float], n: int = 40, seed: int = 0) -> TradeOff:
    """Weights evenly from 0 to 1; points are means of (nDCG@10, both diversity metrics)."""
    noise = np.random.default_rng(seed).normal(0, 0.05, n)
    noise -= noise.mean()
    reports = tuple(
        EvalReport(
            names=("ndcg@10", LESS, METRIC),
            values=np.stack([a + noise, 1 - b + noise / 9, b + noise / 2]),
            rows=np.arange(n),
            ids=np.array([f"I{i}" for i in range(n)]),
            readers=np.zeros(n, np.int32),
            counts={},
            provenance=PROVENANCE,
        )
        for a, b in points
    )
    return TradeOff(np.linspace(0, 1, len(points)), reports)


def made() -> Tuning:
    """Two languages: the mean of them decides."""
    end = (0.4, 0.1)
    return Tuning(
        {
            "eng": {
                "mmr": curve((0.3, 0.9), (0.38, 0.5), end),
                "dpp": curve((0.39, 0.8), end, end),
            },
            "fin": {"mmr": curve((0.3, 0.7), (0.41, 0.6), end), "dpp": curve((0.1, 0.8), end, end)},
        }
    )


def test_the_mean_of_the_languages_decides() -> None:
    found = made()
    # mmr: 0.38 alone is more than 2 % below 0.4, with 0.41 it is not; dpp at 0: 0.245 is.
    assert found.weights == {"mmr": 0.5, "dpp": 0.5}
    assert found.diversity == {"mmr": 0.5, "dpp": 0.5}
    english = Tuning({"eng": found.curves["eng"]}, loss=0.03)
    assert english.diversity == {"mmr": 0.0, "dpp": 1.0}


def test_the_front_is_of_all_rerankers_together() -> None:
    english = made().curves["eng"]
    on = fronts(english, METRIC)
    assert on["mmr"].tolist() == [True, False, True]  # (0.38, 0.5) is beaten by dpp's (0.39, 0.8)
    assert on["dpp"].tolist() == [True, True, True]
    assert english["mmr"].front(METRIC).tolist() == [True, True, True]
    assert {name: x.tolist() for name, x in fronts(english, LESS).items()} == {
        name: x.tolist() for name, x in on.items()
    }


def test_costs_are_paired_and_intervals_hold_the_mean() -> None:
    found = made()
    cost = found.costs["eng", "mmr"]["ndcg@10"]
    assert cost.difference == pytest.approx(-0.02)
    assert cost.low == pytest.approx(-0.02, abs=1e-5)  # every impression loses the same
    x = found.intervals["eng", "mmr"][1]["ndcg@10"]
    assert x.mean == pytest.approx(0.38)
    assert x.low < x.mean < x.high
    told = found.measured()["mmr"]["fin"]
    assert (told["ndcg@10"], told["own_order"]) == pytest.approx((0.41, 0.4))


def test_rows_and_tables_hold_every_point() -> None:
    found = made()
    rows = found.rows()
    assert len(rows) == 2 * 2 * 3 * 3
    assert [row["front"] for row in rows if row["metric"] == METRIC][:3] == [True, False, True]
    assert found.metrics == (METRIC, LESS)
    titles = [grid.title for grid in whole(found)]
    assert titles[:4] == ["What variety costs: eng", "What variety costs: fin",
                          "On the front: eng", "On the front: fin"]  # fmt: skip
    assert len(titles) == 8
    assert short(found)[0].rows[1][:3] == ("mmr", "0.5", "38.00")


def test_figures_are_png(tmp_path: Path) -> None:
    paths = draw_curves(made(), tmp_path / "figures")
    assert [path.name for path in paths] == ["trade_off_eng.png", "trade_off_fin.png"]
    for path in paths:
        data = path.read_bytes()
        assert data.startswith(b"\x89PNG\r\n\x1a\n")
        width, height = (int.from_bytes(data[i : i + 4], "big") for i in (16, 20))
        assert min(width, height) > 400


def test_languages_of_other_rerankers_are_refused() -> None:
    found = made().curves
    with pytest.raises(DataError, match="the same re-rankers on every language"):
        Tuning({"eng": found["eng"], "fin": {"mmr": found["fin"]["mmr"]}})
    with pytest.raises(DataError, match="one at least"):
        Tuning({})
