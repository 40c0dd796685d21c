"""An `EvalReport` as one parquet file: a column per metric, all else as JSON in the schema."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from newsrec.errors import DataError, one_line
from newsrec.evaluate.report import EvalReport
from newsrec.files import atomic_file
from newsrec.parquet import parquet_table
from newsrec.types import Provenance

if TYPE_CHECKING:
    import pyarrow

_KEY = b"newsrec.report"
_GROUP = "group:"
_LISTS = {"lists": "list", "sizes": "candidates"}


def save(report: EvalReport, path: Path) -> None:
    """Write ``report``; nothing is left behind when it fails."""
    import pyarrow
    import pyarrow.parquet

    said = {
        "names": report.names,
        "counts": dict(report.counts),
        "provenance": report.provenance.to_dict(),
        "pooled": {k: None if np.isnan(v) else v for k, v in report.pooled.items()},
        "skipped": dict(report.skipped),
        "groups": list(report.groups),
        "labels": dict(report.labels),
    }
    columns = {"row": report.rows, "impression": report.ids, "reader": report.readers}
    columns |= {_GROUP + name: labels for name, labels in report.groups.items()}
    known = {field: getattr(report, field) for field in _LISTS}
    columns |= {_LISTS[field]: x for field, x in known.items() if x is not None}
    columns |= dict(zip(report.names, report.values, strict=True))
    table = pyarrow.table({name: pyarrow.array(column) for name, column in columns.items()})
    table = table.replace_schema_metadata({_KEY: json.dumps(said, default=str).encode()})
    with atomic_file(path) as file:
        pyarrow.parquet.write_table(table, file, compression="zstd")


def load(path: Path) -> EvalReport:
    """Read what `save` wrote; `DataError` names a file that is something else."""
    try:
        data = path.read_bytes()
    except OSError as error:
        raise DataError(f"{path}: cannot be read ({error.strerror})") from None
    table = parquet_table(data, str(path), "an evaluation")
    metadata = table.schema.metadata or {}
    if _KEY not in metadata:
        raise DataError(f"{path}: no newsrec report inside, expected a file of EvalReport.save")
    try:
        return _report(table)
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise DataError(f"{path}: a damaged newsrec report ({one_line(error)})") from None


def _report(table: pyarrow.Table) -> EvalReport:
    said = json.loads(table.schema.metadata[_KEY])
    column = {name: table[name].to_numpy(zero_copy_only=False) for name in table.column_names}
    names = tuple(said["names"])
    values = [np.asarray(column[name], np.float64) for name in names]
    return EvalReport(
        names=names,
        values=np.stack(values) if names else np.zeros((0, len(table))),
        rows=np.asarray(column["row"], np.int64),
        ids=column["impression"].astype(np.str_),
        readers=np.asarray(column["reader"], np.int32),
        counts=said["counts"],
        provenance=Provenance(**said["provenance"]),
        pooled={k: float("nan") if v is None else v for k, v in said["pooled"].items()},
        skipped=said["skipped"],
        groups={name: column[_GROUP + name].astype(np.str_) for name in said["groups"]},
        labels=said["labels"],
        **{field: column.get(name) for field, name in _LISTS.items()},
    )
