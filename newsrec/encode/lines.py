"""A plain file of texts to a plain file of vectors, in bounded memory."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from newsrec.encode.checked import vectors_of
from newsrec.errors import DataError
from newsrec.files import atomic_file
from newsrec.places import check_file
from newsrec.protocols import Encoder

BLOCK = 4096  # lines encoded together


def encode_lines(
    encoder: Encoder,
    lines: Iterable[bytes],
    output: Path,
    name: str = "input",
    *,
    total: int = 0,
    on_progress: Callable[[int, int], None] | None = None,
) -> tuple[int, int]:
    """Write ``output`` as ``.npy (n, dim) float32``, one row a line; returns ``(n, dim)``.

    ``lines`` is a binary file, or anything that gives lines as bytes: UTF-8 with or without a byte
    order mark, ended by LF or CRLF; an empty line is an empty text. ``total`` is only for
    ``on_progress`` (0: unknown). The file appears when all is written. Raises `DataError` that
    names the line for bytes that are not UTF-8.
    """
    check_file(output, "--output")
    texts, dim, done = _texts(lines, name), encoder.spec.dim, 0
    try:
        with atomic_file(output) as file:
            header = _write_header(file, 0, dim)
            while block := list(islice(texts, BLOCK)):
                file.write(vectors_of(encoder, block).astype("<f4", copy=False).tobytes())
                done += len(block)
                if on_progress is not None:
                    on_progress(done, max(total, done))
            file.seek(0)
            # numpy leaves room in a header for the number of rows to grow.
            assert _write_header(file, done, dim) == header
    except OSError as error:
        raise DataError(f"{output}: cannot be written ({error})") from error
    return done, dim


def count_lines(path: Path) -> int:
    """How many texts `encode_lines` would find in ``path``; `DataError` where it is no file."""
    if not path.is_file():
        what = "a folder" if path.is_dir() else "no such file"
        raise DataError(f"{path}: {what}, expected one text a line")
    found, last = 0, b"\n"
    with path.open("rb") as file:
        while block := file.read(1 << 20):
            found, last = found + block.count(b"\n"), block[-1:]
    return found + (last != b"\n")


def _texts(lines: Iterable[bytes], name: str) -> Iterator[str]:
    for number, line in enumerate(lines, 1):
        if number == 1:
            line = line.removeprefix(b"\xef\xbb\xbf")
        line = line.removesuffix(b"\n").removesuffix(b"\r")
        try:
            yield line.decode("utf-8")
        except UnicodeDecodeError as error:
            raise DataError(
                f"{name}:{number}: byte {error.start + 1} of the line is {line[error.start]:#04x}, "
                "not UTF-8; convert the file first"
            ) from None


def _write_header(file: BinaryIO, rows: int, dim: int) -> int:
    header: dict[str, Any] = {"descr": "<f4", "fortran_order": False, "shape": (rows, dim)}
    np.lib.format.write_array_header_1_0(file, header)
    return file.tell()
