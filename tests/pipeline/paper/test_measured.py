"""Means, intervals and files of cells."""

from __future__ import annotations

from dataclasses import replace
from math import isnan, sqrt
from pathlib import Path

import numpy as np
import pytest

from newsrec.errors import StaleCacheError
from newsrec.evaluate.report import EvalReport
from newsrec.pipeline.paper.measured import (
    AVERAGE,
    Found,
    Measured,
    delta,
    over_seeds,
    read,
    values_of,
    write,
)
from newsrec.pipeline.paper.printed import Row
from tests.evaluate.made import PROVENANCE

ROW = Row("NAML", "NaSE", "frozen")


def report(language: str, values: list[float], pooled: float = 0.5) -> EvalReport:
    n = len(values)
    return EvalReport(
        names=("mrr",),
        values=np.array([values]),
        rows=np.arange(n),
        ids=np.array([f"I{i}" for i in range(n)]),
        readers=np.arange(n, dtype=np.int32),
        counts={},
        provenance=PROVENANCE,
        pooled={"auc_torchmetrics": pooled},
        labels={"language": language, "encoder": "e", "ranker": "r"},
    )


def found(mean: float, half: float = 1.0, seed: int = 42, **changed: object) -> Found:
    values = {("eng", "mrr"): Measured(mean, mean - half, mean + half)}
    made = Found(ROW, "newsrec", seed, "eng", values, {"mrr": -2.0}, {"eng": 9}, {"corpus": "a"})
    return replace(made, **changed)  # type: ignore[arg-type]


def test_the_average_is_over_all_languages_but_the_source() -> None:
    reports = [report("eng", [1.0, 1.0]), report("fin", [0.5, 0.3]), report("cmn", [0.2, 0.0])]
    values = values_of(reports, "eng", ("mrr", "auc_torchmetrics"), 0)
    assert values[AVERAGE, "mrr"].mean == pytest.approx(25.0)
    assert values["eng", "mrr"].mean == pytest.approx(100.0)
    assert delta(values, "eng", "mrr") == pytest.approx(-75.0)
    assert values[AVERAGE, "auc_torchmetrics"].mean == pytest.approx(50.0)
    assert isnan(values[AVERAGE, "auc_torchmetrics"].low)


def test_without_another_language_there_is_no_average() -> None:
    values = values_of([report("cmn", [0.5, 1.0])], "cmn", ("mrr",), 0)
    assert set(values) == {("cmn", "mrr")}
    assert isnan(delta(values, "cmn", "mrr"))


def test_languages_that_rise_and_fall_together_have_the_interval_of_one() -> None:
    rng = np.random.default_rng(0)
    drawn = rng.random(400)
    same = [report(language, drawn.tolist()) for language in ("fin", "cmn", "tha")]
    average = values_of(same, "eng", ("mrr",), 1)[AVERAGE, "mrr"]
    expected = 100 * 1.96 * drawn.std() / sqrt(400)
    assert average.half_width == pytest.approx(expected, rel=0.1)
    apart = [report(x, rng.permutation(drawn).tolist()) for x in ("fin", "cmn", "tha")]
    narrow = values_of(apart, "eng", ("mrr",), 1)[AVERAGE, "mrr"].half_width
    assert narrow == pytest.approx(expected / sqrt(3), rel=0.15)


def test_seeds_widen_an_interval() -> None:
    x = over_seeds([found(30.0, seed=1), found(33.0, seed=2)], "eng", "mrr")
    assert x is not None
    assert (x.mean, x.seeds) == (31.5, 2)
    assert x.std == pytest.approx(np.std([30, 33], ddof=1))
    assert x.half_width == pytest.approx(sqrt(1 + (1.96 * x.std) ** 2 / 2))
    alone = over_seeds([found(30.0)], "eng", "mrr")
    assert alone == Measured(30.0, 29.0, 31.0)
    assert over_seeds([found(30.0)], "fin", "mrr") is None


def test_a_cell_comes_back_as_it_was_written(tmp_path: Path) -> None:
    nan = float("nan")
    cell = found(30.0, deltas={"mrr": nan}, failed=(("tha", "no text"),), seconds=2.5)
    write(cell, tmp_path / "seed42.json")
    back = read(tmp_path / "seed42.json", {"corpus": "a"})
    assert back is not None
    assert isnan(back.deltas["mrr"])
    assert replace(back, deltas={}) == replace(cell, deltas={})
    assert read(tmp_path / "seed43.json", {}) is None


@pytest.mark.parametrize("damage", [b"{", b"[]", b'{"format": 0}', b'{"format": 1}'])
def test_a_damaged_cell_is_refused(tmp_path: Path, damage: bytes) -> None:
    (tmp_path / "seed42.json").write_bytes(damage)
    with pytest.raises(StaleCacheError, match="remove the file"):
        read(tmp_path / "seed42.json", {})


def test_a_cell_of_another_corpus_is_refused(tmp_path: Path) -> None:
    write(found(30.0), tmp_path / "seed42.json")
    with pytest.raises(StaleCacheError, match=r"corpus: 'a', now 'b'.*another --out"):
        read(tmp_path / "seed42.json", {"corpus": "b"})
