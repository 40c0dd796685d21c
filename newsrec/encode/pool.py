"""Vectors that exist already: finished matrices of the same encoder, and parts of a broken run.

A part is one encoded batch, ``(n,)`` of (key, vector), in a file whose name ends in the CRC-32 of
its bytes; it appears whole or not at all. A matrix is a folder with keys.npy and vectors.npy.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import Any
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from newsrec.encode.keys import KEY, Keys, find
from newsrec.encode.manifest import crc_of, stale
from newsrec.files import atomic_file
from newsrec.types import EmbeddingSpec

_COPIED = 16_384  # rows copied at once; bounds memory


@dataclass(frozen=True, slots=True, eq=False)
class Found:
    """Where the vector of each wanted key is: ``sources[source[i]]``, row ``row[i]``; source -1
    where there is none yet. Both arrays ``(m,)``."""

    sources: tuple[Path, ...]
    source: NDArray[np.int64]
    row: NDArray[np.int64]


def locate(wanted: Keys, sources: Sequence[Path]) -> Found:
    """Look ``wanted (m,)``, sorted and distinct, up in ``sources``; the first one wins."""
    source = np.full(len(wanted), -1, np.int64)
    row = np.zeros(len(wanted), np.int64)
    for number, path in enumerate(sources):
        which, rows = find(_keys(path), wanted)
        new = source[which] < 0
        source[which[new]], row[which[new]] = number, rows[new]
    return Found(tuple(sources), source, row)


def copy(found: Found, inverse: NDArray[np.int64], rows: Any, out: NDArray[Any]) -> None:
    """Write into ``out (n_news, dim)`` the vector of key ``inverse[i]`` at ``rows[i]``."""
    source_of = found.source[inverse]
    order = np.argsort(source_of, kind="stable")
    ends = np.searchsorted(source_of[order], np.arange(len(found.sources)), side="right")
    start = int(np.searchsorted(source_of[order], 0))
    for path, end in zip(found.sources, ends, strict=True):
        if start == end:
            continue
        vectors = _vectors(path)
        for at in range(start, int(end), _COPIED):
            chosen = order[at : min(at + _COPIED, int(end))]
            out[rows[chosen]] = vectors[found.row[inverse[chosen]]]
        start = int(end)


def write_part(folder: Path, keys: Keys, vectors: NDArray[Any]) -> None:
    """Store one batch: ``keys (n,)``, ``vectors (n, dim)``."""
    record = np.dtype([("key", KEY), ("vector", vectors.dtype, vectors.shape[1:])])
    part = np.empty(len(keys), record)
    part["key"], part["vector"] = keys, vectors
    buffer = BytesIO()
    np.save(buffer, part, allow_pickle=False)
    content = buffer.getvalue()
    with atomic_file(folder / f"{keys[0].tobytes().hex()}-{crc32(content):08x}.npy") as file:
        file.write(content)


def parts_in(folder: Path, spec: EmbeddingSpec) -> list[Path]:
    """Every part in ``folder``, checked; `StaleCacheError` names one that is damaged or foreign."""
    paths = sorted(folder.glob("[!.]*.npy"))
    for path in paths:
        if path.stem.rpartition("-")[2] != f"{crc_of(path):08x}":
            raise stale(path, "damaged, or not written by newsrec", spec)
    return paths


def _keys(path: Path) -> Keys:
    if path.is_dir():
        stored = np.load(path / "keys.npy", allow_pickle=False)
        return np.ascontiguousarray(stored).view(KEY).reshape(-1)
    return np.ascontiguousarray(_array(path)["key"])


def _vectors(path: Path) -> NDArray[Any]:
    if path.is_dir():
        return _array(path / "vectors.npy")
    return np.asarray(_array(path)["vector"])


def _array(path: Path) -> NDArray[Any]:
    found: NDArray[Any] = np.load(path, mmap_mode="r", allow_pickle=False)
    return found
