"""Tables of one's own: CSV, TSV, JSON lines or Parquet, by column name."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from math import isinf
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from newsrec.corpus.archives import RawFile, raw_file
from newsrec.corpus.blocks import read_blocks
from newsrec.corpus.ids import refuse_long
from newsrec.errors import ConfigError, DataError
from newsrec.parquet import parquet_table

#: NUL and lone surrogates.
NO_TEXT = re.compile("[\\0\ud800-\udfff]")
_ANY_LENGTH = 2**31 - 1
KINDS = (".csv", ".tsv", ".jsonl", ".ndjson", ".parquet")


@dataclass(frozen=True, slots=True)
class Table:
    """``n`` rows by column; a cell is a text, a list, a number, a time or None.

    ``lines[k]`` is where row ``k`` stands in the file; ``where(k)`` says it for an error.
    """

    name: str
    columns: Mapping[str, list[Any]]
    lines: Sequence[int]

    def __len__(self) -> int:
        return len(self.lines)

    def where(self, k: int) -> str:
        return f"{self.name}:{self.lines[k]}"

    def texts(self, column: str) -> list[str]:
        """The cells as stripped text, "" where there is none or no such column; `DataError` for a
        list, an object or bytes."""
        return [self.text_of(cell, k, column) for k, cell in self._rows(column)]

    def names(self, column: str) -> list[str]:
        """`texts` that name something; `DataError` for truth values, infinite numbers and texts
        with characters that are no text."""
        return [self.name_of(cell, k, column) for k, cell in self._rows(column)]

    def ids(self, column: str) -> list[str]:
        """`names` of up to `MAX_BYTES`; `DataError` for longer ones."""
        return [self.id_of(cell, k, column) for k, cell in self._rows(column)]

    def text_of(self, cell: Any, k: int, column: str) -> str:
        """What `texts` says of one cell of row ``k``, or of one item of a list there."""
        if isinstance(cell, list | tuple | dict | bytes):
            raise self._wrong(cell, k, column, "one text")
        return as_text(cell)

    def name_of(self, cell: Any, k: int, column: str) -> str:
        """What `names` says of one cell of row ``k``, or of one item of a list there."""
        if isinstance(cell, bool) or (isinstance(cell, float) and isinf(cell)):
            raise self._wrong(cell, k, column, "a name or a number")
        text = self.text_of(cell, k, column)
        if not text.isascii() or "\0" in text:
            # numpy strips NUL from an id; JSON can carry lone surrogates, and no file can.
            bad = NO_TEXT.search(text)
            if bad:
                raise DataError(
                    f"{self.where(k)}: {column} {text[:60]!r} holds U+{ord(bad.group()):04X}, "
                    "expected a name without NUL characters and lone surrogates"
                )
        return text

    def id_of(self, cell: Any, k: int, column: str) -> str:
        """What `ids` says of one cell of row ``k``, or of one item of a list there."""
        name = self.name_of(cell, k, column)
        refuse_long(name, f"{self.where(k)}: {column}")
        return name

    def _rows(self, column: str) -> Iterator[tuple[int, Any]]:
        return enumerate(self.columns.get(column, [None] * len(self)))

    def _wrong(self, cell: Any, k: int, column: str, expected: str) -> DataError:
        found = f"number {cell}" if isinstance(cell, float) else type(cell).__name__
        return DataError(f"{self.where(k)}: {found} in {column!r}, expected {expected}")


def as_text(cell: Any) -> str:
    """A cell as stripped text; whole floats (a column with gaps) lose their ``.0``."""
    if cell is None or cell != cell:
        return ""
    if isinstance(cell, float) and cell.is_integer():
        cell = int(cell)
    return str(cell).strip()


def read_table(
    path: Path,
    required: Sequence[str],
    optional: Sequence[str],
    renamed: Mapping[str, str] | None = None,
    *,
    quotes_are_text: bool = False,
) -> Table:
    """Read ``path`` (also gzipped or alone in a zip); columns beyond those asked for are dropped.

    ``renamed`` maps a column of newsrec to the file's name for it; ``quotes_are_text``: a TSV has a
    row a line, whatever quotes it holds. Raises `DataError` for a column
    that is not there, naming the nearest that is, and for rows that do not fit.
    """
    raw = raw_file(path)
    kind = raw.path.suffix.lower()
    if kind not in KINDS:
        raise DataError(
            f"{path}: {kind or 'no suffix'}, expected {', '.join(KINDS)} (or .gz, .zip)"
        )
    renamed = {k: v for k, v in (renamed or {}).items() if k in (*required, *optional)}
    with raw.open() as stream:
        if kind == ".parquet":
            found, lines = _parquet(stream, raw)
        elif kind in (".csv", ".tsv"):
            raw_quotes = quotes_are_text and kind == ".tsv"
            found, lines = _delimited(stream, raw, "," if kind == ".csv" else "\t", raw_quotes)
        else:
            found, lines = _json_lines(stream, raw)
    if not lines:
        raise DataError(f"{raw.shown}: no rows, expected columns {', '.join(required)}")
    columns = {}
    for column in (*required, *optional):
        theirs = renamed.get(column, column)
        place = _find(theirs, list(found))
        if place is not None:
            columns[column] = found[place]
        elif column in required or column in renamed:
            where = f"{raw.shown}:1" if kind in (".csv", ".tsv") else raw.shown
            raise _no_column(where, column, theirs, list(found))
    return Table(raw.shown, columns, lines)


def parse_renamed(text: str, known: Sequence[str]) -> dict[str, str]:
    """``id=nid,title=headline`` as ``{newsrec's column: the file's column}``."""
    renamed = {}
    for part in filter(None, (piece.strip() for piece in text.split(","))):
        ours, equals, theirs = (piece.strip() for piece in part.partition("="))
        if not equals or not theirs:
            raise ConfigError(f"columns: {part!r}, expected OURS=THEIRS such as id=nid")
        if ours not in known:
            near = get_close_matches(ours, known, n=1, cutoff=0.4)
            hint = f" Nearest: {near[0]!r}." if near else ""
            raise ConfigError(f"columns: no column {ours!r}; known: {', '.join(known)}.{hint}")
        renamed[ours] = theirs
    return renamed


def _find(name: str, found: list[str]) -> str | None:
    if name in found:
        return name
    return next((f for f in found if f.strip().lower() == name.lower()), None)


def _no_column(where: str, column: str, theirs: str, found: list[str]) -> DataError:
    lowered = {name.strip().lower(): name for name in found}
    if len(found) == 1 and (sign := next((x for x in ";\t|" if x in found[0]), "")):
        return DataError(
            f"{where}: one column {found[0][:60]!r}, separated by {sign!r}? Expected commas in a "
            ".csv, tabs in a .tsv"
        )
    near = get_close_matches(theirs.lower(), list(lowered), n=1, cutoff=0.6)
    use = lowered[near[0]] if near else "NAME"
    hint = f"; nearest: {use!r}" if near else ""
    return DataError(
        f"{where}: no column {theirs!r} among {', '.join(map(repr, found[:20]))}{hint}. "
        f"Rename it or pass --columns {column}={use}"
    )


def _delimited(
    stream: BinaryIO, raw: RawFile, delimiter: str, raw_quotes: bool
) -> tuple[dict[str, list[Any]], list[int]]:
    text = io.StringIO("".join(b.data.decode("utf-8") for b in read_blocks(stream, raw.shown)))
    rows: list[list[str]] = []
    lines: list[int] = []
    header: list[str] = []
    line = 1
    try:
        for row, end in _csv_rows(text, delimiter, raw_quotes):
            start, line = line, end + 1
            if not header:
                header = row
                _refuse_twice(header, f"{raw.shown}:{start}")
                continue
            if len(row) != len(header) and row:
                raise DataError(
                    f"{raw.shown}:{start}: {len(row)} columns, expected {len(header)} as in the "
                    f"header. First field: {row[0][:60]!r}"
                )
            if row:
                rows.append(row)
                lines.append(start)
    except csv.Error as error:
        raise DataError(f"{raw.shown}:{line}: {error}, expected CSV with doubled quotes") from None
    columns = zip(*rows, strict=True) if rows else ([] for _ in header)
    return {name: list(cells) for name, cells in zip(header, columns, strict=True)}, lines


def _csv_rows(
    text: io.StringIO, delimiter: str, raw_quotes: bool
) -> Iterator[tuple[list[str], int]]:
    """Rows and the line each ends on; fields may be of any length."""
    reader = (
        csv.reader(text, delimiter=delimiter, strict=True, quoting=csv.QUOTE_NONE)
        if raw_quotes
        else csv.reader(text, delimiter=delimiter, strict=True)
    )
    while True:
        # The limit is the whole process's: it is raised for no longer than one row takes.
        limit = csv.field_size_limit(_ANY_LENGTH)
        try:
            row = next(reader, None)
        finally:
            csv.field_size_limit(limit)
        if row is None:
            return
        yield row, reader.line_num


def _refuse_twice(header: list[str], where: str) -> None:
    seen = [name.strip().lower() for name in header]
    for name in seen:
        if name and seen.count(name) > 1:
            raise DataError(
                f"{where}: column {name!r} comes {seen.count(name)} times in the header, "
                "expected each once; rename or remove one"
            )


def _json_lines(stream: BinaryIO, raw: RawFile) -> tuple[dict[str, list[Any]], list[int]]:
    found: dict[str, list[Any]] = {}
    lines: list[int] = []
    for line, text in _lines(stream, raw.shown):
        try:
            row = json.loads(text)
        except (ValueError, RecursionError) as error:
            raise DataError(f"{raw.shown}:{line}: not JSON ({error})") from None
        if not isinstance(row, dict):
            raise DataError(f"{raw.shown}:{line}: {type(row).__name__}, expected a JSON object")
        for name, cell in row.items():
            cells = found.setdefault(name, [])
            cells.extend([None] * (len(lines) - len(cells)))
            cells.append(cell)
        lines.append(line)
    for cells in found.values():
        cells.extend([None] * (len(lines) - len(cells)))
    return found, lines


def _lines(stream: BinaryIO, where: str) -> Iterator[tuple[int, bytes]]:
    for block in read_blocks(stream, where):
        for k, text in enumerate(block.data[:-1].split(b"\n")):
            if text.strip():
                yield block.first_line + k, text


def _parquet(stream: BinaryIO, raw: RawFile) -> tuple[dict[str, list[Any]], list[int]]:
    table = parquet_table(stream.read(), raw.shown)
    _refuse_twice(table.column_names, raw.shown)
    columns = {str(name): _cells(table.column(k)) for k, name in enumerate(table.column_names)}
    return columns, list(range(1, table.num_rows + 1))


def _cells(column: Any) -> list[Any]:
    """A Parquet column as cells; times become ISO 8601 text, in UTC where they have a zone."""
    import pyarrow as pa

    if pa.types.is_timestamp(column.type) or pa.types.is_date(column.type):
        seconds = column.to_numpy().astype("datetime64[s]")
        return [None if np.isnat(moment) else str(moment) for moment in seconds]
    return list(column.to_pylist())
