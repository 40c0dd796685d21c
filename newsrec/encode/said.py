"""What a library said, short enough to quote."""

from __future__ import annotations


def one_line(error: BaseException, limit: int = 200) -> str:
    """The message of ``error`` on one line, or its type where it has none."""
    text = " ".join(str(error).split()) or type(error).__name__
    return text if len(text) <= limit else text[: limit - 1] + "…"
