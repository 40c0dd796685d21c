"""Recommendations as a table."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING

from newsrec.cli.listing import NOTHING, levels_of
from newsrec.cli.printable import printable
from newsrec.excerpt import excerpt

if TYPE_CHECKING:
    from newsrec.pipeline.page import Recommendations


def table(found: Recommendations) -> str:
    """For people: as wide as the terminal, titles cut and folded, one reason a row."""
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    shown = Table(
        title=Text(printable(f"{found.user} · {found.language}")),
        title_justify="left",
        expand=False,
    )
    shown.add_column("", justify="right", style="dim", no_wrap=True)
    shown.add_column("article", no_wrap=True)
    shown.add_column("lang", no_wrap=True)
    shown.add_column("title", ratio=3, overflow="fold")
    shown.add_column("score", justify="right", no_wrap=True)
    levels = levels_of(found)
    if levels:
        shown.add_column(" › ".join(levels), ratio=2, overflow="fold")
    shown.add_column("because you read", ratio=2, overflow="fold")
    for item in found.items:
        why = item.because
        reason = "" if why is None else f"{excerpt(why.title)} ({why.language}, {why.share:.0%})"
        # Text, not markup: a title may hold square brackets, and control characters are dropped.
        cells = [str(item.rank), item.id, item.language, excerpt(item.title), f"{item.score:.3f}"]
        if levels:
            cells.append(" › ".join(map(excerpt, (item.clusters or {}).values())))
        cells.append(reason)
        shown.add_row(*(Text(printable(cell)) for cell in cells))
    if not found.items:
        return f"{NOTHING}\n"
    console = Console(file=io.StringIO(), width=_width())
    with console.capture() as captured:
        console.print(shown)
    return captured.get()


def _width() -> int:
    from shutil import get_terminal_size

    return max(60, get_terminal_size((110, 24)).columns)
