"""Recommendations as a table, JSON or CSV."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING
from unicodedata import category

if TYPE_CHECKING:
    from newsrec.pipeline.page import Recommendations


def json(found: Recommendations) -> str:
    """``{user, language, fallback, items: [{rank, id, language, title, score, because}]}``."""
    from json import dumps

    return dumps(found.to_dict(), ensure_ascii=False, indent=2) + "\n"


def csv(found: Recommendations) -> str:
    """One line an item; the reason's fields are empty where there is none."""
    from csv import writer

    out = io.StringIO()
    lines = writer(out, lineterminator="\n")
    reason = ("id", "language", "title", "share")
    lines.writerow(["rank", "id", "language", "title", "score", *(f"because_{f}" for f in reason)])
    for item in found.items:
        why = item.because
        because = ["", "", "", ""] if why is None else [why.id, why.language, why.title, why.share]
        cells = [item.rank, item.id, item.language, item.title, item.score, *because]
        lines.writerow([_printable(c) if isinstance(c, str) else c for c in cells])
    return out.getvalue()


def table(found: Recommendations) -> str:
    """For people: as wide as the terminal, titles folded, one reason a row."""
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    shown = Table(
        title=Text(_printable(f"{found.user} · {found.language}")),
        title_justify="left",
        expand=False,
    )
    shown.add_column("", justify="right", style="dim", no_wrap=True)
    shown.add_column("article", no_wrap=True)
    shown.add_column("lang", no_wrap=True)
    shown.add_column("title", ratio=3, overflow="fold")
    shown.add_column("score", justify="right", no_wrap=True)
    shown.add_column("because you read", ratio=2, overflow="fold")
    for item in found.items:
        why = item.because
        reason = "" if why is None else f"{why.title} ({why.language}, {why.share:.0%})"
        # Text, not markup: a title may hold square brackets, and control characters are dropped.
        cells = [str(item.rank), item.id, item.language, item.title, f"{item.score:.3f}", reason]
        shown.add_row(*(Text(_printable(cell)) for cell in cells))
    if not found.items:
        return f"{NOTHING}\n"
    console = Console(file=io.StringIO(), width=_width())
    with console.capture() as captured:
        console.print(shown)
    return captured.get()


def _printable(cell: str) -> str:
    """No control characters, no overrides of the writing direction: what an article says must not
    steer the reader's terminal. Joiners stay, words need them."""
    return "".join(" " if category(c) == "Cc" or c in _OVERRIDES else c for c in cell)


NOTHING = "no article to recommend: none on this shelf at this time that was not read"
_OVERRIDES = frozenset("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")


def _width() -> int:
    from shutil import get_terminal_size

    return max(60, get_terminal_size((110, 24)).columns)
