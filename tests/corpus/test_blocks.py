"""Blocks are the file's lines, whole and numbered, whatever the block size and the stream."""

from __future__ import annotations

import io
from typing import BinaryIO, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from newsrec.corpus.blocks import read_blocks
from newsrec.errors import DataError

_line = st.text(st.characters(exclude_characters="\n\r", exclude_categories=("Cs",)), max_size=8)


@given(
    st.lists(_line, min_size=1, max_size=9),
    st.sampled_from(["\n", "\r\n"]),
    st.booleans(),
    st.integers(0, 3),
    st.integers(1, 40),
)
def test_lines_come_back_with_their_numbers(
    lines: list[str], end: str, mark: bool, blank: int, size: int
) -> None:
    lines[0] = "first" + lines[0]
    data = ("\ufeff" if mark else "") + end.join(lines) + end * blank
    found: list[str] = []
    for block in read_blocks(io.BytesIO(data.encode()), "x", size):
        assert block.first_line == len(found) + 1
        assert block.data.endswith(b"\n")
        found += block.data[:-1].decode().split("\n")
    while lines and not lines[-1]:
        lines.pop()
    assert found == lines


class _Trickle(io.BytesIO):
    """Gives fewer bytes than asked for, as sockets and pipes do."""

    def read(self, size: int | None = -1) -> bytes:
        return super().read(1 if size and size > 0 else size)


def test_a_stream_that_trickles_gives_the_same_lines() -> None:
    stream = cast(BinaryIO, _Trickle(b"\xef\xbb\xbfa\nb\n"))
    assert b"".join(block.data for block in read_blocks(stream, "x")) == b"a\nb\n"


def test_the_line_of_a_bad_byte_is_named() -> None:
    data = b"a\nb\nc \xff\nd\n"
    for size in (1, 3, 100):
        with pytest.raises(DataError, match="x:3: bytes"):
            list(read_blocks(io.BytesIO(data), "x", size))


def test_an_empty_file_is_refused() -> None:
    for data in (b"", b"\n\n", b"\xef\xbb\xbf", b"\r\n"):
        with pytest.raises(DataError, match="x: empty file"):
            list(read_blocks(io.BytesIO(data), "x"))
