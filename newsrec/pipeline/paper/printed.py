"""What the paper prints: tables 2 and 3, and what its text says of figures without numbers.

``table2.csv`` and ``table3.csv`` hold every number as it is printed, oddities too. ``flags`` mark
those: ``no-avg`` (0.00 stands where nothing was measured), ``delta-differs`` (the printed Δ% is not
that of the two numbers beside it, rounding included), ``delta-in-points`` (it is their difference),
``negative-zero``, ``three-decimals``, ``total-as-without-head`` (parameters).
"""

from __future__ import annotations

import csv
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Literal

Training = Literal["none", "frozen", "fine-tuned"]

_HERE = Path(__file__).parent
_NAN = float("nan")

#: What a flag means, for readers of a table.
FLAGS = {
    "no-avg": "the paper prints 0.00 for AVG and Δ% of a model that reads no text",
    "delta-differs": "the printed Δ% does not follow from the two printed means",
    "delta-in-points": "the printed Δ% is the difference of the means, in points",
    "negative-zero": "printed as -0.00",
    "three-decimals": "printed with three decimals",
    "total-as-without-head": "the printed total of parameters is that of the encoder alone",
}


@dataclass(frozen=True, slots=True)
class Row:
    """A row of a table: ``model`` and ``encoder`` by the paper's names ("" for a model without
    text), how the encoder was trained, and training impressions (None: all)."""

    model: str
    encoder: str
    training: Training
    shots: int | None = None

    @property
    def name(self) -> str:
        """One word: ``LFRec-SCL_NaSE_fine-tuned_10-shots``."""
        parts = [self.model, self.encoder, "" if self.training == "none" else self.training]
        parts.append("" if self.shots is None else f"{self.shots}-shots")
        return "_".join(part for part in parts if part)


@dataclass(frozen=True, slots=True)
class Number:
    """A printed mean and its standard deviation over three seeds, in percent; NaN: none."""

    mean: float
    std: float


@dataclass(frozen=True, slots=True)
class Printed:
    """One metric of one row: English, the average over xMIND's languages, Δ% (all in percent)."""

    eng: Number
    avg: Number
    delta: float
    flags: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Table:
    """``cells[row, metric]``; ``rows`` in the paper's order; ``trainable`` and ``total`` millions
    of parameters where they are printed."""

    rows: tuple[Row, ...]
    cells: dict[tuple[Row, str], Printed]
    trainable: dict[Row, float]
    total: dict[Row, float]


@dataclass(frozen=True, slots=True)
class Stated:
    """By how many ``percent`` of its own nDCG@10 encoder ``better`` is ahead of ``worse``, both
    under one model; ``where``: a language, ``average`` (xMIND's), ``most`` or ``least``."""

    figure: int
    model: str
    training: Training
    shots: int | None
    better: str
    worse: str
    where: str
    percent: float


@cache
def table(number: Literal[2, 3]) -> Table:
    """Table 2 (all training impressions) or 3 (few shots)."""
    cells: dict[tuple[Row, str], Printed] = {}
    sizes: dict[str, dict[Row, float]] = {"trainable_m": {}, "total_m": {}}
    for line in _lines(_HERE / f"table{number}.csv"):
        row = Row(line["model"], line["encoder"], _training(line), _shots(line))
        flags = tuple(line["flags"].split())
        eng = Number(_value(line["eng"]), _value(line["eng_std"]))
        avg, delta = Number(_value(line["avg"]), _value(line["avg_std"])), _value(line["delta"])
        if "no-avg" in flags:
            avg, delta = Number(_NAN, _NAN), _NAN
        cells[row, line["metric"]] = Printed(eng, avg, delta, flags)
        for key, found in sizes.items():
            if line[key]:
                found[row] = float(line[key])
    rows = tuple(dict.fromkeys(row for row, _ in cells))
    return Table(rows, cells, sizes["trainable_m"], sizes["total_m"])


@cache
def stated() -> tuple[Stated, ...]:
    """What the text says of figures 2 and 5."""
    return tuple(
        Stated(
            int(line["figure"]), line["model"], _training(line), _shots(line), line["better"],
            line["worse"], line["where"], float(line["percent"]),
        )
        for line in _lines(_HERE / "stated.csv")
    )  # fmt: skip


def _lines(path: Path) -> list[dict[str, str]]:
    kept = (x for x in path.read_text("utf-8").splitlines() if not x.startswith("#"))
    return list(csv.DictReader(kept))


def _training(line: dict[str, str]) -> Training:
    found: dict[str, Training] = {x: x for x in ("none", "frozen", "fine-tuned")}
    return found[line["training"]]


def _shots(line: dict[str, str]) -> int | None:
    return int(line["shots"]) if line["shots"] else None


def _value(text: str) -> float:
    return float(text) if text else _NAN
