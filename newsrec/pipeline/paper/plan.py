"""What the whole grid would cost, extrapolated from short runs on this machine."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from newsrec.corpus import Corpus
from newsrec.corpus.report import PAPER_004
from newsrec.evaluate.render import Grid
from newsrec.languages import XMIND
from newsrec.pipeline.paper.cells import OnCell
from newsrec.pipeline.paper.corpora import SHORT, small_part
from newsrec.pipeline.paper.cost import (
    Cost,
    cost_of,
    impressions_of,
    kinds,
    rows_per_impression,
    texts_per_s,
)
from newsrec.pipeline.paper.models import MODELS
from newsrec.pipeline.paper.run import Plan
from newsrec.rank.fit_options import FitOptions

#: Articles of MINDsmall, train and dev (paper 004, table 1).
PAPER_NEWS = 51_282 + 42_416


@dataclass(frozen=True, slots=True)
class Size:
    """What a grid is run on: impressions of train, valid and test, articles, shelves."""

    name: str
    train: int
    valid: int
    test: int
    news: int
    languages: int


def sizes(plan: Plan) -> list[Size]:
    """The corpus as it is, and the paper's (table 1) where that is another."""
    n = impressions_of(plan.corpus, plan.setting)
    here = Size("here", **n, news=len(plan.corpus.news), languages=len(plan.setting.langs))
    paper = Size("MINDsmall", **PAPER_004, news=PAPER_NEWS, languages=1 + len(XMIND))
    return [here] if here.train >= paper.train else [here, paper]


def cost_grids(plan: Plan, on_cell: OnCell | None = None) -> list[Grid]:
    """Short runs of every kind of cell, then what all cells would cost: one table of kinds, one of
    encoders."""
    small, costs = _measured(plan, on_cell)
    speeds = {
        column.label: texts_per_s(column, plan.cells[0].protocol, plan.setting, small)
        for column in plan.columns
        if any(row.encoder == column.label for row in plan.rows)
    }
    wanted = sizes(plan)
    hours = {
        size.name: {kind: _hours(plan, kind, cost, speeds, size, small)
                    for kind, cost in costs.items()}
        for size in wanted
    }  # fmt: skip
    encoding = {size.name: _encoding_hours(plan, speeds, size) for size in wanted}
    return [_kinds_grid(plan, costs, hours, encoding), _encoders_grid(plan, speeds, encoding)]


def _measured(
    plan: Plan, on_cell: OnCell | None
) -> tuple[Corpus, dict[tuple[str, str, str], Cost]]:
    setting, folder = plan.setting, plan.request.folder / "plan"
    splits = {"train": setting.train, "valid": setting.valid or "", "test": setting.test}
    small = small_part(
        plan.corpus, folder / "corpus", splits, setting.source, [setting.source], SHORT
    )
    here = replace(setting, corpus=str(small.folder))
    found = {}
    each = kinds(plan.cells)
    for i, (kind, cell) in enumerate(each.items()):
        if on_cell is not None:
            on_cell(cell, i, len(each))
        found[kind] = cost_of(cell, here, small, folder / "runs")
    return small, found


def _hours(
    plan: Plan, kind: tuple[str, str, str], cost: Cost, speeds: Mapping[str, float], size: Size,
    small: Corpus,
) -> float:  # fmt: skip
    """All cells of a kind, in hours; training runs all epochs."""
    total = 0.0
    for cell in plan.cells:
        if cell.kind != kind:
            continue
        total += size.test * size.languages * cost.impression_s
        if not cell.is_trained:
            continue
        rows = rows_per_impression(cell, small, plan.setting)
        shown = size.train if cell.row.shots is None else cell.row.shots
        epochs = _epochs(plan)
        total += epochs * rows * (shown * cost.row_s + size.valid * cost.valid_row_s)
        if cell.row.training == "fine-tuned":
            # What is tuned anew must be encoded anew, every view in every language.
            texts = size.news * size.languages * len(MODELS[cell.row.model].views)
            total += texts / speeds[cell.row.encoder]
    return total / 3600


def _encoding_hours(plan: Plan, speeds: Mapping[str, float], size: Size) -> dict[str, float]:
    """Every view that a frozen row reads, once."""
    found = {}
    for label, speed in speeds.items():
        views = {view for row in plan.rows if row.encoder == label and row.training == "frozen"
                 for view in MODELS[row.model].views}  # fmt: skip
        found[label] = size.news * size.languages * len(views) / speed / 3600
    return found


def _epochs(plan: Plan) -> int:
    given = dict(plan.setting.options).get("epochs")
    return FitOptions.paper_004().epochs if given is None else int(given)


def _kinds_grid(
    plan: Plan,
    costs: Mapping[tuple[str, str, str], Cost],
    hours: Mapping[str, Mapping[tuple[str, str, str], float]],
    encoding: Mapping[str, Mapping[str, float]],
) -> Grid:
    unit = "GPU h" if _on_gpu(plan) else "CPU h"
    body = []
    for kind, cost in costs.items():
        model, encoder, training = kind
        numbers = [_ms(x) for x in (cost.row_s, cost.valid_row_s, cost.impression_s)]
        n = sum(cell.kind == kind for cell in plan.cells)
        kept = f"{n * cost.kept_mb / 1e3:.2g}"
        body.append((model, encoder or "–", training, *numbers, str(n), kept,
                     *(_told(each[kind]) for each in hours.values())))  # fmt: skip
    totals = [sum(each.values()) + sum(encoding[name].values()) for name, each in hours.items()]
    kept_gb = sum(costs[cell.kind].kept_mb for cell in plan.cells) / 1e3
    counts = (str(len(plan.cells)), f"{kept_gb:.2g}")
    body.append(("all, with encoding", *[""] * 5, *counts, *(_told(x) for x in totals)))
    heads = ("model", "encoder", "training", "ms/row", "ms/valid row", "ms/list", "cells",
             "GB kept", *(f"{unit} {name}" for name in hours))  # fmt: skip
    return Grid(f"Cost of {plan.request.what}", heads, tuple(body), tuple(_notes(plan)))


def _encoders_grid(
    plan: Plan, speeds: Mapping[str, float], encoding: Mapping[str, Mapping[str, float]]
) -> Grid:
    unit = "GPU h" if _on_gpu(plan) else "CPU h"
    body = tuple(
        (label, f"{speed:,.0f}", *(_told(each[label]) for each in encoding.values()))
        for label, speed in speeds.items()
    )
    heads = ("encoder", "texts/s", *(f"{unit} {name}" for name in encoding))
    note = "What frozen rows read, each view of each article in each language once."
    return Grid("Cost of encoding", heads, body, (note,))


def _notes(plan: Plan) -> Sequence[str]:
    device = _device(plan)
    found = [
        f"Measured on {device}, short runs of a few impressions; list: one impression on one "
        f"shelf. All {_epochs(plan)} epochs are counted, of which early stopping may save some."
    ]
    if not _on_gpu(plan):
        found.append(
            "Measured on CPU; run --plan on the GPU machine (--device cuda) for its hours."
        )
    return found


def _on_gpu(plan: Plan) -> bool:
    return _device(plan) != "cpu"


def _device(plan: Plan) -> str:
    return str(dict(plan.setting.options).get("device") or FitOptions().device)


def _ms(seconds: float) -> str:
    return "–" if not seconds else f"{1000 * seconds:.3g}"


def _told(hours: float) -> str:
    return f"{hours:,.2f}" if hours >= 0.01 else f"{hours:.2g}"
