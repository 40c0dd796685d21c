"""What is asked of `recommend`, checked before anything is opened."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from operator import index
from typing import Any

import numpy as np

from newsrec.errors import ConfigError, unknown_name
from newsrec.languages import canonical
from newsrec.rank.centre import CENTRES

_UNIT_S = {"m": 60, "h": 3_600, "d": 86_400, "w": 604_800}


@dataclass(frozen=True, slots=True)
class Request:
    """A reader, the languages of the shelf, and what bounds the list.

    ``as_of`` is now (UTC); None is the log's last moment. ``max_age``: older articles are left out,
    and so are those whose time is unknown. ``history_language`` None: as each was read. ``centre``
    None: the encoder's default for one language, each language's mean removed for several.

    Languages may be spelled in any way and several in one text (``fin,eng``), times may be ISO 8601
    or Python's, ages such as ``36h``; what is stored has the declared types, languages in ISO
    639-3. `ConfigError` names what cannot be read, by its option on the command line.
    """

    user: str
    languages: tuple[str, ...]
    k: int = 10
    history_language: str | None = None
    as_of: np.datetime64 | None = None
    max_age: np.timedelta64 | None = None
    centre: str | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.user, str):
            raise ConfigError(f"--user: {self.user!r}, expected a reader's id as text")
        if not self.user:
            raise ConfigError("--user: empty, expected a reader's id")
        spoken = self.history_language
        checked = {
            "languages": languages(self.languages),
            "k": length(self.k),
            "history_language": None if spoken is None else code(spoken, "--history-lang"),
            "as_of": None if self.as_of is None else moment(self.as_of),
            "max_age": None if self.max_age is None else duration(self.max_age),
        }
        for name, value in checked.items():
            object.__setattr__(self, name, value)
        if self.centre is not None and self.centre not in CENTRES:
            raise unknown_name("--centre", str(self.centre), CENTRES)


def languages(given: Any) -> tuple[str, ...]:
    """ISO 639-3 codes, each once, of a text or of several."""
    several = [given] if isinstance(given, str) else given
    if not isinstance(several, Iterable):
        raise ConfigError(f"--lang: {given!r}, expected languages like fin, or several: fin,eng")
    words = [w for x in several for w in (x.split(",") if isinstance(x, str) else [x])]
    found = [code(word, "--lang") for word in words if not isinstance(word, str) or word.strip()]
    if not found:
        raise ConfigError("--lang: no language named, expected one like fin, or several: fin,eng")
    return tuple(dict.fromkeys(found))


def code(given: Any, option: str) -> str:
    """The ISO 639-3 code of one language."""
    if not isinstance(given, str):
        raise ConfigError(f"{option}: {given!r}, expected a language like fin")
    return canonical(given, option)


def length(given: Any) -> int:
    """A whole number of at least 1."""
    try:
        k = index(given)
    except TypeError:
        k = None
    if k is None or isinstance(given, bool):  # True is 1 to Python.
        raise ConfigError(f"--k: {given!r}, expected a whole number")
    if k < 1:
        raise ConfigError(f"--k: {k}, expected at least 1")
    return k


def moment(given: Any) -> np.datetime64:
    """ISO 8601, or a time of Python's or numpy's, to UTC seconds; without a zone it is UTC."""
    try:
        if isinstance(given, np.datetime64):
            if np.isnat(given):
                raise ValueError
            seconds: np.datetime64 = given.astype("datetime64[s]")
            return seconds
        text = given.isoformat() if isinstance(given, date) else given
        time = datetime.fromisoformat(text.strip())
        if time.tzinfo is not None:
            time = time.astimezone(UTC).replace(tzinfo=None)
    except (AttributeError, TypeError, ValueError, OverflowError):
        raise ConfigError(
            f"--as-of: {given!r} is no time, expected ISO 8601 like 2026-03-20T08:00:00"
        ) from None
    return np.datetime64(time.replace(microsecond=0), "s")


def duration(given: Any, option: str = "--max-age") -> np.timedelta64:
    """``36h``, ``7d``, ``2w``, ``90m``, or a span of Python's or numpy's, to seconds."""
    if isinstance(given, timedelta | np.timedelta64):
        span = np.timedelta64(given, "s")
        if span > np.timedelta64(0, "s"):
            return span
    found = re.fullmatch(r"(\d{1,6}(?:\.\d+)?)\s*([mhdw])", str(given).strip().lower())
    if found is None or float(found[1]) == 0:
        raise ConfigError(
            f"{option}: {given!r} is no age, expected a number and m, h, d or w, like 36h or 7d"
        )
    return np.timedelta64(round(float(found[1]) * _UNIT_S[found[2]]), "s")
