"""What `newsrec reproduce` does and prints."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import Any

import typer

from newsrec.cli.signals import ended_by_signal
from newsrec.cli.words import listed, numbers, options_of
from newsrec.errors import DataError
from newsrec.evaluate.render import text
from newsrec.pipeline.paper.grid import Cell
from newsrec.pipeline.paper.plan import cost_grids
from newsrec.pipeline.paper.reports import report, report_plan
from newsrec.pipeline.paper.run import Request, planned, reproduce

_LISTS = ("encoders", "wanted", "protocols", "langs")


def run(given: Mapping[str, Any], plan_only: bool) -> None:
    """Run the cells that are not there yet, print the tables, write them; `DataError` at the end
    for languages that failed."""
    plan = planned(_request(given))
    typer.echo("\n".join(plan.notes), err=True)
    if plan_only:
        with ended_by_signal():
            made = cost_grids(plan, _told)
        typer.echo("\n".join(text(grid) for grid in made))
        typer.echo(f"plan: {report_plan(plan.request.what, made, plan.request.folder)}")
        return
    with ended_by_signal():
        found = reproduce(plan, _told)
    folder = plan.request.folder
    made = report(plan.request.what, found, plan.notes, folder)
    typer.echo("\n".join(text(grid) for grid in made))
    typer.echo(f"report: {folder / plan.request.what}.md, .tex, .csv")
    failed = [pair for cells in found.values() for cell in cells for pair in cell.failed]
    if failed:
        raise DataError("; ".join(dict.fromkeys(f"{what}: {why}" for what, why in failed)))


def _request(given: Mapping[str, Any]) -> Request:
    words = dict(given)
    device = words.pop("device")
    words |= {key: tuple(listed(words[key])) for key in _LISTS}
    words["seeds"] = numbers(words["seeds"], "--seeds", int)
    words["corpus"] = None if words["corpus"] is None else str(words["corpus"])
    words["options"] = options_of(words["options"], "--set")
    if device is not None:
        words["options"]["device"] = device
    return Request(**words)


def _told(cell: Cell, i: int, n: int) -> None:
    """One line a cell, on stderr: a full grid takes days, and its log is read afterwards."""
    typer.echo(f"[{i + 1}/{n}] {cell.row.name}, {cell.protocol}, seed {cell.seed}", err=True)
    sys.stderr.flush()
