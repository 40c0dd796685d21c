"""Figures 2, 4 and 5 as measured, and what the paper's text says of them beside it.

The paper's bars carry no numbers, so that only the measured ones are drawn.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import isnan
from pathlib import Path
from typing import Any

import numpy as np

from newsrec.evaluate.figures import COLOURS, file_name, panels, save
from newsrec.evaluate.render import Grid, signed
from newsrec.pipeline.paper.grid import SHOTS
from newsrec.pipeline.paper.measured import AVERAGE, Found, Measured, over_seeds
from newsrec.pipeline.paper.printed import Row, Stated, Training, stated

METRIC = "ndcg@10"

_NAN = float("nan")
Rows = Mapping[Row, Sequence[Found]]


@dataclass(frozen=True, slots=True)
class Figure:
    """A figure of the paper: bars of one ``model`` for every encoder and language, a panel for
    each of ``shots`` (None: all training impressions)."""

    number: int
    title: str
    model: str
    training: Training
    shots: tuple[int | None, ...] = (None,)


FIGURES = (
    Figure(2, "LFRec, frozen encoders", "LFRec", "frozen"),
    Figure(4, "LFRec-SCL, fine-tuned encoders", "LFRec-SCL", "fine-tuned"),
    Figure(5, "LFRec-SCL, encoders fine-tuned on few impressions", "LFRec-SCL", "fine-tuned",
           SHOTS),
)  # fmt: skip


def draw(found: Mapping[tuple[str, Row], Sequence[Found]], folder: Path) -> list[Path]:
    """``figure2_newsreclib.png`` and so on: those that there are rows for."""
    paths = []
    for protocol in dict.fromkeys(protocol for protocol, _ in found):
        rows = {row: seeds for (of, row), seeds in found.items() if of == protocol}
        for figure in FIGURES:
            chosen = of_figure(figure, rows)
            if chosen:
                path = folder / f"figure{figure.number}_{file_name(protocol)}.png"
                save(_drawn(figure, chosen, protocol), path)
                paths.append(path)
    return paths


def of_figure(figure: Figure, rows: Rows) -> dict[Row, Sequence[Found]]:
    """The rows that a figure shows."""
    return {
        row: seeds
        for row, seeds in rows.items()
        if (row.model, row.training) == (figure.model, figure.training)
        and row.shots in figure.shots
    }


def _drawn(figure: Figure, rows: Rows, protocol: str) -> Any:
    panels_of = [shots for shots in figure.shots if any(row.shots == shots for row in rows)]
    languages = _languages(rows)
    encoders = list(dict.fromkeys(row.encoder for row in rows))
    width = max(5.0, 1.2 + len(languages) * max(0.45, 0.14 * len(encoders)))
    drawing, axes = panels(width, 1.05 + 2.3 * len(panels_of), len(panels_of), 1)
    flat = np.atleast_1d(axes).ravel()
    for axis in flat[1:]:
        axis.sharey(flat[0])
    for axis, shots in zip(flat, panels_of, strict=True):
        here = {row.encoder: seeds for row, seeds in rows.items() if row.shots == shots}
        _bars(axis, here, encoders, languages)
        if shots is not None:
            axis.set_title(f"{shots} shots", fontsize=9, loc="left")
    handles, labels = flat[0].get_legend_handles_labels()
    drawing.legend(handles, labels, loc="outside lower center", frameon=False, fontsize=8,
                   ncols=min(len(labels), max(1, int(width / 1.6))))  # fmt: skip
    drawing.suptitle(
        f"Paper 004, figure {figure.number}, measured (protocol {protocol})\n{figure.title}",
        fontsize=9,
    )
    return drawing


def _bars(
    axis: Any, here: Mapping[str, Sequence[Found]], encoders: Sequence[str],
    languages: Sequence[str],
) -> None:  # fmt: skip
    """A group per language and one for their average, with intervals."""
    size = 0.8 / len(encoders)
    for i, encoder in enumerate(encoders):
        cells = [over_seeds(here[encoder], x, METRIC) if encoder in here else None
                 for x in languages]  # fmt: skip
        means = np.array([_NAN if x is None else x.mean for x in cells])
        half = np.array([_NAN if x is None else x.half_width for x in cells])
        axis.bar(
            np.arange(len(languages)) + (i - (len(encoders) - 1) / 2) * size, means, size * 0.94,
            yerr=np.nan_to_num(half), label=encoder, color=COLOURS[i % len(COLOURS)],
            hatch="///" if i >= len(COLOURS) else None,
            error_kw={"elinewidth": 0.8, "capsize": 1.5, "ecolor": "#333333"},
        )  # fmt: skip
    names = ["AVG" if x == AVERAGE else x.upper() for x in languages]
    axis.set_xticks(np.arange(len(languages)), names, fontsize=8)
    axis.set_xlim(-0.6, len(languages) - 0.4)
    axis.tick_params(axis="y", labelsize=8)
    axis.set_ylabel("nDCG@10 (%)", fontsize=8)
    axis.set_ylim(bottom=0)
    axis.spines[["top", "right"]].set_visible(False)
    axis.yaxis.grid(True, color="#dddddd", linewidth=0.6)
    axis.set_axisbelow(True)


def _languages(rows: Rows) -> list[str]:
    """English or what was trained in first, the average last."""
    cells = [x for seeds in rows.values() for x in seeds]
    names = dict.fromkeys([x.source for x in cells if (x.source, METRIC) in x.values])
    names |= dict.fromkeys(
        language for x in cells for language, metric in x.values if metric == METRIC
    )
    there = AVERAGE in names
    return [*(x for x in names if x != AVERAGE), *([AVERAGE] * there)]


def values_grid(found: Mapping[tuple[str, Row], Sequence[Found]], protocol: str) -> Grid:
    """Every bar as a number: a row per encoder and shots, a column per language."""
    rows = {row: seeds for (of, row), seeds in found.items() if of == protocol}
    languages = _languages(rows)
    body = []
    for figure in FIGURES:
        for row, seeds in of_figure(figure, rows).items():
            cells = [_shown(over_seeds(seeds, x, METRIC)) for x in languages]
            shots = "all" if row.shots is None else str(row.shots)
            shots = "–" if row.training == "frozen" else shots
            body.append((str(figure.number), row.model, row.encoder, shots, *cells))
    heads = ("figure", "model", "encoder", "shots",
             *("AVG" if x == AVERAGE else x.upper() for x in languages))  # fmt: skip
    note = "nDCG@10 in percent, ± half of the 95 % interval. The paper's bars carry no numbers."
    return Grid(f"Figures 2, 4 and 5: protocol {protocol}", heads, tuple(body), (note,))


def stated_grid(found: Mapping[tuple[str, Row], Sequence[Found]], protocol: str) -> Grid | None:
    """What the text says of the bars beside the same here; None where nothing can be compared."""
    rows = {row: seeds for (of, row), seeds in found.items() if of == protocol}
    body = []
    for said in stated():
        here = ahead(said, rows)
        if here is not None:
            shots = "" if said.shots is None else f", {said.shots} shots"
            where = "AVG" if said.where == AVERAGE else said.where
            body.append(
                (f"{said.figure}", f"{said.better} over {said.worse} ({where}{shots})",
                 f"{said.percent:+.2f}", signed(here), signed(here - said.percent))
            )  # fmt: skip
    if not body:
        return None
    heads = ("figure", "what the text says", "paper %", "here %", "diff")
    note = "By how many percent of its own nDCG@10 the first is ahead, as the paper counts it."
    return Grid(f"What the text says of figures 2 and 5: protocol {protocol}", heads,
                tuple(body), (note,))  # fmt: skip


def ahead(said: Stated, rows: Rows) -> float | None:
    """The same quantity from the measured rows; None where one of them or the language lacks."""
    pair = []
    for encoder in (said.better, said.worse):
        row = Row(said.model, encoder, said.training, said.shots)
        if row not in rows:
            return None
        pair.append(rows[row])
    if said.where in ("most", "least"):
        names = [x for x in _languages({Row("", "", "none"): pair[0]}) if x != AVERAGE]
        each = [x for x in (_ahead(pair, name) for name in names) if x is not None]
        return (max if said.where == "most" else min)(each, default=None)
    return _ahead(pair, said.where)


def _ahead(pair: Sequence[Sequence[Found]], language: str) -> float | None:
    better, worse = (over_seeds(seeds, language, METRIC) for seeds in pair)
    if better is None or worse is None or not better.mean:
        return None
    return 100 * (better.mean - worse.mean) / better.mean


def figure_rows(found: Mapping[tuple[str, Row], Sequence[Found]]) -> Iterator[dict[str, object]]:
    """One flat row a bar."""
    for (protocol, row), seeds in found.items():
        for figure in FIGURES:
            for language in _languages({row: seeds}) if of_figure(figure, {row: seeds}) else ():
                x = over_seeds(seeds, language, METRIC)
                assert x is not None
                yield {
                    "figure": figure.number, "protocol": protocol, "model": row.model,
                    "encoder": row.encoder, "training": row.training,
                    "shots": "" if row.shots is None else row.shots, "language": language,
                    "ndcg@10": f"{x.mean:.4f}", "low": _written(x.low), "high": _written(x.high),
                    "std": _written(x.std), "seeds": x.seeds,
                }  # fmt: skip


def _shown(x: Measured | None) -> str:
    if x is None or isnan(x.mean):
        return "–"
    return f"{x.mean:.2f}" if isnan(x.half_width) else f"{x.mean:.2f} ±{x.half_width:.2f}"


def _written(value: float) -> str:
    return "" if isnan(value) else f"{value:.4f}"
