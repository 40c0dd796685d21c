"""Rows of tab-separated text and of Parquet files, with the line each is on."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from difflib import get_close_matches

from newsrec.corpus.archives import RawFile
from newsrec.corpus.blocks import read_blocks
from newsrec.errors import DataError
from newsrec.parquet import parquet_table

Row = tuple[int, list[bytes]]

_QUOTED = re.compile(rb'"(?:[^"]|"")*"')


def tsv_rows(raw: RawFile, n_columns: int, kind: str) -> Iterator[Row]:
    """``(line, cells)`` of a file without header; quotes are text (MIND)."""
    with raw.open() as stream:
        for block in read_blocks(stream, raw.shown):
            for k, line in enumerate(block.data[:-1].split(b"\n")):
                cells = line.split(b"\t")
                if len(cells) != n_columns:
                    at = block.first_line + k
                    raise DataError(_wrong_count(raw.shown, at, cells, n_columns, kind))
                yield block.first_line + k, cells


def headed_rows(raw: RawFile, columns: Sequence[str], kind: str) -> Iterator[Row]:
    """``(line, cells in the order of columns)`` of a TSV with a header or of a Parquet file.

    Cells of a TSV that are quoted as CSV quotes (``"he said ""no""."``, as xMIND's are) are
    unquoted; a quote anywhere else is text.
    """
    if raw.path.suffix == ".parquet":
        yield from _parquet_rows(raw, columns, kind)
        return
    places: list[int] = []
    width = 0
    with raw.open() as stream:
        for block in read_blocks(stream, raw.shown):
            for k, line in enumerate(block.data[:-1].split(b"\n")):
                cells = line.split(b"\t")
                if b'"' in line:
                    cells = [_unquoted(cell) for cell in cells]
                if not places:
                    names = [cell.decode("utf-8").strip() for cell in cells]
                    places, width = _places(raw.shown, names, columns, kind), len(cells)
                    continue
                if len(cells) != width:
                    at = block.first_line + k
                    raise DataError(_wrong_count(raw.shown, at, cells, width, kind))
                yield block.first_line + k, [cells[place] for place in places]


def _parquet_rows(raw: RawFile, columns: Sequence[str], kind: str) -> Iterator[Row]:
    import pyarrow

    with raw.open() as stream:
        table = parquet_table(stream.read(), raw.shown, kind)
    names = [str(name) for name in table.column_names]
    places = _places(raw.shown, names, columns, kind)
    try:
        lists = [table.column(place).cast(pyarrow.string()).to_pylist() for place in places]
    except pyarrow.ArrowException as error:
        raise DataError(f"{raw.shown}: not a Parquet file of {kind} ({error})") from None
    for k, cells in enumerate(zip(*lists, strict=True), 1):
        yield k, [(cell or "").encode("utf-8") for cell in cells]


def _unquoted(cell: bytes) -> bytes:
    return cell[1:-1].replace(b'""', b'"') if _QUOTED.fullmatch(cell) else cell


def _places(where: str, found: list[str], wanted: Sequence[str], kind: str) -> list[int]:
    lowered = [name.lower() for name in found]
    for name in wanted:
        if name not in lowered:
            near = get_close_matches(name, lowered, n=1, cutoff=0.4)
            hint = f" Nearest: {near[0]!r}." if near else ""
            raise DataError(
                f"{where}:1: no column {name!r} among {', '.join(map(repr, found[:12]))}, "
                f"expected {', '.join(wanted)} ({kind}).{hint}"
            )
    return [lowered.index(name) for name in wanted]


def _wrong_count(where: str, line: int, cells: list[bytes], expected: int, kind: str) -> str:
    first = cells[0][:60].decode("utf-8", "replace")
    found = f"{len(cells)} column{'' if len(cells) == 1 else 's'}"
    return f"{where}:{line}: {found}, expected {expected} ({kind}). First field: {first!r}"
