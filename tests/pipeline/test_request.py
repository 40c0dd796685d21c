"""What `Request` takes, and what it refuses before anything is opened."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta, timezone
from typing import Any

import numpy as np
import pytest

from newsrec import Request
from newsrec.errors import ConfigError

NOON = np.datetime64("2026-03-10T12:00:00", "s")
DAY = np.timedelta64(86_400, "s")


def asked(**fields: Any) -> Request:
    return Request(**{"user": "U1", "languages": ("fin",), **fields})


@pytest.mark.parametrize(
    ("given", "codes"),
    [
        (("FIN",), ("fin",)),
        (("fi", "English", "fin_Latn"), ("fin", "eng")),
        ("fin", ("fin",)),
        ("fi, EN,", ("fin", "eng")),
        (["eng"], ("eng",)),
    ],
)
def test_languages_are_canonical_each_once(given: Any, codes: tuple[str, ...]) -> None:
    assert asked(languages=given).languages == codes


def test_the_language_of_the_history_is_canonical() -> None:
    assert asked(history_language="JA").history_language == "jpn"


@pytest.mark.parametrize(
    "given",
    [
        "2026-03-10T12:00:00",
        "2026-03-10T14:00:00.7+02:00",
        NOON,
        NOON.astype("datetime64[ns]"),
        datetime(2026, 3, 10, 12),
        datetime(2026, 3, 10, 14, tzinfo=timezone(timedelta(hours=2))),
        datetime(2026, 3, 10, 12, tzinfo=UTC),
    ],
    ids=repr,
)
def test_moments_are_seconds_in_utc(given: Any) -> None:
    found = asked(as_of=given).as_of
    assert found is not None
    assert (found, found.dtype) == (NOON, np.dtype("datetime64[s]"))


def test_a_day_is_its_beginning() -> None:
    midnight = np.datetime64("2026-03-10T00:00:00", "s")
    for given in ("2026-03-10", date(2026, 3, 10), np.datetime64("2026-03-10")):
        assert asked(as_of=given).as_of == midnight


@pytest.mark.parametrize("given", ["24h", "1d", DAY, timedelta(days=1), np.timedelta64(1, "D")])
def test_ages_are_seconds(given: Any) -> None:
    found = asked(max_age=given).max_age
    assert found is not None
    assert (found, found.dtype) == (DAY, np.dtype("timedelta64[s]"))


def test_numbers_of_numpy_are_numbers() -> None:
    assert asked(k=np.int64(3)).k == 3


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"languages": ()}, "--lang: no language named"),
        ({"languages": ""}, "--lang: no language named"),
        ({"languages": ("klingon",)}, "--lang: unknown language 'klingon'"),
        ({"languages": None}, "--lang: None, expected"),
        ({"languages": (3,)}, "--lang: 3, expected a language"),
        ({"history_language": "xx"}, "--history-lang: unknown language 'xx'"),
        ({"history_language": 3}, "--history-lang: 3, expected"),
        ({"k": 2.5}, "--k: 2.5, expected a whole number"),
        ({"k": "3"}, "--k: '3', expected a whole number"),
        ({"k": True}, "--k: True, expected a whole number"),
        ({"user": ""}, "--user: empty"),
        ({"user": 123}, "--user: 123, expected a reader's id as text"),
        ({"k": 0}, "--k: 0, expected at least 1"),
        ({"as_of": np.datetime64("NaT")}, "--as-of: .*NaT.* is no time"),
        ({"as_of": "yesterday"}, "--as-of: 'yesterday' is no time"),
        ({"as_of": 20260310}, "--as-of: 20260310 is no time"),
        ({"max_age": np.timedelta64(-1, "D")}, "--max-age: .*-1.* is no age"),
        ({"max_age": np.timedelta64(0, "D")}, "--max-age: .* is no age"),
        ({"max_age": np.timedelta64("NaT")}, "--max-age: .*NaT.* is no age"),
        ({"max_age": timedelta(seconds=-5)}, "--max-age: .* is no age"),
        ({"max_age": "-3d"}, "--max-age: '-3d' is no age"),
        ({"max_age": 3}, "--max-age: 3 is no age"),
        ({"centre": "foo"}, "unknown --centre 'foo'; known: .*language"),
    ],
    ids=repr,
)
def test_what_cannot_be_asked_is_told(fields: dict[str, Any], said: str) -> None:
    with pytest.raises(ConfigError, match=said):
        asked(**fields)
