"""What the commands of `newsrec cluster` print."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from newsrec.cluster import Changes, ClusteredShelf

_SHOWN = 5

#: Articles of one event on a shelf; more are rather a topic.
_LARGE = 30


def rows_table(head: Sequence[str], rows: Sequence[Sequence[Any]]) -> str:
    """Columns as wide as they need to be; numbers to the right."""
    cells = [[str(cell) for cell in row] for row in rows]
    widths = [max(map(len, column)) for column in zip(head, *cells, strict=True)]

    def line(row: Sequence[str]) -> str:
        first, rest = row[0].ljust(widths[0]), zip(row[1:], widths[1:], strict=True)
        return "  ".join([first, *(cell.rjust(width) for cell, width in rest)]).rstrip()

    return "\n".join([line(head), *map(line, cells)])


def levels_table(shelf: ClusteredShelf) -> str:
    """Clusters, their sizes, and how each level was made."""
    tree, rows = shelf.tree, []
    for level, name in enumerate(shelf.levels):
        sizes = tree.sizes(level)
        largest, alone = int(sizes.max(initial=0)), int(np.count_nonzero(sizes == 1))
        threshold = f"{tree.thresholds[level]:.2f}"
        rows.append([name, tree.dims[level], threshold, len(sizes), largest, alone])
    left = int(np.count_nonzero(tree.labels[0] < 0))
    table = rows_table(["level", "dims", "cosine", "clusters", "largest", "of one article"], rows)
    chosen = ", ".join(shelf.made.get("languages") or ())
    without = f", {left} without text" + (f" in {chosen}" if chosen else "")
    said = f"{len(tree) - left} articles" + (without if left else "")
    recall = shelf.made.get("recall", 1.0)
    if recall < 1:
        said += f"; found by an index, recall of neighbours at least {recall:.3f}"
    largest = int(tree.sizes(tree.n_levels - 1).max(initial=0))
    if largest > _LARGE:
        said += (
            f"; the largest {shelf.levels[-1]} has {largest} articles, more than one event brings: "
            "raise the last threshold if such clusters are too wide"
        )
    return f"{table}\n{said}"


def changes_table(levels: Sequence[str], changes: Sequence[Changes]) -> str:
    """How many clusters came, went, merged and split, and the first of each."""
    rows = [
        [name, len(c.births), len(c.deaths), len(c.merges), len(c.splits)]
        for name, c in zip(levels, changes, strict=True)
    ]
    lines = [rows_table(["level", "born", "died", "merged", "split"], rows)]
    for name, c in zip(levels, changes, strict=True):
        for into, parts in c.merges[:_SHOWN]:
            lines.append(f"{name} {into} took in {', '.join(map(str, parts))}")
        for whole, parts in c.splits[:_SHOWN]:
            lines.append(f"{name} {whole} is now {', '.join(map(str, parts))}")
    return "\n".join(lines)


def curves_table(rows: Sequence[Mapping[str, Any]]) -> str:
    """What `newsrec.cluster.curves.chosen` found."""
    head = ["level", "dims", "cosine", "within 1 %", "precision", "recall", "F1", "clusters"]
    shown = [
        [r["level"], r["dim"], f"{r['threshold']:.2f}", "{:.2f} to {:.2f}".format(*r["flat"]),
         *(f"{r[name]:.3f}" for name in ("precision", "recall", "f1")),
         *(r[name] for name in ("clusters", "together", "apart"))]
        for r in rows
    ]  # fmt: skip
    return rows_table([*head, "together", "apart"], shown)
