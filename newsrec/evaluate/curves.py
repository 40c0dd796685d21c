"""Trade-off curves as small multiples: nDCG@10 against each diversity metric."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from newsrec.evaluate.figures import COLOURS, file_name, panels, save
from newsrec.evaluate.render import PLAIN
from newsrec.evaluate.tradeoff import ACCURACY, less_is_better
from newsrec.evaluate.tuning import Tuning

_COLUMNS = 3
_MARKERS = "osD^vPX<>h"
# Without yellow, which is lost on white, and black, which is score order.
_LINES = (*(colour for colour in COLOURS if colour not in ("#F0E442", "#000000")), "#7A5195",
          "#6B6B6B")  # fmt: skip


def draw_curves(tuning: Tuning, folder: Path) -> list[Path]:
    """Per language ``trade_off_cmn.png`` (the main metrics) and ``trade_off_cmn_all.png``."""
    paths = []
    for language in tuning.curves:
        moving = [m for m in tuning.metrics if tuning.moves(language, m)]
        main = [m for m in moving if m in tuning.main][:6] or moving[:6]
        for name, metrics in ((language, main), (f"{language}_all", moving)):
            if metrics and not (name != language and metrics == main):
                path = folder / f"trade_off_{file_name(name)}.png"
                save(_figure(tuning, language, metrics), path)
                paths.append(path)
    return paths


def _figure(tuning: Tuning, language: str, metrics: Sequence[str]) -> Any:
    columns = min(_COLUMNS, len(metrics))
    rows = -(-len(metrics) // columns)
    legend = 0.22 * -(-(len(tuning.rerankers) + 3) // max(1, columns))
    figure, axes = panels(max(4.5, 3.1 * columns), 2.5 * rows + 0.5 + legend, rows, columns)
    flat = np.atleast_1d(axes).ravel()
    for axis in flat[len(metrics) :]:
        axis.set_visible(False)
    for axis, metric in zip(flat, metrics, strict=False):
        _panel(axis, tuning, language, metric)
    for row in range(rows):
        flat[row * columns].set_ylabel("nDCG@10 (%)", fontsize=8)
    handles, labels = flat[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=columns, frameon=False,
                  fontsize=8)  # fmt: skip
    figure.suptitle(f"What variety costs: {language}", fontsize=10)
    return figure


def _panel(axis: Any, tuning: Tuning, language: str, metric: str) -> None:
    """One metric: a line per re-ranker from score order (star) to no relevance weight at all."""
    unit = 1.0 if metric.startswith(PLAIN) else 100.0
    each = tuning.curves[language]
    for i, (name, curve) in enumerate(each.items()):
        colour, marker = _LINES[i % len(_LINES)], _MARKERS[i % len(_MARKERS)]
        x, y = unit * curve.curve(metric), 100 * curve.curve(ACCURACY)
        on = tuning.fronts[language, metric][name]
        axis.plot(x, y, "-", color=colour, linewidth=1, alpha=0.8, zorder=2)
        axis.plot(x[~on], y[~on], marker, color=colour, markersize=2.5, alpha=0.7, zorder=3)
        axis.plot(x[on], y[on], marker, color=colour, markersize=5, markeredgecolor="black",
                  markeredgewidth=0.7, zorder=4)  # fmt: skip
        axis.plot([], [], f"-{marker}", color=colour, linewidth=1, markersize=4, label=name)
        at = curve.weights.tolist().index(tuning.weights[name])
        cost = tuning.costs[language, name][ACCURACY]
        if at < len(x) - 1:
            ends = y[-1] + 100 * np.asarray([cost.low, cost.high])
            axis.plot([x[at]] * 2, ends, color=colour, linewidth=2.5, alpha=0.35, zorder=1)
    own = next(iter(each.values()))
    y = 100 * own.curve(ACCURACY)[-1]
    axis.plot(unit * own.curve(metric)[-1], y, "*", color="black", markersize=9, zorder=5,
              label="own order")  # fmt: skip
    axis.axhline((1 - tuning.loss) * y, color="#777777", linewidth=0.8, linestyle=":",
                 label=f"{100 * tuning.loss:g} % less")  # fmt: skip
    axis.plot(
        [],
        [],
        "o",
        color="white",
        markeredgecolor="black",
        markersize=5,
        label="on the front of all",
    )
    axis.plot([], [], color="#777777", linewidth=2.5, alpha=0.5,
              label="chosen: 95 % of the difference")  # fmt: skip
    if less_is_better(metric):
        axis.invert_xaxis()
    unit_told = "" if unit == 1 else " (%)"
    better = ", less is better →" if less_is_better(metric) else ""
    axis.set_xlabel(f"{metric}{unit_told}{better}", fontsize=8)
    axis.tick_params(labelsize=7)
    axis.spines[["top", "right"]].set_visible(False)
    axis.grid(True, color="#e5e5e5", linewidth=0.5)
    axis.set_axisbelow(True)
