"""Parquet files whole."""

from __future__ import annotations

import io
import subprocess
import sys
from pathlib import Path

import pyarrow
import pyarrow.parquet
import pytest

from newsrec.errors import DataError
from newsrec.parquet import parquet_table


def _bytes(table: pyarrow.Table) -> bytes:
    pyarrow.parquet.write_table(table, buffer := io.BytesIO(), row_group_size=2)
    return buffer.getvalue()


def test_every_row_group_is_read_in_order() -> None:
    table = pyarrow.table({"id": ["a", "b", "c", None], "n": [[1], [], [2, 3], None]})
    assert parquet_table(_bytes(table), "x.parquet").equals(table)


@pytest.mark.parametrize("damage", [b"", b"PAR1", b"PAR1 nothing PAR1", _bytes(
    pyarrow.table({"a": list(range(1000))}))[:-9]], ids=len)  # fmt: skip
def test_what_is_none_is_named(damage: bytes) -> None:
    with pytest.raises(DataError, match=r"x\.parquet: not a Parquet file of xMIND \("):
        parquet_table(damage, "x.parquet", "xMIND")


def test_texts_that_are_no_utf8_are_refused() -> None:
    texts = pyarrow.array([b"good", b"b\xffd"]).cast(pyarrow.string(), safe=False)
    with pytest.raises(DataError, match=r"x\.parquet: not a Parquet file .*UTF"):
        parquet_table(_bytes(pyarrow.table({"title": texts})), "x.parquet")


@pytest.mark.skipif(not Path("/proc/self/task").is_dir(), reason="no list of threads here")
def test_reading_starts_no_thread(tmp_path: Path) -> None:
    """Arrow's own would abort a process that ends at once."""
    (tmp_path / "x.parquet").write_bytes(_bytes(pyarrow.table({c: range(9) for c in "abcdef"})))
    code = (
        "import os, sys, pyarrow.parquet; from pathlib import Path\n"
        "from newsrec.parquet import parquet_table\n"
        "count = lambda: len(os.listdir('/proc/self/task'))\n"
        "data, before = Path(sys.argv[1]).read_bytes(), count()\n"
        "assert parquet_table(data, 'x').num_rows == 9\n"
        "sys.exit(count() - before)\n"
    )
    done = subprocess.run([sys.executable, "-c", code, tmp_path / "x.parquet"], check=False)
    assert done.returncode == 0
