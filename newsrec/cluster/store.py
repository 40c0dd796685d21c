"""A tree as one file: plain arrays in an npz, written at once or not at all."""

from __future__ import annotations

import zipfile
import zlib
from pathlib import Path

import numpy as np

from newsrec.errors import DataError, StaleCacheError
from newsrec.files import atomic_file
from newsrec.types.clusters import ClusterTree

_FORMAT = 1


def save_tree(path: Path, tree: ClusterTree) -> None:
    """Write ``tree`` to ``path``; a kill leaves the old file or the new one."""
    with atomic_file(path) as file:
        np.savez_compressed(
            file,
            format=np.array(_FORMAT),
            labels=tree.labels,
            dims=np.array(tree.dims, np.int64),
            thresholds=np.array(tree.thresholds, np.float64),
        )


def load_tree(path: Path) -> ClusterTree:
    """What `save_tree` wrote. `DataError` without the file, `StaleCacheError` for another one."""
    if not path.is_file():
        raise DataError(f"{path}: no such file; `newsrec cluster` writes one")
    try:
        with np.load(path, allow_pickle=False) as parts:
            if int(parts["format"]) != _FORMAT:
                raise ValueError(f"format {int(parts['format'])}, expected {_FORMAT}")
            return ClusterTree(
                parts["labels"],
                tuple(parts["dims"].tolist()),
                tuple(parts["thresholds"].tolist()),
            )
    except (
        OSError,
        ValueError,
        KeyError,
        EOFError,
        zipfile.BadZipFile,
        zlib.error,
        DataError,
    ) as error:
        raise StaleCacheError(
            f"{path}: not a cluster tree of this version ({error}); cluster again"
        ) from error
