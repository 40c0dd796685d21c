"""Times of logs to seconds, UTC where a zone is given."""

from __future__ import annotations

from datetime import UTC, datetime

import numpy as np
from numpy.typing import NDArray

from newsrec.errors import ConfigError

MIND_EXAMPLE = "11/15/2019 8:55:22 AM"
#: Years that a time may lie in; outside of them it is a number of another unit, or no time.
YEARS = (1400, 2999)
EXAMPLES = (
    "2026-03-16T08:55:22, 2026-03-16T08:55:22+02:00, seconds or milliseconds since 1970, of the "
    f"years {YEARS[0]} to {YEARS[1]}"
)
_WIDTH = 24
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_FIRST = (datetime(YEARS[0], 1, 1, tzinfo=UTC) - _EPOCH).total_seconds()
_END = (datetime(YEARS[1] + 1, 1, 1, tzinfo=UTC) - _EPOCH).total_seconds()


def parse_mind(
    chars: NDArray[np.uint8], lengths: NDArray[np.int64]
) -> tuple[NDArray[np.datetime64], NDArray[np.bool_]]:
    """MIND's ``month/day/year hour:minute:second AM|PM``, many at once.

    ``chars (n, 24) uint8`` holds the text of each, padded with zeros; ``lengths (n,)`` its bytes.
    Returns ``(n,) datetime64[s]`` and which of them are valid.
    """
    at = np.zeros(len(chars), np.int64)
    valid = lengths <= _WIDTH
    fields: list[NDArray[np.int64]] = []
    for digits, end in ((2, "/"), (2, "/"), (4, " "), (2, ":"), (2, ":"), (2, " ")):
        value, at, good = _number(chars, at, digits, ord(end))
        valid &= good
        fields.append(value)
    month, day, year, hour, minute, second = fields
    half = _char(chars, at)
    valid &= ((half == ord("A")) | (half == ord("P"))) & (_char(chars, at + 1) == ord("M"))
    valid &= (lengths == at + 2) & (month >= 1) & (month <= 12) & (day >= 1)
    valid &= (year >= YEARS[0]) & (year <= YEARS[1])
    valid &= (hour >= 1) & (hour <= 12) & (minute < 60) & (second < 60)
    months = np.where(valid, (year - 1970) * 12 + month - 1, 0).astype("datetime64[M]")
    days = months.astype("datetime64[D]") + np.where(valid, day - 1, 0)
    valid &= days.astype("datetime64[M]") == months
    seconds = (hour % 12 + 12 * (half == ord("P"))) * 3600 + minute * 60 + second
    return days.astype("datetime64[s]") + np.where(valid, seconds, 0), valid


def _number(
    chars: NDArray[np.uint8], at: NDArray[np.int64], digits: int, end: int
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.bool_]]:
    """One to ``digits`` digits from column ``at (n,)`` up to the character ``end``: value, the
    column after ``end``, and whether that is what was there."""
    value = np.zeros(len(at), np.int64)
    going = np.ones(len(at), np.bool_)
    for k in range(digits):
        digit = _char(chars, at).astype(np.int64) - ord("0")
        going &= (digit >= 0) & (digit <= 9)
        if k == 0:
            good = going.copy()
        value = np.where(going, 10 * value + digit, value)
        at = at + going
    return value, at + 1, good & (_char(chars, at) == end)


def _char(chars: NDArray[np.uint8], at: NDArray[np.int64]) -> NDArray[np.uint8]:
    return chars[np.arange(len(at)), np.minimum(at, _WIDTH - 1)]


def parse_one(text: str) -> np.datetime64 | None:
    """ISO 8601 (a zone is converted to UTC, no zone is taken as UTC), or seconds or milliseconds
    since 1970; None when it is neither or lies outside of `YEARS`."""
    text = text.strip()
    number = text.removeprefix("-").replace(".", "", 1)
    try:
        # Eight digits are a date (20260316) to ISO 8601 and 1970 as seconds: the date is meant.
        if number.isascii() and number.isdigit() and len(number) >= 9:
            return _from_epoch(float(text))
        moment = datetime.fromisoformat(text)
        moment = moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment
        seconds = (moment - _EPOCH).total_seconds()
        return _in_years(seconds)
    except (ValueError, OverflowError):
        return None


def _from_epoch(number: float) -> np.datetime64 | None:
    """Seconds since 1970, or milliseconds when seconds would lie after the year 5000."""
    return _in_years(number / 1000 if abs(number) >= 1e11 else number)


def _in_years(seconds: float) -> np.datetime64 | None:
    return np.datetime64(int(seconds // 1), "s") if _FIRST <= seconds < _END else None


def parse_option(flag: str, text: str) -> np.datetime64 | None:
    """A time given on the command line, None for ""; `ConfigError` when it is not a time."""
    found = parse_one(text) if text else None
    if text and found is None:
        raise ConfigError(f"{flag} {text!r}: unknown time, expected {EXAMPLES}")
    return found
