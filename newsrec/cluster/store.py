"""A clustered shelf as one file: plain arrays in an npz, written at once or not at all."""

from __future__ import annotations

import json
import shlex
import zipfile
import zlib
from pathlib import Path

import numpy as np

from newsrec.cluster.shelf import ClusteredShelf
from newsrec.errors import DataError, StaleCacheError
from newsrec.files import atomic_file
from newsrec.places import check_file
from newsrec.types.clusters import ClusterTree

_FORMAT = 2
_ZIP = b"PK\x03\x04"


def save_clusters(path: Path, shelf: ClusteredShelf) -> None:
    """Write ``shelf`` to ``path``; a kill leaves the old file or the new one."""
    tree = shelf.tree
    numbers = {f"numbers{level}": numbers for level, numbers in enumerate(shelf.numbers)}
    with atomic_file(path) as file:
        np.savez_compressed(
            file,
            format=np.array(_FORMAT),
            labels=tree.labels,
            dims=np.array(tree.dims, np.int64),
            thresholds=np.array(tree.thresholds, np.float64),
            articles=np.asarray(shelf.articles, np.str_),
            free=np.array(shelf.free, np.int64),
            made=np.array(json.dumps(dict(shelf.made), ensure_ascii=False)),
            **numbers,  # type: ignore[arg-type]
        )


def load_clusters(path: Path) -> ClusteredShelf:
    """What `save_clusters` wrote. `DataError` without the file, `StaleCacheError` for another."""
    if path.exists() and not path.is_file():
        raise DataError(f"{path}: no file; expected one that `newsrec cluster build --out` wrote")
    if not path.exists():
        raise DataError(f"{path}: no such file; {_remedy(path)}")
    try:
        with np.load(path, allow_pickle=False) as parts:
            if int(parts["format"]) != _FORMAT:
                raise ValueError(f"format {int(parts['format'])}, expected {_FORMAT}")
            tree = ClusterTree(
                parts["labels"],
                tuple(parts["dims"].tolist()),
                tuple(parts["thresholds"].tolist()),
            )
            numbers = tuple(parts[f"numbers{level}"] for level in range(tree.n_levels))
            free = tuple(parts["free"].tolist())
            made = json.loads(str(parts["made"]))
            if not isinstance(made, dict):
                raise ValueError(f"made: {made!r:.40}, expected a JSON object")
            if not np.isfinite(tree.thresholds).all():
                raise ValueError(f"thresholds: {tree.thresholds}, expected finite numbers")
            return ClusteredShelf(tree, parts["articles"], numbers, free, made)
    except (
        OSError,
        TypeError,
        ValueError,
        KeyError,
        EOFError,
        zipfile.BadZipFile,
        zlib.error,
        DataError,
    ) as error:
        # numpy's advice to unpickle what it cannot read is none for here.
        why = "no zip of arrays" if "pickle" in str(error) else error
        raise StaleCacheError(
            f"{path}: not clusters of this version ({why}); {_remedy(path)}"
        ) from error


def check_place(path: Path, what: str) -> None:
    """`DataError` unless clusters can be written to ``path`` and replace there nothing but
    clusters; ``what`` asked for it: an option."""
    check_file(path, what)
    if _foreign(path):
        raise DataError(
            f"{what}: {path} holds no clusters and is not written over; name another file"
        )


def _foreign(path: Path) -> bool:
    """Whether ``path`` holds what `save_clusters` never wrote, not even the beginning of it."""
    if not path.is_file():
        return False
    try:
        with path.open("rb") as file:
            if not _ZIP.startswith(file.read(len(_ZIP))):
                return True
        with zipfile.ZipFile(path) as parts:
            return "labels.npy" not in parts.namelist()
    except zipfile.BadZipFile:  # empty or cut short
        return False
    except OSError:
        return True


def _remedy(path: Path) -> str:
    """What to do about a file without clusters; nobody is told to write over something else."""
    if path.suffix != ".npz" or _foreign(path):
        return "name a file that `newsrec cluster build --out FILE.npz` wrote"
    command = f"newsrec cluster build --corpus CORPUS --out {shlex.quote(str(path))}"
    return f"make them again, of the corpus they are for: {command}"
