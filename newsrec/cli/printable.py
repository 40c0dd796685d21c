"""What an article says, made safe for a terminal and written in any script."""

from __future__ import annotations

import sys
from io import TextIOWrapper
from unicodedata import category


def printable(cell: str) -> str:
    """No control characters, no overrides of the writing direction: what an article says must not
    steer the reader's terminal. Joiners stay, words need them."""
    return "".join(" " if category(c) == "Cc" or c in _OVERRIDES else c for c in cell)


_OVERRIDES = frozenset("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")


def write_every_script() -> None:
    """Titles are in all scripts: files and programs get UTF-8 whatever the locale says, a terminal
    of another encoding the escapes of what it cannot show."""
    if isinstance(sys.stdout, TextIOWrapper):
        encoding = None if sys.stdout.isatty() else "utf-8"
        sys.stdout.reconfigure(encoding=encoding, errors="backslashreplace")
