"""RecBole's atomic files: columns between tabs under a header of ``name:type``.

See RecBole's documentation, "Atomic Files". Types: ``token``, ``token_seq``, ``float``,
``float_seq``; sequences are separated by spaces.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from pathlib import Path
from urllib.parse import quote, unquote

import numpy as np
from numpy.typing import NDArray

from newsrec.errors import DataError

# What pandas, through which RecBole reads, takes for a missing value (after quoting).
_MISSING = frozenset(("NA", "NULL", "NaN", "None", "nan", "null", "-NaN", "-nan"))


def token(name: str) -> str:
    """``name`` as a token that RecBole reads back whole: percent-encoded but for ASCII letters,
    digits and ``_.-~``. `name_of` turns it back."""
    if name in _MISSING:
        return f"%{ord(name[0]):02X}{name[1:]}"
    return quote(name, safe="", errors="surrogatepass") or "%"


def name_of(token: str) -> str:
    """The name that a `token` stands for."""
    return "" if token == "%" else unquote(token, errors="surrogatepass")


def tokens(names: Iterable[str]) -> list[str]:
    """`token` of each."""
    return [token(name) for name in names]


def number(value: float) -> str:
    """The shortest decimal that gives the float32 back; "" (missing) for NaN."""
    return "" if math.isnan(value) else f"{value:.9g}"


def write_atomic(path: Path, header: Sequence[str], rows: Iterable[Sequence[str]]) -> int:
    """Write ``path`` and return the number of rows; ``header`` holds ``name:type``."""
    n = 0
    with path.open("w", encoding="utf-8", newline="\n") as file:
        file.write("\t".join(header) + "\n")
        for row in rows:
            file.write("\t".join(row) + "\n")
            n += 1
    return n


def vector(row: NDArray[np.floating]) -> str:
    """``(dim,)`` as a ``float_seq``."""
    return " ".join(f"{x:.9g}" for x in row.tolist())


def read_atomic(path: Path) -> dict[str, list[str]]:
    """Columns by ``name:type``; `DataError` for a line of another number of columns."""
    lines = path.read_text("utf-8").split("\n")
    header = lines[0].split("\t")
    rows = [line.split("\t") for line in lines[1:-1]]
    for at, row in enumerate(rows, 2):
        if len(row) != len(header):
            raise DataError(f"{path}:{at}: {len(row)} columns, expected {len(header)}")
    return {name: [row[i] for row in rows] for i, name in enumerate(header)}
