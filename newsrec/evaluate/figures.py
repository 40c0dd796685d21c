"""Figures of an experiment as PNG; the only matplotlib import of this stage."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from newsrec.evaluate.by_language import HEADINGS, shown_metrics
from newsrec.evaluate.render import number
from newsrec.evaluate.results import Results, System, system_name
from newsrec.files import atomic_file

_DPI = 150
# Okabe and Ito's palette, told apart by colour-blind readers.
COLOURS = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00", "#F0E442", "#000000")


def draw(results: Results, folder: Path) -> list[Path]:
    """Bars of every main metric and one heat map per system, into ``folder``; their paths."""
    if not results.reports:
        return []
    paths = []
    for metric in shown_metrics(results):
        path = folder / f"languages_{file_name(metric)}.png"
        save(_bars(results, metric), path)
        paths.append(path)
    for system in results.systems:
        path = folder / f"heat_{file_name(system_name(system))}.png"
        save(_heat(results, system), path)
        paths.append(path)
    return paths


def file_name(text: str) -> str:
    """``text`` with only letters, digits, dots, dashes and underscores; ``@`` is ``_at_``."""
    return re.sub(r"[^\w.-]+", "_", text.replace("@", "_at_")).strip("._") or "unnamed"


def panels(width: float, height: float, rows: int = 1, columns: int = 1) -> tuple[Any, Any]:
    """A figure of so many inches and its axes: one, or an array of them."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height), layout="constrained")
    return figure, figure.subplots(rows, columns)


def save(figure: Any, path: Path) -> None:
    from matplotlib.backends.backend_agg import FigureCanvasAgg

    FigureCanvasAgg(figure)
    with atomic_file(path) as file:
        figure.savefig(file, format="png", dpi=_DPI)


def _bars(results: Results, metric: str) -> Any:
    """A group of bars per language, one bar per system, with its interval."""
    languages, systems = _languages(results), results.systems
    width = 0.8 / len(systems)
    inches = max(4.5, 1.5 + len(languages) * max(0.45, 0.22 * len(systems)))
    # A legend as wide as the figure: about 0.08 inches a letter, half an inch for the rest.
    entry = 0.5 + 0.08 * max(len(system_name(system)) for system in systems)
    columns = max(1, min(len(systems), int(inches / entry)))
    figure, axes = panels(inches, 3.2 + 0.2 * -(-len(systems) // columns))
    for i, system in enumerate(systems):
        found = results.of_system(system)
        means, below, above = _bounds([found[code][1].get(metric) if code in found else None
                                       for code in languages])  # fmt: skip
        axes.bar(
            np.arange(len(languages)) + (i - (len(systems) - 1) / 2) * width,
            means,
            width * 0.94,
            yerr=np.stack([below, above]),
            label=system_name(system),
            color=COLOURS[i % len(COLOURS)],
            hatch="///" if i >= len(COLOURS) else None,
            error_kw={"elinewidth": 1, "capsize": 2, "ecolor": "#333333"},
        )
    axes.set_xticks(np.arange(len(languages)), languages)
    axes.set_ylabel(f"{HEADINGS.get(metric, metric)} (%)")
    axes.set_ylim(bottom=0)
    axes.spines[["top", "right"]].set_visible(False)
    axes.yaxis.grid(True, color="#dddddd", linewidth=0.6)
    axes.set_axisbelow(True)
    figure.legend(loc="outside upper center", ncols=columns, frameon=False, fontsize=8)
    return figure


def _bounds(found: list[Any]) -> tuple[NDArray[np.float64], ...]:
    """Means and lengths of the two error bars, in percent; NaN and 0 where there is none."""
    table = np.full((3, len(found)), np.nan)
    for j, x in enumerate(found):
        if x is not None:
            table[:, j] = x.mean, x.mean - x.low, x.high - x.mean
    table *= 100
    return table[0], np.maximum(np.nan_to_num(table[1]), 0), np.maximum(np.nan_to_num(table[2]), 0)


def _heat(results: Results, system: System) -> Any:
    """Languages × metrics; colour by the place between a metric's lowest and highest language."""
    found = results.of_system(system)
    metrics = [
        name
        for name in dict.fromkeys(name for _, means in found.values() for name in means)
        if any(not np.isnan(means[name].mean) for _, means in found.values() if name in means)
    ]
    means = np.full((len(found), len(metrics)), np.nan)
    for i, (_, x) in enumerate(found.values()):
        for j, name in enumerate(metrics):
            means[i, j] = x[name].mean if name in x else np.nan
    low, high = np.nanmin(means, axis=0), np.nanmax(means, axis=0)
    span = np.where(high > low, high - low, 1)
    place = np.where(high > low, (means - low) / span, 0.5)
    figure, axes = panels(2.2 + 0.62 * len(metrics), 2.4 + 0.3 * len(found))
    image = axes.imshow(place, cmap="viridis", vmin=0, vmax=1, aspect="auto")
    for (i, j), value in np.ndenumerate(means):
        colour = "black" if place[i, j] > 0.6 else "white"
        axes.text(j, i, number(value, metrics[j]), ha="center", va="center", color=colour,
                  fontsize=7)  # fmt: skip
    axes.set_xticks(range(len(metrics)), metrics, rotation=50, ha="right", fontsize=8)
    axes.set_yticks(range(len(found)), list(found), fontsize=8)
    axes.set_title(f"{system_name(system)}: mean by language and metric", fontsize=9)
    bar = figure.colorbar(image, ax=axes, ticks=[0, 1], pad=0.01)
    bar.ax.set_yticklabels(["lowest", "highest"], fontsize=7)
    return figure


def _languages(results: Results) -> list[str]:
    return list(dict.fromkeys(c for system in results.systems for c in results.of_system(system)))
