"""A text file as blocks of whole lines, checked: UTF-8, no byte-order mark, Unix line ends."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple, Protocol

from newsrec.errors import DataError

BLOCK_BYTES = 1 << 21


class Readable(Protocol):
    """All that is asked of a stream of bytes."""

    def read(self, size: int = -1, /) -> bytes: ...


class Block(NamedTuple):
    """Whole lines, the last one ended too; ``first_line`` counts from 1."""

    first_line: int
    data: bytes


def read_blocks(stream: Readable, where: str, size: int = BLOCK_BYTES) -> Iterator[Block]:
    """Blocks of about ``size`` bytes; blank lines at the end of the file are left out.

    Raises `DataError` for an empty file and, with its line, for bytes that are not UTF-8.
    """
    line, rest = 1, b""
    while len(rest) < 3 and (piece := stream.read(3 - len(rest))):
        rest += piece
    rest = rest.removeprefix(b"\xef\xbb\xbf")
    while piece := stream.read(size):
        rest += piece
        cut = rest.rfind(b"\n")
        # Blank lines at the end wait for what follows: they may be the blank end of the file.
        while cut > 0 and rest[cut - 1] in b"\r\n":
            cut = rest.rfind(b"\n", 0, cut)
        if cut <= 0:
            continue
        cut += 1
        block = Block(line, _checked(rest[:cut], where, line))
        yield block
        line += block.data.count(b"\n")
        rest = rest[cut:]
    rest = rest.rstrip(b"\r\n")
    if rest:
        yield Block(line, _checked(rest + b"\n", where, line))
    elif line == 1:
        raise DataError(f"{where}: empty file, expected at least one line")


def _checked(data: bytes, where: str, first_line: int) -> bytes:
    if not data.isascii():
        try:
            data.decode("utf-8")
        except UnicodeDecodeError as error:
            line = first_line + data.count(b"\n", 0, error.start)
            found = data[error.start : error.start + 4]
            raise DataError(
                f"{where}:{line}: bytes {found!r} are not UTF-8 ({error.reason}); "
                "convert the file to UTF-8"
            ) from None
    return data.replace(b"\r\n", b"\n") if b"\r" in data else data
