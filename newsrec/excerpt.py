"""As much of a text as there is room to show."""

from __future__ import annotations

import re

_SPACE = re.compile(r"[\s\x00-\x1f\x7f-\x9f]+")
# What turns the writing direction of all that follows.
_TURNS = re.compile("[\u202a-\u202e\u2066-\u2069]")
_NOT_TEXT = re.compile("[\ud800-\udfff]")


def excerpt(text: str, most: int = 200) -> str:
    """One line of at most ``most`` letters: no control characters or halves of characters, cut with
    an ellipsis."""
    text = _SPACE.sub(" ", _TURNS.sub("", _NOT_TEXT.sub("\ufffd", text))).strip()
    return text if len(text) <= most else text[: most - 1].rstrip() + "…"
