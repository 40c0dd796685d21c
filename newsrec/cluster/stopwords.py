"""The words that say nothing about a text: a shipped list a language, made by
`scripts/make_stopwords`."""

from __future__ import annotations

from functools import cache
from pathlib import Path

LIST = Path(__file__).with_name("stopwords.txt")


@cache
def _lines() -> dict[str, str]:
    rows = LIST.read_text("utf-8").splitlines()
    return dict(row.split(" ", 1) for row in rows if row and not row.startswith("#"))


@cache
def stop_words(language: str) -> frozenset[str]:
    """Folded stop words of ``language`` (ISO 639-3); empty where there is no list."""
    return frozenset(_lines().get(language, "").split())


def listed() -> tuple[str, ...]:
    """The languages that have a list."""
    return tuple(sorted(_lines()))
