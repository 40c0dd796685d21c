"""The fast parser equals the slow one on any valid input, and names the line of any other."""

from __future__ import annotations

import io
from datetime import datetime

import numpy as np
import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

from newsrec.corpus.behaviors import Behaviors, read_behaviors
from newsrec.corpus.ids import IdIndex
from newsrec.errors import DataError
from tests.corpus.slow_behaviors import Line, parse

GOOD = "1\tU1\t11/15/2019 8:55:22 AM\tN1 N2\tN3-1 N1-0\n"


def _read(text: str | bytes, known: list[str], **options: int) -> Behaviors:
    data = text.encode() if isinstance(text, str) else text
    return read_behaviors(io.BytesIO(data), IdIndex.build(known), **options)


def _unpack(behaviors: Behaviors, known: list[str]) -> list[Line]:
    """Back to what a line says, so that both parsers can be compared."""
    names = [*known, *behaviors.unknown.tolist()]
    it = behaviors.impressions
    return [
        Line(
            str(it.ids[i]),
            str(behaviors.users[it.user[i]]),
            it.time[i].astype(object),
            [names[r] for r in it.history[int(it.history_of[i])]],
            [names[r] for r in it.candidates[i]],
            None
            if it.clicked is None
            else it.clicked[it.candidates.offsets[i] : it.candidates.offsets[i + 1]].tolist(),
        )
        for i in range(len(it))
    ]


# Ids of every kind: short, of exactly 7, 8, 9, 16 and more bytes, with dashes, not ASCII.
_odd = st.text(
    st.characters(min_codepoint=33, max_codepoint=0x2FFF, exclude_categories=("Cs", "Zs", "Cc")),
    min_size=1,
    max_size=20,
)
_EDGES = ("abc-1", "abc-0", "-", "a", "n-", "N1-1", "1234567", "12345678", "123456789")
_EDGES += ("0123456789abcdef", "0123456789abcdef0")
_id = st.one_of(
    st.integers(0, 999_999).map("N{}".format),
    st.sampled_from(_EDGES),
    st.uuids().map(str),
    _odd,
).filter(lambda s: "\ufeff" not in s and "\u0085" not in s)
_time = st.datetimes(datetime(2019, 1, 1), datetime(2029, 12, 31)).map(
    lambda t: t.replace(microsecond=0)
)


def _written(time: datetime, padded: bool) -> str:
    if padded:
        return time.strftime("%m/%d/%Y %I:%M:%S %p")
    hour = time.hour % 12 or 12
    half = "PM" if time.hour >= 12 else "AM"
    return f"{time.month}/{time.day}/{time.year} {hour}:{time.minute:02}:{time.second:02} {half}"


@st.composite
def _files(draw: st.DrawFn) -> tuple[str, list[str], int]:
    pool = draw(st.lists(_id, min_size=1, max_size=8, unique=True))
    labelled = draw(st.booleans())
    # A bare id with a dash reads as labelled unless it is known, so without labels all are known.
    known = draw(st.lists(st.sampled_from(pool), unique=True)) if labelled else pool
    suffixes = ["-0", "-1"] if labelled else [""]
    assume(not labelled or not {i + s for i in pool for s in suffixes} & set(known))
    # A dash too many after a known id is a label with a sign.
    assume(not labelled or not {f"{i}-" for i in known} & (set(pool) - set(known)))
    histories = draw(st.lists(st.lists(st.sampled_from(pool), max_size=5), min_size=1, max_size=3))
    lines = []
    for k in range(draw(st.integers(1, 8))):
        shown = [
            draw(st.sampled_from(pool)) + draw(st.sampled_from(suffixes))
            for _ in range(draw(st.integers(0, 5)))
        ]
        gap = draw(st.sampled_from([" ", " ", "  "]))
        cells = [
            draw(st.sampled_from([str(k), "same id", "ï"])),
            draw(st.sampled_from(["U1", "U22", "a much longer reader", "ü"])),
            _written(draw(_time), draw(st.booleans())),
            " ".join(draw(st.sampled_from(histories))),
            gap.join(shown) + draw(st.sampled_from(["", " "])),
        ]
        lines.append("\t".join(cells))
    end = draw(st.sampled_from(["\n", "\r\n"]))
    text = draw(st.sampled_from(["", "\ufeff"])) + end.join(lines)
    text += draw(st.sampled_from(["", end, end * 3]))
    return text, known, draw(st.sampled_from([1, 7, 64, 1 << 20]))


@given(_files())
@example((GOOD, ["N1", "N2", "N3"], 1))
@example(("1\tU\t1/1/2020 12:00:00 AM\t\ta-1 b-0\n", ["a-1", "b-0"], 64))
@settings(max_examples=150, deadline=None)
def test_equals_the_slow_parser(file: tuple[str, list[str], int]) -> None:
    text, known, block_bytes = file
    expected = parse(text, known)
    behaviors = _read(text, known, block_bytes=block_bytes)
    found = _unpack(behaviors, known)
    if not any(line.candidates for line in expected):
        found = [line._replace(labels=None) for line in found]
        expected = [line._replace(labels=None) for line in expected]
    assert found == expected
    unknown = {t for line in expected for t in line.history + line.candidates} - set(known)
    assert behaviors.unknown.tolist() == sorted(unknown, key=str.encode)
    assert len(behaviors.impressions.history) == len({tuple(line.history) for line in expected})
    assert list(dict.fromkeys(line.user for line in expected)) == behaviors.users.tolist()


@given(_files())
@settings(deadline=None, max_examples=40)
def test_block_size_and_threads_change_nothing(file: tuple[str, list[str], int]) -> None:
    text, known, _ = file
    outcomes = []
    for threads, block_bytes in ((1, 1 << 20), (1, 5), (3, 40)):
        try:
            behaviors = _read(text, known, threads=threads, block_bytes=block_bytes)
            outcomes.append(str(_unpack(behaviors, known)))
        except DataError as error:
            outcomes.append(str(error))
    assert len(set(outcomes)) == 1


def test_the_first_line_of_mind() -> None:
    """MIND's own example, https://github.com/msnews/msnews.github.io (impression 91)."""
    line = (
        "91\tU397059\t11/15/2019 10:22:32 AM\tN106403 N71977 N97080 N102132 N97212 N121652\t"
        "N129416-0 N26703-1 N120089-1 N53018-0 N89764-0 N91737-0 N29160-0\n"
    )
    behaviors = _read(line, [])
    only = _unpack(behaviors, [])[0]
    assert (only.id, only.user, only.time) == ("91", "U397059", datetime(2019, 11, 15, 10, 22, 32))
    assert only.history == ["N106403", "N71977", "N97080", "N102132", "N97212", "N121652"]
    assert only.candidates[1:3] == ["N26703", "N120089"]
    assert only.labels == [False, True, True, False, False, False, False]


def test_noon_and_midnight() -> None:
    text = "".join(
        f"{k}\tU\t11/15/2019 12:00:01 {half}\t\tN1-1\n" for k, half in enumerate(("AM", "PM"))
    )
    times = _read(text, ["N1"]).impressions.time
    assert times.astype(str).tolist() == ["2019-11-15T00:00:01", "2019-11-15T12:00:01"]


def test_unlabelled_candidates_have_no_clicks() -> None:
    behaviors = _read("1\tU1\t11/15/2019 8:55:22 AM\tN1\tN2 N3\n", ["N1", "N2", "N3"])
    assert behaviors.impressions.clicked is None
    np.testing.assert_array_equal(behaviors.impressions.candidates[0], [1, 2])


def test_known_ids_with_dashes_are_unlabelled_candidates() -> None:
    known = ["550e8400-e29b-11d4-a716-446655440000", "a-1"]
    behaviors = _read(f"1\tU1\t11/15/2019 8:55:22 AM\t\t{' '.join(known)}\n", known)
    assert behaviors.impressions.clicked is None
    np.testing.assert_array_equal(behaviors.impressions.candidates[0], [0, 1])


_AM = "11/15/2019 8:55:22 AM"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "behaviors.tsv: empty file"),
        ("\n\r\n", "behaviors.tsv: empty file"),
        (GOOD + f"3321\tU1\t{_AM}\tN1\n" + GOOD,
         "behaviors.tsv:2: 4 columns, expected 5 (MIND). First field: '3321'"),
        (GOOD + f"7\tU1\t{_AM}\tN1\tN2-1\tx\n", "behaviors.tsv:2: 6 columns"),
        # Five separators too few on one line and too many on the next: the sum is right.
        (f"7\tU1\t{_AM}\tN1\n8\tU1\t{_AM}\tN1\tN1-0\tx\n", "behaviors.tsv:1: 4 columns"),
        (GOOD + "\n" + GOOD, "behaviors.tsv:2: empty line, expected 5 (MIND)"),
        (GOOD + f"2\tU1\t{_AM}\t\tN1-2\n", "behaviors.tsv:2: label '2' of candidate 'N1-2'"),
        (GOOD + f"2\tU1\t{_AM}\t\tN1-10\n", "behaviors.tsv:2: label '10' of candidate 'N1-10'"),
        (GOOD + f"2\tU1\t{_AM}\t\tN1-\n", "behaviors.tsv:2: label '' of candidate 'N1-'"),
        (GOOD + f"2\tU1\t{_AM}\t\tN1-1 N2\n", "behaviors.tsv:2: candidate 'N2' without a label"),
        (GOOD + f"2\tU1\t{_AM}\t\tN1-0 N2--1\n",
         "behaviors.tsv:2: label with a sign, expected 0 or 1; found 'N2--1'"),
        (GOOD + f"2\tU1\t{_AM}\t\t-1\n", "behaviors.tsv:2: candidate '-1' without an id"),
        (f"1\tU1\t{_AM}\t\tN1 N2\n2\tU1\t{_AM}\t\tN1-1\n",
         "behaviors.tsv:2: candidate with a label, the first candidates have none; found 'N1-1'"),
        (GOOD + "2\tU1\t2019-11-15 08:55:22\t\tN1-1\n",
         "behaviors.tsv:2: unknown time, expected MIND's '11/15/2019 8:55:22 AM'; "
         "found '2019-11-15 08:55:22'"),
        (GOOD + "2\tU1\t2/30/2019 8:55:22 AM\t\tN1-1\n", "behaviors.tsv:2: unknown time"),
        (GOOD + "2\tU1\t13/1/2019 8:55:22 AM\t\tN1-1\n", "behaviors.tsv:2: unknown time"),
        (GOOD + "2\tU1\t11/1/2019 13:55:22 PM\t\tN1-1\n", "behaviors.tsv:2: unknown time"),
        (GOOD + "2\tU1\t11/1/2019 8:55:22 AM and more, much more\t\tN1-1\n", "unknown time"),
        (GOOD + "2\tU1\t\t\tN1-1\n", "behaviors.tsv:2: unknown time"),
        (GOOD + f"\tU1\t{_AM}\t\tN1-1\n", "behaviors.tsv:2: empty impression id"),
        (GOOD + f"2\t\t{_AM}\t\tN1-1\n", "behaviors.tsv:2: empty user"),
        (GOOD + f"2\tU\x001\t{_AM}\t\tN1-1\n", "behaviors.tsv:2: control character 0x00"),
        (GOOD + f"2\tU1\t{_AM}\tN1\rN2\tN1-1\n", "behaviors.tsv:2: control character 0x0d"),
        (GOOD + f"2\tU1\t{_AM}\t{'N' * 300}\tN1-1\n", "behaviors.tsv:2: longer than 256 bytes"),
        (GOOD.encode() + f"2\tU1\t{_AM}\tN\xe9\tN1-1\n".encode("latin-1"),
         "behaviors.tsv:2: bytes b'\\xe9\\tN1' are not UTF-8"),
        (GOOD.encode("utf-16"), "behaviors.tsv:1: bytes b'\\xff\\xfe1\\x00' are not UTF-8"),
    ],
)  # fmt: skip
@pytest.mark.parametrize("block_bytes", [8, 1 << 20])
def test_bad_input_is_named_with_its_line(
    text: str | bytes, message: str, block_bytes: int
) -> None:
    with pytest.raises(DataError) as caught:
        _read(text, ["N1", "N2", "N3"], block_bytes=block_bytes)
    assert message in str(caught.value)


def test_the_first_error_of_the_file_is_reported() -> None:
    bad = GOOD * 50 + "x\n" + GOOD * 50 + "y\ty\n"
    for threads in (1, 4):
        with pytest.raises(DataError, match=r"behaviors\.tsv:51: 1 column,"):
            _read(bad, ["N1", "N2", "N3"], threads=threads, block_bytes=100)
