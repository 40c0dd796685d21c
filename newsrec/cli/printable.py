"""What an article says, made safe for a terminal."""

from __future__ import annotations

from unicodedata import category


def printable(cell: str) -> str:
    """No control characters, no overrides of the writing direction: what an article says must not
    steer the reader's terminal. Joiners stay, words need them."""
    return "".join(" " if category(c) == "Cc" or c in _OVERRIDES else c for c in cell)


_OVERRIDES = frozenset("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")
