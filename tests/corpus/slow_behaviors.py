"""The reference parser of behaviors: one line at a time, in plain Python, obviously right."""

from __future__ import annotations

from collections.abc import Collection
from datetime import datetime
from typing import NamedTuple


class Line(NamedTuple):
    """One impression as written; ``labels`` is None where the file has none."""

    id: str
    user: str
    time: datetime
    history: list[str]
    candidates: list[str]
    labels: list[bool] | None


def parse(text: str, known: Collection[str]) -> list[Line]:
    """``text`` is valid. A file is labelled when a dash is among its first candidates, unless all
    of these are known ids as they stand."""
    lines = text.removeprefix("\ufeff").replace("\r\n", "\n").rstrip("\n").split("\n")
    rows = [line.split("\t") for line in lines]
    shown = [[token for token in row[4].split(" ") if token] for row in rows]
    first = next((tokens for tokens in shown if tokens), [])
    labelled = any("-" in t for t in first) and not all(t in known for t in first)
    found = []
    for (name, user, time, history, _), tokens in zip(rows, shown, strict=True):
        pairs = [token.rsplit("-", 1) for token in tokens] if labelled else []
        found.append(
            Line(
                name,
                user,
                datetime.strptime(time, "%m/%d/%Y %I:%M:%S %p"),
                [token for token in history.split(" ") if token],
                [token for token, _ in pairs] if labelled else tokens,
                [label == "1" for _, label in pairs] if labelled else None,
            )
        )
    return found
