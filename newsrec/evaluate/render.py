"""Tables as text, markdown and LaTeX from one neutral `Grid`."""

from __future__ import annotations

import csv
import io
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from newsrec.evaluate.metrics import TIE_RULE
from newsrec.evaluate.report import EvalReport
from newsrec.evaluate.significance import Interval

#: Metrics that are not shares, printed as they are and not in percent.
PLAIN = ("calibration_kl@", "theme_calibration_kl@", "topic_calibration_kl@")


@dataclass(frozen=True, slots=True)
class Grid:
    """A table of ready-made cells; every row as long as ``columns``."""

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    notes: tuple[str, ...] = ()


def number(value: float, metric: str = "") -> str:
    """In percent with two digits (`PLAIN` metrics: three digits as they are); "–" for NaN."""
    if np.isnan(value):
        return "–"
    if metric.startswith(PLAIN):
        return f"{value:.3f}"
    return f"{100 * value:.2f}"


def signed(value: float) -> str:
    """Two digits with a sign, "–" for NaN, and no negative zero."""
    shown = "–" if np.isnan(value) else f"{value:+.2f}"
    return "+0.00" if shown == "-0.00" else shown


def with_interval(x: Interval, metric: str = "") -> str:
    """``39.01 [38.70, 39.32]``; without brackets where there is no interval."""
    if np.isnan(x.low):
        return number(x.mean, metric)
    return f"{number(x.mean, metric)} [{number(x.low, metric)}, {number(x.high, metric)}]"


def with_half_width(x: Interval, metric: str = "") -> str:
    """``39.01 ±0.31``: the same in less room."""
    if np.isnan(x.low):
        return number(x.mean, metric)
    return f"{number(x.mean, metric)} ±{number((x.high - x.low) / 2, metric)}"


def metric_grid(report: EvalReport, found: Mapping[str, Interval] | None = None) -> Grid:
    """One report: a row per metric."""
    shown = report.interval() if found is None else found
    rows = tuple((name, with_interval(x, name), str(x.n)) for name, x in shown.items())
    title = " ".join(part for part in (*report.system, report.language) if part)
    skipped = tuple(f"{name} left out: {reason}." for name, reason in report.skipped.items())
    return Grid(title, ("metric", "mean [95 %]", "impressions"), rows, (ties_note(), *skipped))


def ties_note() -> str:
    return f"In percent. Order: {TIE_RULE}."


def text(grid: Grid) -> str:
    """Aligned columns for a terminal; the first column to the left, the others to the right."""
    table = [grid.columns, *grid.rows]
    widths = [max(_width(row[j]) for row in table) for j in range(len(grid.columns))]
    numeric = [_numeric([row[j] for row in grid.rows]) for j in range(len(widths))]
    lines = [grid.title, *(_aligned(row, widths, numeric) for row in table)]
    lines.insert(2, "─" * (sum(widths) + 2 * len(widths) - 2))
    return "\n".join([*lines, *grid.notes]) + "\n"


def _aligned(row: Sequence[str], widths: Sequence[int], numeric: Sequence[bool]) -> str:
    cells = [
        " " * (width - _width(cell)) + cell if right else cell + " " * (width - _width(cell))
        for cell, width, right in zip(row, widths, numeric, strict=True)
    ]
    return "  ".join(cells).rstrip()


def _width(cell: str) -> int:
    """Columns of a terminal: wide characters take two, combining marks none."""
    return sum(
        0 if unicodedata.combining(c) else 1 + (unicodedata.east_asian_width(c) in "WF")
        for c in cell
    )


def _numeric(cells: Sequence[str]) -> bool:
    """Whether a column is to the right: it has digits, and every cell begins like a number."""
    begins = all(not cell or cell[0] in "0123456789+-−–<" for cell in cells)
    return begins and any(c.isdigit() for cell in cells for c in cell)


def markdown(grid: Grid) -> str:
    """A pipe table under a heading."""
    escape = [[cell.replace("|", "\\|") for cell in row] for row in (grid.columns, *grid.rows)]
    head, *body = ["| " + " | ".join(row) + " |" for row in escape]
    rule = "|" + "---|" * len(grid.columns)
    notes = [f"\n{note}" for note in grid.notes]
    return "\n".join([f"## {grid.title}\n", head, rule, *body, *notes]) + "\n"


_LATEX = str.maketrans(
    {
        "\\": r"\textbackslash{}", "{": r"\{", "}": r"\}", "_": r"\_", "%": r"\%", "&": r"\&",
        "#": r"\#", "$": r"\$", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}",
        "Δ": r"$\Delta$", "±": r"$\pm$", "–": "--", "−": "$-$", "·": r"$\cdot$", "<": "$<$",
        ">": "$>$", "∗": "$^{*}$", "…": r"\ldots{}",
    }
)  # fmt: skip


def latex(grid: Grid) -> str:
    """A booktabs table; needs ``\\usepackage{booktabs}``."""
    lines = [" & ".join(cell.translate(_LATEX) for cell in row) + r" \\" for row in grid.rows]
    head = " & ".join(cell.translate(_LATEX) for cell in grid.columns) + r" \\"
    caption = " ".join([f"{grid.title}.", *grid.notes]).translate(_LATEX)
    numeric = [_numeric([row[j] for row in grid.rows]) for j in range(len(grid.columns))]
    columns = "".join("r" if right else "l" for right in numeric)
    return "\n".join(
        [
            r"\begin{table}[t]", r"\centering", r"\small",
            rf"\begin{{tabular}}{{{columns}}}", r"\toprule", head, r"\midrule", *lines,
            r"\bottomrule", r"\end{tabular}", rf"\caption{{{caption}}}", r"\end{table}", "",
        ]
    )  # fmt: skip


def csv_text(rows: Sequence[Mapping[str, object]]) -> str:
    """Flat rows of the same keys as CSV, with a line of names."""
    out = io.StringIO()
    lines = csv.DictWriter(out, list(rows[0]) if rows else [], lineterminator="\n")
    lines.writeheader()
    lines.writerows(rows)
    return out.getvalue()
