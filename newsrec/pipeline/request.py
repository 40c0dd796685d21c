"""What is asked of `recommend`, checked before anything is opened."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC, datetime

import numpy as np

from newsrec.errors import ConfigError
from newsrec.languages import canonical

_UNIT_S = {"m": 60, "h": 3_600, "d": 86_400, "w": 604_800}


@dataclass(frozen=True, slots=True)
class Request:
    """A reader, the languages of the shelf, and what bounds the list.

    ``as_of`` is now (UTC); None is the corpus's last moment. ``max_age``: older articles are left
    out, and so are those whose time is unknown. ``history_language`` None: as each was read.
    ``centre`` None: the encoder's default for one language, each language's mean removed for
    several.
    """

    user: str
    languages: tuple[str, ...]
    k: int = 10
    history_language: str | None = None
    as_of: np.datetime64 | None = None
    max_age: np.timedelta64 | None = None
    centre: str | None = None

    def __post_init__(self) -> None:
        if not self.languages:
            raise ConfigError(
                "--lang: no language named, expected one like fin, or several: fin,eng"
            )
        if self.k < 1:
            raise ConfigError(f"--k: {self.k}, expected at least 1")

    @classmethod
    def parse(
        cls,
        *,
        user: str,
        languages: str,
        k: int = 10,
        history_language: str | None = None,
        as_of: str | None = None,
        max_age: str | None = None,
        centre: str | None = None,
    ) -> Request:
        """From the words of a command line; `ConfigError` or `DataError` names the option."""
        named = [part for part in languages.split(",") if part.strip()]
        return cls(
            user=user,
            languages=tuple(dict.fromkeys(canonical(part, "--lang") for part in named)),
            k=k,
            history_language=history_language and canonical(history_language, "--history-lang"),
            as_of=None if as_of is None else moment(as_of),
            max_age=None if max_age is None else duration(max_age),
            centre=centre,
        )


def moment(text: str) -> np.datetime64:
    """ISO 8601 to UTC seconds; without a zone it is UTC."""
    try:
        time = datetime.fromisoformat(text.strip())
        if time.tzinfo is not None:
            time = time.astimezone(UTC).replace(tzinfo=None)
    except (ValueError, OverflowError):
        raise ConfigError(
            f"--as-of: {text!r} is no time, expected ISO 8601 like 2026-03-20T08:00:00"
        ) from None
    return np.datetime64(time.replace(microsecond=0), "s")


def duration(text: str) -> np.timedelta64:
    """``36h``, ``7d``, ``2w``, ``90m`` to seconds."""
    found = re.fullmatch(r"(\d{1,6}(?:\.\d+)?)\s*([mhdw])", text.strip().lower())
    if found is None or float(found[1]) == 0:
        raise ConfigError(
            f"--max-age: {text!r} is no age, expected a number and m, h, d or w, like 36h or 7d"
        )
    return np.timedelta64(round(float(found[1]) * _UNIT_S[found[2]]), "s")
