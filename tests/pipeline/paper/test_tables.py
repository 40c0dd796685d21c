"""The paper's numbers beside measured ones."""

from __future__ import annotations

from math import isnan

import pytest

from newsrec.evaluate.render import latex, markdown, text
from newsrec.pipeline.paper.measured import AVERAGE, Found, Measured
from newsrec.pipeline.paper.printed import Row, table
from newsrec.pipeline.paper.tables import Compared, compare, csv_rows, grids

LFREC = Row("LFRec", "NaSE", "frozen")
METRICS = ("auc_torchmetrics", "auc", "mrr", "ndcg@5", "ndcg@10")


def found(row: Row, eng: float, avg: float, half: float = 0.3, seed: int = 42) -> Found:
    values = {
        (language, metric): Measured(x, x - half, x + half)
        for language, x in (("eng", eng), (AVERAGE, avg))
        for metric in METRICS
    }
    deltas = dict.fromkeys(METRICS, 100 * (avg - eng) / eng)
    return Found(row, "newsreclib", seed, "eng", values, deltas, {"eng": 70938}, {})


def one(row: Row, metric: str, part: str, eng: float, avg: float) -> Compared:
    compared = compare({("newsreclib", row): [found(row, eng, avg)]}, table(2))
    return next(x for x in compared if (x.metric, x.part) == (metric, part))


def test_a_cell_stands_beside_its_number() -> None:
    x = one(LFREC, "ndcg@10", "ENG", 39.20, 38.0)
    assert (x.paper, x.paper_std, x.here.mean) == (39.01, 0.0, 39.20)
    assert x.difference == pytest.approx(0.19)
    assert x.inside
    assert one(LFREC, "ndcg@10", "AVG", 39.20, 37.0).inside is False
    delta = one(LFREC, "ndcg@10", "Δ%", 40.0, 39.0)
    assert (delta.paper, delta.here.mean, delta.inside) == (-2.00, -2.5, None)


def test_a_row_that_the_paper_lacks_has_no_difference() -> None:
    x = one(Row("LFRec", "mini", "frozen"), "mrr", "ENG", 30.0, 29.0)
    assert isnan(x.paper)
    assert isnan(x.difference)
    assert x.inside is None


def test_newsrecs_own_auc_is_not_the_papers() -> None:
    cells = list(compare({("newsrec", LFREC): [found(LFREC, 60.0, 59.0)]}, table(2)))
    assert {x.metric for x in cells} == {"auc", "mrr", "ndcg@5", "ndcg@10"}
    assert all(isnan(x.paper) for x in cells if x.metric == "auc")
    assert not any(isnan(x.paper) for x in cells if x.metric == "mrr")


def test_tables_say_all_of_it() -> None:
    both = {
        ("newsreclib", row): [found(row, 39.0, 38.0, seed=seed) for seed in (42, 43)]
        for row in (Row("NAML_CAT", "", "none"), Row("LFRec-CE", "XLM-R", "fine-tuned"), LFREC)
    }
    made = grids("Paper 004, table 2", list(compare(both, table(2))), ["a note of mine"])
    assert [grid.title for grid in made] == [
        f"Paper 004, table 2: {metric}, protocol newsreclib"
        for metric in ("AUC (auc_torchmetrics)", "MRR", "nDCG@5", "nDCG@10")
    ]
    said = text(made[1])
    assert "-2.61*" in said
    assert "35.66 ±0.82" in said
    notes = " ".join(made[-1].notes)
    assert "* LFRec-CE XLM-R fine-tuned, MRR: the printed Δ% is the difference" in notes
    assert "NAML_CAT none: the paper prints 0.00" in notes
    assert "spread of 2 seeds" in notes
    assert "a note of mine" in notes
    for grid in made:
        assert all(len(row) == len(grid.columns) for row in grid.rows)
        assert markdown(grid).count("\n|") == 2 + len(grid.rows)
        assert latex(grid).count(r"\\") == 1 + len(grid.rows)


def test_the_csv_has_a_row_a_cell() -> None:
    rows = csv_rows(list(compare({("newsreclib", LFREC): [found(LFREC, 39.2, 38.0)]}, table(2))))
    assert len(rows) == 4 * 3
    x = next(r for r in rows if (r["metric"], r["part"]) == ("ndcg@10", "ENG"))
    assert (x["paper"], x["here"], x["difference"], x["inside"]) == (
        "39.0100", "39.2000", "0.1900", "true",
    )  # fmt: skip
    assert x["impressions"] == 70938
