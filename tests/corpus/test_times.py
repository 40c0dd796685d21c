"""Times in MIND's form and in one's own equal what the standard library reads."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from newsrec.corpus.times import parse_mind, parse_one, parse_option
from newsrec.errors import ConfigError


def _parse_mind(texts: list[str]) -> list[str | None]:
    encoded = [text.encode() for text in texts]
    chars = np.array(encoded, "S24").view(np.uint8).reshape(len(texts), 24)
    lengths = np.array([len(e) for e in encoded], np.int64)
    times, valid = parse_mind(chars, lengths)
    return [str(t) if good else None for t, good in zip(times, valid, strict=True)]


@given(st.lists(st.text("0123456789/: AMP", min_size=1, max_size=24), min_size=1))
@settings(deadline=None)
def test_mind_accepts_no_more_than_strptime(texts: list[str]) -> None:
    for text, found in zip(texts, _parse_mind(texts), strict=True):
        if found is not None:
            expected = datetime.strptime(text, "%m/%d/%Y %I:%M:%S %p")
            assert found == expected.isoformat()


@given(
    st.datetimes(datetime(1400, 1, 1), datetime(2999, 12, 31)).map(
        lambda t: t.replace(microsecond=0)
    )
)
@settings(deadline=None)
def test_mind_accepts_every_moment(moment: datetime) -> None:
    hour, half = moment.hour % 12 or 12, "AM" if moment.hour < 12 else "PM"
    minute = f"{moment.minute:02}:{moment.second:02} {half}"
    short = f"{moment.month}/{moment.day}/{moment.year} {hour}:{minute}"
    padded = f"{moment.month:02}/{moment.day:02}/{moment.year} {hour:02}:{minute}"
    assert _parse_mind([short, padded]) == [moment.isoformat()] * 2


@pytest.mark.parametrize(
    "text",
    ["2/29/2019 1:00:00 AM", "0/1/2019 1:00:00 AM", "1/0/2019 1:00:00 AM", "1/1/2019 0:00:00 AM",
     "1/1/2019 1:60:00 AM", "1/1/2019 1:00:60 AM", "1/1/19 1:00:00 AM", "1/1/2019 1:00:00",
     "1/1/2019 1:00:00 XM", "12/31/1399 1:00:00 AM", "1/1/3000 1:00:00 AM",
     "2/1/2019 1:00:00 XM", "1/1/2019 1:00:00 AM ", "1/1/2019  1:00:00 AM", "11/15/2019", "x"],
)  # fmt: skip
def test_mind_refuses_what_is_no_moment(text: str) -> None:
    assert _parse_mind([text]) == [None]


@given(
    st.datetimes(datetime(1900, 1, 1), datetime(2100, 1, 1)),
    st.integers(-12 * 60, 14 * 60).map(lambda m: timezone(timedelta(minutes=m))),
)
@settings(deadline=None)
def test_a_zone_is_converted_to_utc(moment: datetime, zone: timezone) -> None:
    moment = moment.replace(tzinfo=zone)
    expected = moment.astimezone(UTC).replace(microsecond=0, tzinfo=None)
    assert str(parse_one(moment.isoformat())) == expected.isoformat()


@given(st.integers(1_000_000_000, 4_000_000_000))
@settings(deadline=None)
def test_seconds_and_milliseconds_since_1970_are_told_apart(seconds: int) -> None:
    expected = np.datetime64(seconds, "s")
    assert parse_one(str(seconds)) == parse_one(str(seconds * 1000)) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("2026-03-16", "2026-03-16T00:00:00"),
        ("20260316", "2026-03-16T00:00:00"),
        (" 2026-03-16T08:55:22.9 ", "2026-03-16T08:55:22"),
        ("1969-12-31T23:59:59.5Z", "1969-12-31T23:59:59"),
        ("-100000000.5", "1966-10-31T14:13:19"),
    ],
)
def test_other_forms(text: str, expected: str) -> None:
    assert str(parse_one(text)) == expected


@pytest.mark.parametrize("text", ["", "now", "11/15/2019 8:55:22 AM", "2026-13-01", "12", "nan"])
def test_what_is_no_time_is_none(text: str) -> None:
    assert parse_one(text) is None


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("1400-01-01", "1399-12-31T23:59:59"),
        ("2999-12-31T23:59:59", "3000-01-01"),
        ("2999-12-31T23:59:59.9", "2999-12-31T23:59:59.9-00:01"),
        ("-17987443200", "-17987443201"),
        ("32503679999", "32503680000"),
        ("32503679999999", "32503680000000"),
        ("1767600000000", "1767600000000000"),  # Milliseconds, microseconds.
        ("1767600000", "1767600000000000000"),  # Seconds, nanoseconds.
        ("0" * 8 + "1", "1" + "0" * 400),
    ],
)
def test_times_lie_in_the_years_1400_to_2999(first: str, second: str) -> None:
    moment = parse_one(first)
    assert moment is not None
    assert 1400 <= int(str(moment)[:4]) <= 2999
    assert parse_one(second) is None


def test_an_option_that_is_no_time_names_itself() -> None:
    assert parse_option("--valid-from", "") is None
    with pytest.raises(ConfigError, match="--valid-from 'soon': unknown time, expected 2026"):
        parse_option("--valid-from", "soon")
