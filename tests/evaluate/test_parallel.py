"""Languages are compared only where they serve the same lists."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from newsrec.evaluate import EvalReport, Results
from newsrec.evaluate.contrasts import contrasts
from newsrec.evaluate.parallel import MINIMUM, Parallel, list_keys
from newsrec.evaluate.render import text
from newsrec.evaluate.tables import full, screen
from newsrec.types import Provenance
from tests.evaluate.made import impressions

SYSTEM = ("mini", "fusion")


def _report(language: str, values: NDArray[np.float64], lists: NDArray[np.uint64]) -> EvalReport:
    n = len(values)
    return EvalReport(
        names=("ndcg@10",),
        values=values[None, :],
        rows=np.arange(n),
        ids=np.arange(n).astype(np.str_),
        readers=np.arange(n, dtype=np.int32),
        counts={"kept": n},
        provenance=Provenance("", {}, "", "fp", {}, "newsrec", 42),
        pooled={"auc_pooled": 0.5},
        labels={"language": language, "encoder": "mini", "ranker": "fusion", "split": "test"},
        lists=lists,
        sizes=np.full(n, 4 if language == "eng" else 30, np.int32),
    )


def _results(same: int, n: int = 100) -> Results:
    """English is perfect on the short lists that only it has, and Chinese is its equal elsewhere:
    0.5 and 0.4 on the first ``same`` impressions."""
    common = np.arange(n) < same
    lists = np.arange(n).astype(np.uint64)
    eng = _report("eng", np.where(common, 0.4, 1.0), lists)
    cmn = _report("cmn", np.where(common, 0.5, 0.1), np.where(common, lists, lists + np.uint64(n)))
    found = Results.of([eng, cmn], {})
    return replace(found, tests=tuple(contrasts(found.reports)))


def test_only_impressions_with_the_same_lists_are_compared() -> None:
    found = _results(same=40)
    assert found.summary(SYSTEM, "ndcg@10")["delta"] == pytest.approx(0.25)
    assert found.change(SYSTEM, "cmn", "ndcg@10") == pytest.approx(0.25)
    (test,) = found.tests
    assert test.found.n == 40
    assert test.found.difference == pytest.approx(0.1)
    # The languages' own numbers are those of all their impressions.
    assert found.summary(SYSTEM, "ndcg@10")["average"] == pytest.approx(0.4 * 0.5 + 0.6 * 0.1)


@pytest.mark.parametrize("same", [0, MINIMUM - 1])
def test_too_few_common_lists_are_not_compared_and_it_is_said(same: int) -> None:
    found = _results(same)
    assert np.isnan(found.summary(SYSTEM, "ndcg@10")["delta"])
    (test,) = found.tests
    assert (test.found.n, np.isnan(test.found.p)) == (same, True)
    assert json.loads(json.dumps(found.to_json(), allow_nan=False))["tests"][0]["p"] is None
    for grids in (screen(found), full(found)):
        shown = "\n".join(text(grid) for grid in grids)
        assert f"fewer than {MINIMUM} such impressions (cmn {same})" in shown
        assert "*" not in shown.replace("* p <", "")


def test_the_minimum_itself_is_enough() -> None:
    assert not np.isnan(_results(MINIMUM).tests[0].found.p)


def test_each_language_shows_its_impressions_its_candidates_and_what_is_common() -> None:
    grid = next(grid for grid in screen(_results(40)) if grid.title == "By language")
    assert grid.columns[-3:] == ("impressions", "candidates", "as in ENG")
    assert [row[-3:] for row in grid.rows] == [("100", "4.0", "–"), ("100", "30.0", "40")]


def test_a_small_corpus_is_compared_where_all_lists_are_the_same() -> None:
    found = _results(same=5, n=5)
    assert found.change(SYSTEM, "cmn", "ndcg@10") == pytest.approx(0.25)
    assert found.change(SYSTEM, "cmn", "auc_pooled") == 0
    assert found.tests[0].found.n == 5
    shown = "\n".join(text(grid) for grid in screen(found))
    assert "(AVG − ENG) / ENG" in shown
    assert "different lists" not in shown
    assert "candidates" not in next(g for g in screen(found) if g.title == "By language").columns


def test_pooled_metrics_have_no_change_where_lists_differ() -> None:
    assert np.isnan(_results(40).change(SYSTEM, "cmn", "auc_pooled"))


def test_lists_are_the_same_when_candidates_and_clicks_are() -> None:
    one = list_keys(impressions([[1, 2], [3, 4, 5], [6, 7]], [[1, 0], [0, 0, 1], [0, 1]]))
    other = list_keys(
        impressions([[1, 2], [3, 4], [6, 7], [2, 1]], [[1, 0], [0, 1], [1, 0], [0, 1]])
    )
    np.testing.assert_array_equal(one == other[:3], [True, False, False])
    assert other[0] != other[3]


def test_reports_on_disk_keep_their_lists(tmp_path: Path) -> None:
    report = _results(40).reports[0]
    report.save(tmp_path / "a.parquet")
    read = EvalReport.load(tmp_path / "a.parquet")
    assert read.lists is not None
    assert read.sizes is not None
    np.testing.assert_array_equal(read.lists, report.lists)
    assert len(Parallel.of(read.take(np.arange(50)), report)) == 50
