"""The files of a reproduction: tables as text, Markdown, LaTeX and CSV, figures as PNG."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from newsrec.evaluate.render import Grid, csv_text, latex, markdown
from newsrec.files import write_text
from newsrec.pipeline.paper.figures import draw, figure_rows, stated_grid, values_grid
from newsrec.pipeline.paper.grid import What
from newsrec.pipeline.paper.measured import Found
from newsrec.pipeline.paper.printed import Row, table
from newsrec.pipeline.paper.tables import compare, csv_rows, grids

Everything = Mapping[tuple[str, Row], Sequence[Found]]

_TITLES = {"table2": "Paper 004, table 2", "table3": "Paper 004, table 3"}


def report(what: What, found: Everything, notes: Sequence[str], folder: Path) -> list[Grid]:
    """Write ``WHAT.md``, ``.tex`` and ``.csv`` (and the figures) into ``folder``; the same tables
    for a screen."""
    if what == "figures":
        made, rows = _figures(found, notes), list(figure_rows(found))
        draw(found, folder)
    else:
        compared = list(compare(found, table(2 if what == "table2" else 3)))
        made, rows = grids(_TITLES[what], compared, _told(found, notes)), csv_rows(compared)
    write_text(folder / f"{what}.md", "\n".join(markdown(grid) for grid in made))
    write_text(folder / f"{what}.tex", "\n".join(latex(grid) for grid in made))
    write_text(folder / f"{what}.csv", csv_text(rows))
    return made


def report_plan(what: What, made: Sequence[Grid], folder: Path) -> Path:
    """Write ``plan_WHAT.md``; its path."""
    path = folder / f"plan_{what}.md"
    write_text(path, "\n".join(markdown(grid) for grid in made))
    return path


def _figures(found: Everything, notes: Sequence[str]) -> list[Grid]:
    made: list[Grid] = []
    for protocol in dict.fromkeys(protocol for protocol, _ in found):
        made.append(values_grid(found, protocol))
        said = stated_grid(found, protocol)
        made += [] if said is None else [said]
    last = made[-1]
    made[-1] = Grid(last.title, last.columns, last.rows, (*last.notes, *_told(found, notes)))
    return made


def _told(found: Everything, notes: Sequence[str]) -> list[str]:
    """What a reader must know beside the numbers."""
    cells = [cell for seeds in found.values() for cell in seeds]
    sources = {cell.source for cell in cells} - {"eng"}
    told = [f"ENG here is {x}, which was trained in." for x in sorted(sources)]
    lost = dict.fromkeys(
        f"{cell.row.name} ({cell.protocol}, seed {cell.seed}), {what}: {why}"
        for cell in cells
        for what, why in cell.failed
    )
    return [*told, *(f"Not measured: {x}" for x in lost), *notes]
