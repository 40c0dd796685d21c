"""The paper's table beside the measured one, cell by cell."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import isnan

import numpy as np

from newsrec.evaluate.by_language import HEADINGS
from newsrec.evaluate.render import Grid, signed
from newsrec.pipeline.paper.measured import AVERAGE, Found, Measured, over_seeds
from newsrec.pipeline.paper.printed import FLAGS, Number, Printed, Row, Table

_NAN = float("nan")

#: Metrics of a table by protocol: under newsrec's, AUC is the mean of each impression's own.
SHOWN = {
    "newsreclib": ("auc_torchmetrics", "mrr", "ndcg@5", "ndcg@10"),
    "newsrec": ("auc", "mrr", "ndcg@5", "ndcg@10"),
}
# Flags of what these tables show; parameters are in the CSV of the paper alone.
_TOLD = tuple(flag for flag in FLAGS if flag != "total-as-without-head")
_TITLES = {**HEADINGS, "auc_torchmetrics": "AUC (auc_torchmetrics)", "auc": "AUC (own metric)"}


@dataclass(frozen=True, slots=True)
class Compared:
    """One cell of the paper beside the same one here, in percent: ``part`` is ENG, AVG or Δ%;
    NaN where one side has none."""

    protocol: str
    row: Row
    metric: str
    part: str
    paper: float
    paper_std: float
    here: Measured
    flags: tuple[str, ...] = ()
    impressions: int = 0

    @property
    def difference(self) -> float:
        """Measured minus printed, in points."""
        return self.here.mean - self.paper

    @property
    def inside(self) -> bool | None:
        """Whether the printed value lies in the measured interval; None where there is none."""
        if isnan(self.paper) or isnan(self.here.low) or isnan(self.here.high):
            return None
        # Numbers are printed with two decimals.
        return self.here.low - 0.005 <= self.paper <= self.here.high + 0.005


def compare(
    found: Mapping[tuple[str, Row], Sequence[Found]], table: Table | None
) -> Iterator[Compared]:
    """Every cell; ``found[protocol, row]`` holds the row's seeds. ``table`` None: all columns of
    the paper are empty."""
    for (protocol, row), seeds in found.items():
        for metric in SHOWN[protocol]:
            printed = None if table is None else table.cells.get((row, metric))
            yield from _parts(protocol, row, metric, seeds, printed)


def _parts(
    protocol: str, row: Row, metric: str, seeds: Sequence[Found], printed: Printed | None
) -> Iterator[Compared]:
    none = Number(_NAN, _NAN)
    sides = (none, none) if printed is None else (printed.eng, printed.avg)
    flags = () if printed is None else printed.flags
    source = seeds[0].source
    nothing = Measured(_NAN, _NAN, _NAN)
    for part, language, said in (("ENG", source, sides[0]), ("AVG", AVERAGE, sides[1])):
        here = over_seeds(seeds, language, metric) or nothing
        n = seeds[0].impressions.get(language, 0)
        yield Compared(protocol, row, metric, part, said.mean, said.std, here, flags, n)
    deltas = [seed.deltas.get(metric, _NAN) for seed in seeds]
    known = [delta for delta in deltas if not isnan(delta)]
    std = float(np.std(known, ddof=1)) if len(known) > 1 else _NAN
    mean = float(np.mean(known)) if known else _NAN
    delta = _NAN if printed is None else printed.delta
    here = Measured(mean, _NAN, _NAN, std, len(known))
    yield Compared(protocol, row, metric, "Δ%", delta, _NAN, here, flags)


def grids(title: str, compared: Sequence[Compared], notes: Sequence[str] = ()) -> list[Grid]:
    """One table per protocol and metric; the notes stand under the last."""
    found = []
    keys = dict.fromkeys((x.protocol, x.metric) for x in compared)
    for protocol, metric in keys:
        chosen = [x for x in compared if (x.protocol, x.metric) == (protocol, metric)]
        by_row: dict[Row, dict[str, Compared]] = {}
        for x in chosen:
            by_row.setdefault(x.row, {})[x.part] = x
        heading = f"{title}: {_TITLES.get(metric, metric)}, protocol {protocol}"
        rows = tuple(_row(row, parts) for row, parts in by_row.items())
        found.append(Grid(heading, _columns(by_row), rows))
    if found:
        last = found[-1]
        found[-1] = Grid(last.title, last.columns, last.rows, (*_notes(compared), *notes))
    return found


def _columns(by_row: Mapping[Row, object]) -> tuple[str, ...]:
    shots = ("shots",) if any(row.shots for row in by_row) else ()
    cells = [f"{part} {what}" for part in ("ENG", "AVG", "Δ%") for what in ("paper", "here", "±")]
    return ("model", "encoder", "training", *shots, *(_HEADS.get(cell, cell) for cell in cells))


_HEADS = {"ENG ±": "diff", "AVG ±": "diff", "Δ% ±": "diff"}


def _row(row: Row, parts: Mapping[str, Compared]) -> tuple[str, ...]:
    head = [row.model, row.encoder or "–", row.training]
    head += [] if row.shots is None else [str(row.shots)]
    for part in ("ENG", "AVG", "Δ%"):
        head += _cells(parts[part])
    return tuple(head)


def _cells(x: Compared) -> list[str]:
    """Printed, measured, difference with whether the printed value is inside the interval."""
    if x.part == "Δ%":
        mark = "*" if any(flag.startswith("delta") for flag in x.flags) else ""
        return [signed(x.paper) + mark, signed(x.here.mean), signed(x.difference)]
    inside = "" if x.inside is None else (" in" if x.inside else " out")
    return [_plain(x.paper, x.paper_std), _plain(x.here.mean, x.here.half_width),
            signed(x.difference) + inside]  # fmt: skip


def _plain(mean: float, spread: float) -> str:
    if isnan(mean):
        return "–"
    return f"{mean:.2f}" if isnan(spread) else f"{mean:.2f} ±{spread:.2f}"


def _notes(compared: Sequence[Compared]) -> list[str]:
    seeds = max(x.here.seeds for x in compared)
    notes = [
        "In percent. Paper: mean ± standard deviation over three seeds. Here: mean ± half of the "
        "95 % interval (bootstrap over impressions"
        + (f" and the spread of {seeds} seeds" if seeds > 1 else "")
        + "); in, out: whether the paper's mean lies in it; diff: here − paper, in points."
    ]
    if any(x.metric == "auc" for x in compared):
        notes.append(
            "Protocol newsrec: newest 50 clicks, readers without history kept, each impression's "
            "own AUC, which the paper does not have; LFRec is newsrec's late fusion with its "
            "centring and cold start."
        )
    flags = dict.fromkeys(flag for x in compared for flag in x.flags if flag in _TOLD)
    return [*notes, *(f"{_where(compared, flag)}: {FLAGS[flag]}." for flag in flags)]


def _where(compared: Sequence[Compared], flag: str) -> str:
    """The rows that have a flag, with their metrics unless it is all of them."""
    rows: dict[Row, list[str]] = {}
    for x in compared:
        if flag in x.flags and x.part == "Δ%":
            rows.setdefault(x.row, []).append(HEADINGS.get(x.metric, "AUC"))
    star = "* " if flag.startswith("delta") else ""
    return star + "; ".join(
        " ".join(filter(None, [row.model, row.encoder, row.training]))
        + ("" if len(set(metrics)) == len(HEADINGS) else f", {', '.join(dict.fromkeys(metrics))}")
        for row, metrics in rows.items()
    )


def csv_rows(compared: Sequence[Compared]) -> list[dict[str, object]]:
    """One flat row a cell; empty where there is no number."""
    return [
        {
            "protocol": x.protocol,
            "model": x.row.model,
            "encoder": x.row.encoder,
            "training": x.row.training,
            "shots": "" if x.row.shots is None else x.row.shots,
            "metric": x.metric,
            "part": x.part,
            "paper": _written(x.paper),
            "paper_std": _written(x.paper_std),
            "here": _written(x.here.mean),
            "here_low": _written(x.here.low),
            "here_high": _written(x.here.high),
            "here_std": _written(x.here.std),
            "seeds": x.here.seeds,
            "difference": _written(x.difference),
            "inside": "" if x.inside is None else str(x.inside).lower(),
            "impressions": x.impressions or "",
            "flags": " ".join(x.flags),
        }
        for x in compared
    ]


def _written(value: float) -> str:
    return "" if isnan(value) else f"{value:.4f}"
