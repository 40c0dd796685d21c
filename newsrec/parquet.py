"""Parquet files whole, without what Arrow leaves running behind them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from newsrec.errors import DataError, one_line

if TYPE_CHECKING:
    import pyarrow


def parquet_table(data: bytes, where: str, kind: str = "") -> pyarrow.Table:
    """The table in the bytes of a Parquet file; `DataError` names ``where`` and ``kind``.

    On this thread and not through Arrow's datasets, whose threads abort a process that ends right
    after they have read (https://github.com/apache/arrow/issues/34314, open since 2023).
    """
    import pyarrow
    import pyarrow.parquet

    try:
        file = pyarrow.parquet.ParquetFile(pyarrow.BufferReader(data), pre_buffer=False)
        table = file.read(use_threads=False)
        table.validate(full=True)  # texts that are no UTF-8
    except (pyarrow.ArrowException, OSError) as error:
        of = f" of {kind}" if kind else ""
        raise DataError(f"{where}: not a Parquet file{of} ({one_line(error)})") from None
    return table
