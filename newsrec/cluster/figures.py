"""Figures of a `View` as PNG, for reports: the hierarchy, stories over time, languages."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from newsrec.cluster.lettering import Names, is_wide, write
from newsrec.cluster.treemap import Box, squarify
from newsrec.cluster.view import Node, View, plural
from newsrec.files import atomic_file
from newsrec.languages import NAMES

_DPI = 150
# The page's colours, told apart with any kind of colour vision, dark enough for white letters.
COLOURS = (
    "#343c8e", "#956918", "#078470", "#741c47", "#8361c3", "#884726", "#1f637b", "#243c03",
)  # fmt: skip
_GREY = "#8b8d92"
_MOST = {"tiles": 24, "cells": 12, "stories": 14, "themes": 20, "languages": 20}


def draw(view: View, folder: Path) -> list[Path]:
    """``hierarchy.png``, and where the articles say so ``stories_over_time.png`` and
    ``languages.png``, into ``folder``; their paths."""
    drawings = {"hierarchy": _hierarchy(view)}
    if view.time is not None:
        drawings["stories_over_time"] = _over_time(view)
    if view.languages and view.root.children:
        drawings["languages"] = _languages(view)
    paths = []
    for name, figure in drawings.items():
        path = folder / f"{name}.png"
        _save(figure, path)
        paths.append(path)
    return paths


def _figure(width: float, height: float, rows: int = 1, **more: Any) -> tuple[Any, Any]:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height), layout="constrained")
    return figure, figure.subplots(rows, **more)


def _save(figure: Any, path: Path) -> None:
    from matplotlib.backends.backend_agg import FigureCanvasAgg

    FigureCanvasAgg(figure)
    with atomic_file(path) as file:
        figure.savefig(file, format="png", dpi=_DPI)


def _hierarchy(view: View) -> Any:
    """A treemap of the coarsest level, each tile divided into the next one."""
    width, height = 11.0, 7.0
    figure, axes = _figure(width, height)
    names = Names(view)
    axes.set(xlim=(0, width), ylim=(height, 0))
    axes.axis("off")
    parts = _divided(view.root, (0, 0, width, height), _MOST["tiles"])
    for place, (node, n, box) in enumerate(parts):
        colour = COLOURS[place % len(COLOURS)] if node else _GREY
        _tile(axes, box, colour)
        x, y, w, h = box
        if node is None:
            write(axes, box, {"s": f"others\n{n:,}"}, 9)
            continue
        inside = node.children and w > 1.0 and h > 0.8
        write(axes, (x, y, w, 0.32 if inside else h), names.of(node), 10, f"{n:,}", weight="bold")
        if inside:
            cells = _divided(node, (x + 0.04, y + 0.32, w - 0.08, h - 0.36), _MOST["cells"])
            for i, (child, inside_n, cell) in enumerate(cells):
                _tile(axes, cell, _darker(colour, 0.14 + 0.07 * (i % 3)), colour)
                if child is None:
                    write(axes, cell, {"s": f"others\n{inside_n:,}"}, 8)
                else:
                    _cell(axes, cell, names, child)
    counts = zip(view.n_clusters, view.levels, strict=True)
    said = [f"{view.root.n:,} articles", *(f"{n:,} {plural(level)}" for n, level in counts)]
    axes.set_title(", ".join(said), fontsize=11, loc="left")
    names.note(figure)
    return figure


def _divided(node: Node, box: Box, most: int) -> list[tuple[Node | None, int, Box]]:
    """The largest children and the rest (None), with articles and places."""
    shown = [(child, child.n) for child in node.children[:most]]
    rest = node.n - sum(n for _, n in shown)
    parts: list[tuple[Node | None, int]] = [*shown, *([(None, rest)] if rest else [])]
    parts.sort(key=lambda part: -part[1])
    places = squarify([n for _, n in parts], box).tolist()
    return [(child, n, tuple(place)) for (child, n), place in zip(parts, places, strict=True)]


def _cell(axes: Any, box: Box, names: Names, node: Node) -> None:
    """A cluster of the second level, and as many names of what is in it as there is room for."""
    x, y, w, h = box
    used = write(axes, box, names.of(node), 8, weight="bold")
    for child in node.children if used else ():
        if used + 0.4 > h:
            break
        used += 0.04 + write(axes, (x, y + used + 0.02, w, min(h - used, 0.36)), names.of(child), 7)


def _tile(axes: Any, box: Box, colour: str, edge: str = "white") -> None:
    from matplotlib.patches import Rectangle

    x, y, w, h = box
    axes.add_patch(Rectangle((x, y), w, h, facecolor=colour, edgecolor=edge, linewidth=1.2))


def _darker(colour: str, by: float) -> str:
    parts = (int(colour[i : i + 2], 16) for i in (1, 3, 5))
    return "#" + "".join(f"{round(part * (1 - by)):02x}" for part in parts)


def _over_time(view: View) -> Any:
    """Articles of the coarsest level stacked, and below one row for each of the largest stories."""
    assert view.time is not None
    stories = _largest(view)
    height = 3.0 + 0.3 * len(stories)
    figure, (top, below) = _figure(
        10, height, 2, sharex=True, height_ratios=[2.4, 0.25 + 0.3 * len(stories)]
    )
    starts, step = view.time.starts(), np.timedelta64(view.time.step_s, "s")
    names = Names(view)
    middle = starts + step / 2
    under = np.zeros(view.time.n)
    all_ = _row(view.root, view.time.n)
    shown: list[tuple[Any, dict[str, Any]]] = []
    for i, theme in enumerate(view.root.children[: len(COLOURS)]):
        values = _row(theme, view.time.n)
        shown.append(
            (top.bar(middle, values, step * 0.92, under, color=COLOURS[i]), names.of(theme))
        )
        under += values
    if (all_ - under).any():
        others = top.bar(middle, all_ - under, step * 0.92, under, color="#c9c9c5")
        shown.append((others, {"s": "others", "fontfamily": ["DejaVu Sans"]}))
    top.set_title("articles over time", fontsize=9, loc="left")
    _plain(top)
    _legend(top, shown)
    for i, (theme_place, story) in enumerate(stories):
        values = _row(story, view.time.n)
        scaled = 0.82 * values / max(values.max(), 1)
        colour = COLOURS[theme_place] if theme_place < len(COLOURS) else _GREY
        below.bar(middle, scaled, step * 0.92, len(stories) - 1 - i, color=colour)
    below.set_ylim(-0.15, max(len(stories), 1))
    rows = [names.of(story) for _, story in stories]
    _row_names(below, np.arange(len(rows))[::-1] + 0.3, rows)
    below.set_title(f"largest {plural(view.levels[-1])}", fontsize=9, loc="left")
    _plain(below)
    below.tick_params(left=False)
    below.set_xlim(starts[0], starts[-1] + step)
    _time_axis(below)
    names.note(figure)
    return figure


def _largest(view: View) -> list[tuple[int, Node]]:
    """The place of its theme and the story, for the largest stories with times."""
    found = [
        (place, node)
        for place, theme in enumerate(view.root.children)
        for node in theme.walk()
        if node.level == len(view.levels) - 1 and node.over_time
    ]
    return sorted(found, key=lambda pair: (-pair[1].n, pair[1].cluster))[: _MOST["stories"]]


def _row(node: Node, n: int) -> NDArray[np.float64]:
    values = np.zeros(n)
    for bucket, count in node.over_time:
        values[bucket] = count
    return values


def _plain(axes: Any) -> None:
    axes.spines[["top", "right", "left"]].set_visible(False)
    axes.tick_params(labelsize=8)


def _legend(axes: Any, shown: list[tuple[Any, dict[str, Any]]]) -> None:
    from matplotlib.font_manager import FontProperties

    # Numbers first: matplotlib leaves out a label that begins with an underscore.
    legend = axes.legend(
        [bars for bars, _ in reversed(shown)], [str(i) for i in range(len(shown))],
        loc="upper right", bbox_to_anchor=(-0.08, 1.0), frameon=False, fontsize=7.5,
    )  # fmt: skip
    for line, (_, text) in zip(legend.get_texts(), reversed(shown), strict=True):
        # The lines of a legend share one font until each has its own.
        line.set(fontproperties=FontProperties(family=text["fontfamily"], size=7.5))
        line.set(text=text["s"], parse_math=False)


def _row_names(axes: Any, places: NDArray[Any], rows: list[dict[str, Any]]) -> None:
    axes.set_yticks(places, [text["s"] for text in rows])
    for tick, text in zip(axes.get_yticklabels(), rows, strict=True):
        tick.set(fontfamily=text["fontfamily"], fontsize=7.5, parse_math=False)


def _time_axis(axes: Any) -> None:
    from matplotlib.dates import AutoDateLocator, ConciseDateFormatter

    locator = AutoDateLocator(minticks=3, maxticks=9)
    axes.xaxis.set_major_locator(locator)
    axes.xaxis.set_major_formatter(ConciseDateFormatter(locator))


def _languages(view: View) -> Any:
    """Share of each theme's articles that have text in a language; the counts in the cells."""
    themes = [node for node in view.root.children if node.detailed][: _MOST["themes"]]
    codes = view.languages[: _MOST["languages"]]
    counts = np.zeros((len(themes), len(codes)))
    for i, theme in enumerate(themes):
        for place, n in theme.languages:
            if place < len(codes):
                counts[i, place] = n
    sizes = np.array([theme.n for theme in themes], float).reshape(-1, 1)
    share = counts / np.maximum(sizes, 1)
    names = Names(view)
    rows = [names.of(theme) for theme in themes]
    beside = 0.09 * max(
        (len(text["s"]) * (2 if is_wide(text["s"]) else 1) for text in rows), default=0
    )
    figure, axes = _figure(2.2 + beside + 0.55 * len(codes), 1.8 + 0.32 * max(len(themes), 1))
    most = max(float(share.max(initial=0)), 1e-9)
    image = axes.imshow(share, cmap="Blues", vmin=0, vmax=most, aspect="auto")
    for (i, j), count in np.ndenumerate(counts):
        dark = share[i, j] > 0.6 * most
        axes.text(j, i, f"{int(count):,}", ha="center", va="center", fontsize=7,
                  color="white" if dark else "black")  # fmt: skip
    axes.set_xticks(np.arange(len(codes) + 1) - 0.5, minor=True)
    axes.set_yticks(np.arange(len(themes) + 1) - 0.5, minor=True)
    axes.grid(which="minor", color="white", linewidth=1.5)
    axes.tick_params(which="both", length=0)
    axes.spines[:].set_visible(False)
    axes.set_xticks(range(len(codes)), [NAMES.get(code, code) for code in codes],
                    rotation=40, ha="right", fontsize=8)  # fmt: skip
    _row_names(axes, np.arange(len(themes)), rows)
    hidden = {
        plural(view.levels[0]): view.n_clusters[0] - len(themes),
        "languages": len(view.languages) - len(codes),
    }
    notes = [f"{n:,} {what} not shown" for what, n in hidden.items() if n > 0]
    title = f"articles by {view.levels[0]} and language"
    axes.set_title("; ".join([title, *notes]), fontsize=10, loc="left")
    bar = figure.colorbar(image, ax=axes, pad=0.01)
    bar.ax.tick_params(labelsize=7)
    bar.set_label(f"share of the {view.levels[0]}", fontsize=8)
    names.note(figure)
    return figure
