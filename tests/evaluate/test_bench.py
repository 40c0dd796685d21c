"""The benchmark of this stage runs, and its reference agrees with it."""

from __future__ import annotations

import pytest

from tests.bench.evaluate import QUICK, one_by_one, ours, rows


def test_rows_are_whole() -> None:
    found = list(rows(quick=True))
    assert len(found) == 3
    assert all(row.measured and row.peak_mb for row in found)
    assert found[0].ratio is not None


def test_the_loop_and_ours_give_the_same_numbers() -> None:
    mine = ours(["accuracy"], 1, **QUICK)["means"]
    theirs = one_by_one(QUICK["n"], **QUICK)["means"]
    for name, value in theirs.items():
        # Articles that are in a list twice tie in ours; in a product of matrices rounding may tell
        # them apart.
        assert mine[name] == pytest.approx(value, abs=5e-4), name
