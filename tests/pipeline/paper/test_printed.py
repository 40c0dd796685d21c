"""The paper's numbers as they were transcribed."""

from __future__ import annotations

from collections import Counter
from math import isnan

import pytest

from newsrec.pipeline.paper.printed import FLAGS, Row, stated, table

METRICS = ("auc_torchmetrics", "mrr", "ndcg@5", "ndcg@10")


def test_table_2_has_every_row() -> None:
    found = Counter(row.training for row in table(2).rows)
    assert found == {"none": 1, "fine-tuned": 18, "frozen": 15}
    assert set(table(2).cells) == {(row, m) for row in table(2).rows for m in METRICS}
    assert all(row.shots is None for row in table(2).rows)


def test_table_3_has_every_row() -> None:
    assert Counter(row.shots for row in table(3).rows) == {10: 4, 50: 4, 100: 4}
    assert set(table(3).cells) == {(row, m) for row in table(3).rows for m in METRICS}
    assert {(row.model, row.encoder) for row in table(3).rows} == {
        (model, encoder) for model in ("LFRec-SCL", "NAML") for encoder in ("LaBSE", "NaSE")
    }


@pytest.mark.parametrize(
    ("row", "metric", "numbers"),
    [
        (Row("LFRec", "NaSE", "frozen"), "mrr", (34.74, 0.00, 33.96, 0.00, -2.26)),
        (Row("LFRec", "NaSE", "frozen"), "ndcg@5", (33.02, 0.00, 32.14, 0.00, -2.66)),
        (Row("LFRec", "NaSE", "frozen"), "ndcg@10", (39.01, 0.00, 38.23, 0.00, -2.00)),
        (Row("LFRec", "NaSE", "frozen"), "auc_torchmetrics", (64.19, 0.00, 63.79, 0.00, -0.62)),
        (Row("LFRec", "LaBSE", "frozen"), "ndcg@10", (34.83, 0.00, 32.95, 0.00, -5.41)),
        (Row("LFRec", "XLM-R", "frozen"), "ndcg@10", (28.44, 0.00, 28.71, 0.00, 0.92)),
        (Row("LFRec-SCL", "LaBSE", "fine-tuned"), "mrr", (36.45, 0.65, 35.04, 0.53, -3.87)),
        (Row("LFRec-CE", "XLM-R", "fine-tuned"), "mrr", (35.66, 0.82, 33.05, 0.42, -2.61)),
        (Row("NAML", "LaBSE", "frozen"), "ndcg@5", (32.90, 0.02, 32.01, 0.38, -2.69)),
        (Row("NAML", "NaSE", "fine-tuned"), "ndcg@10", (41.62, 0.66, 38.94, 0.93, -6.43)),
        (Row("MINS", "XLM-R", "frozen"), "auc_torchmetrics", (49.93, 0.28, 50.03, 0.22, 0.74)),
        (Row("CAUM", "NaSE", "frozen"), "ndcg@10", (39.15, 0.43, 37.98, 0.34, -2.98)),
        (Row("MANNeR", "XLM-R", "frozen"), "ndcg@5", (29.26, 1.31, 21.22, 0.29, -27.46)),
        (Row("MANNeR", "NaSE", "frozen"), "mrr", (34.68, 0.89, 33.45, 0.72, -3.54)),
    ],
    ids=lambda x: x.name if isinstance(x, Row) else None,
)
def test_numbers_of_table_2(row: Row, metric: str, numbers: tuple[float, ...]) -> None:
    x = table(2).cells[row, metric]
    assert (x.eng.mean, x.eng.std, x.avg.mean, x.avg.std, x.delta) == numbers


@pytest.mark.parametrize(
    ("model", "encoder", "shots", "metric", "numbers"),
    [
        ("LFRec-SCL", "NaSE", 10, "mrr", (33.54, 0.30, 32.98, 0.26, -1.69)),
        ("LFRec-SCL", "NaSE", 10, "ndcg@10", (37.70, 0.28, 37.15, 0.25, -1.44)),
        ("LFRec-SCL", "LaBSE", 50, "auc_torchmetrics", (61.07, 1.19, 59.04, 0.59, -3.32)),
        ("NAML", "LaBSE", 50, "ndcg@5", (31.15, 0.91, 29.26, 0.55, -5.75)),
        ("NAML", "LaBSE", 100, "ndcg@5", (32.45, 0.61, 29.18, 0.90, -10.06)),
        ("NAML", "NaSE", 100, "ndcg@10", (37.96, 0.23, 38.05, 0.27, 0.23)),
    ],
)
def test_numbers_of_table_3(
    model: str, encoder: str, shots: int, metric: str, numbers: tuple[float, ...]
) -> None:
    x = table(3).cells[Row(model, encoder, "fine-tuned", shots), metric]
    assert (x.eng.mean, x.eng.std, x.avg.mean, x.avg.std, x.delta) == numbers


def test_parameters_in_millions() -> None:
    trainable, total = table(2).trainable, table(2).total
    assert trainable[Row("NAML", "LaBSE", "frozen")] == 0.156
    assert trainable[Row("LFRec-SCL", "NaSE", "fine-tuned")] == 414
    assert total[Row("CAUM", "XLM-R", "frozen")] == 559
    assert trainable[Row("NAML_CAT", "", "none")] == 0.387


@pytest.mark.parametrize("number", [2, 3])
def test_a_printed_change_follows_from_its_means_unless_it_is_marked(number: int) -> None:
    for (row, metric), x in table(number).cells.items():  # type: ignore[arg-type]
        assert set(x.flags) <= set(FLAGS)
        if "no-avg" in x.flags:
            assert isnan(x.avg.mean)
            continue
        change = 100 * (x.avg.mean - x.eng.mean) / x.eng.mean
        # Half of the last printed digit of both means and of the change.
        tolerance = 0.005 + 0.5 / x.eng.mean * (1 + x.avg.mean / x.eng.mean) + 1e-9
        differs = abs(change - x.delta) > tolerance
        assert differs == bool({"delta-differs", "delta-in-points"} & set(x.flags)), (row, metric)


def test_what_is_odd_is_marked() -> None:
    cells = table(2).cells
    assert cells[Row("LFRec-CE", "XLM-R", "fine-tuned"), "mrr"].flags == ("delta-in-points",)
    assert cells[Row("LFRec", "XLM-R", "frozen"), "auc_torchmetrics"].flags == ("negative-zero",)
    marked = [(row, metric) for (row, metric), x in cells.items() if x.flags]
    assert len(marked) == 4 + 1 + 3 + 2 + 4 + 4
    assert [key for key, x in table(3).cells.items() if x.flags] == [
        (Row("NAML", "LaBSE", "fine-tuned", 50), "ndcg@5")
    ]


def test_what_the_text_says_follows_from_the_tables_where_they_have_it() -> None:
    for said in stated():
        both = []
        for encoder in (said.better, said.worse):
            row = Row(said.model, encoder, said.training, said.shots)
            both.append(table(2 if said.shots is None else 3).cells.get((row, "ndcg@10")))
        if said.where not in ("eng", "average") or both[0] is None or both[1] is None:
            continue
        better, worse = (x.eng.mean if said.where == "eng" else x.avg.mean for x in both if x)
        assert 100 * (better - worse) / better == pytest.approx(said.percent, abs=0.03)


def test_a_row_has_a_name_for_files_and_logs() -> None:
    assert Row("LFRec-SCL", "NaSE", "fine-tuned", 10).name == "LFRec-SCL_NaSE_fine-tuned_10-shots"
    assert Row("NAML_CAT", "", "none").name == "NAML_CAT"
