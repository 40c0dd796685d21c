"""Bars of figures 2, 4 and 5, and what the text says of them."""

from __future__ import annotations

from pathlib import Path

import pytest

from newsrec.pipeline.paper.figures import (
    ahead,
    draw,
    figure_rows,
    stated_grid,
    values_grid,
)
from newsrec.pipeline.paper.measured import AVERAGE, Found, Measured
from newsrec.pipeline.paper.printed import Row, stated

LANGUAGES = ("eng", "cmn", "fin", "tha", AVERAGE)


def found(row: Row, means: dict[str, float]) -> list[Found]:
    values = {(x, "ndcg@10"): Measured(mean, mean - 1, mean + 1) for x, mean in means.items()}
    return [Found(row, "newsreclib", 42, "eng", values, {}, {}, {})]


def bars(offset: float = 0.0) -> dict[tuple[str, Row], list[Found]]:
    """Made-up bars of all three figures."""
    rows = [Row("LFRec", x, "frozen") for x in ("LaBSE", "NaSE", "NaSE-DAE", "NaSE-MT")]
    for shots in (None, 10, 50):
        rows += [Row("LFRec-SCL", x, "fine-tuned", shots) for x in ("LaBSE", "NaSE")]
    return {
        ("newsreclib", row): found(row, {x: 30.0 + i + j + offset for j, x in enumerate(LANGUAGES)})
        for i, row in enumerate(rows)
    }


def test_a_lead_is_counted_as_the_paper_counts_it() -> None:
    rows = {
        Row("LFRec", "NaSE", "frozen"): found(
            Row("LFRec", "NaSE", "frozen"), {"eng": 39.01, "tha": 37.0}
        ),
        Row("LFRec", "LaBSE", "frozen"): found(
            Row("LFRec", "LaBSE", "frozen"), {"eng": 34.83, "tha": 30.0}
        ),
    }
    said = {(x.figure, x.better, x.worse, x.where): x for x in stated()}
    here = ahead(said[2, "NaSE", "LaBSE", "eng"], rows)
    assert here == pytest.approx(10.71, abs=0.01)
    assert ahead(said[2, "NaSE", "LaBSE", "cmn"], rows) is None
    assert ahead(said[2, "NaSE-MT", "LaBSE", "most"], rows) is None


def test_the_largest_lead_is_looked_for_in_every_language() -> None:
    rows = {
        Row("LFRec", name, "frozen"): found(Row("LFRec", name, "frozen"), means)
        for name, means in (
            ("NaSE-MT", {"eng": 40.0, "tha": 40.0, AVERAGE: 50.0}),
            ("LaBSE", {"eng": 36.0, "tha": 32.0, AVERAGE: 10.0}),
        )
    }
    said = next(x for x in stated() if (x.better, x.worse) == ("NaSE-MT", "LaBSE"))
    assert ahead(said, rows) == pytest.approx(20.0)


def test_every_bar_is_a_number_too() -> None:
    both = bars()
    grid = values_grid(both, "newsreclib")
    assert grid.columns == (
        "figure", "model", "encoder", "shots", "ENG", "CMN", "FIN", "THA", "AVG",
    )  # fmt: skip
    assert [row[0] for row in grid.rows] == ["2"] * 4 + ["4"] * 2 + ["5"] * 4
    assert grid.rows[0][4] == "30.00 ±1.00"
    flat = list(figure_rows(both))
    assert len(flat) == 10 * len(LANGUAGES)
    assert flat[0]["ndcg@10"] == "30.0000"


def test_what_the_text_says_is_beside_the_measured_lead() -> None:
    grid = stated_grid(bars(), "newsreclib")
    assert grid is not None
    told = {row[1]: row for row in grid.rows}
    assert len(told) == len(stated())
    better, worse = 31.0, 30.0
    cells = told["NaSE over LaBSE (eng)"]
    assert cells[2:4] == ("+10.71", f"{100 * (better - worse) / better:+.2f}")
    assert stated_grid(bars(), "newsrec") is None


def test_figures_are_drawn_for_the_rows_there_are(tmp_path: Path) -> None:
    both = bars()
    paths = draw(both, tmp_path)
    assert [path.name for path in paths] == [f"figure{n}_newsreclib.png" for n in (2, 4, 5)]
    assert all(path.read_bytes().startswith(b"\x89PNG") for path in paths)
    frozen = {key: x for key, x in both.items() if key[1].training == "frozen"}
    assert [path.name for path in draw(frozen, tmp_path)] == ["figure2_newsreclib.png"]
    assert draw({}, tmp_path) == []
