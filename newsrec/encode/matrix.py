"""One stored matrix: where it is, how it is opened, how it is written.

ROOT/ENCODER-hash/                  one encoder with everything that changes its vectors
    LANGUAGE-VIEW-hash/             one corpus: vectors, present and keys .npy, manifest.json
    LANGUAGE-VIEW-hash.parts/       batches of a run that has not ended
    LANGUAGE-VIEW-hash.lock         held while a run encodes
"""

from __future__ import annotations

import os
import re
import shutil
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from newsrec.encode.keys import KEY, Keys
from newsrec.encode.manifest import check_files, read_manifest, stale, write_manifest
from newsrec.errors import DataError
from newsrec.files import atomic_folder
from newsrec.types import Embeddings, EmbeddingSpec, Texts


@dataclass(frozen=True, slots=True)
class Place:
    """The paths of one matrix."""

    folder: Path

    @classmethod
    def of(cls, root: Path, spec: EmbeddingSpec) -> Place:
        """Where ``spec`` is stored under ``root``."""
        name = re.sub(r"[^\w.-]+", "_", spec.encoder.name)[:60]
        matrix = f"{spec.language}-{spec.view}-{spec.hash}"
        return cls(root / f"{name}-{spec.encoder.hash}" / matrix)

    @property
    def parts(self) -> Path:
        """Batches of a run that has not ended."""
        return self.folder.with_name(f"{self.folder.name}.parts")

    @contextmanager
    def locked(self) -> Iterator[None]:
        """One run at a time. The system frees the lock when its holder dies, however it dies. On
        Windows there is no lock: two runs both encode, and the last matrix stays."""
        path = self.folder.with_name(f"{self.folder.name}.lock")
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("ab") as file:
            if sys.platform != "win32":
                import fcntl

                fcntl.flock(file, fcntl.LOCK_EX)
            yield

    def clean(self, *, parts: bool) -> None:
        """Remove the half-written parts of a killed run, and all its parts if they are not wanted;
        the lock must be held. `atomic_folder` clears up after itself."""
        for path in self.parts.glob(".*"):
            path.unlink(missing_ok=True)
        if parts:
            shutil.rmtree(self.parts, ignore_errors=True)


def open_matrix(
    folder: Path, spec: EmbeddingSpec, *, verify: bool = False
) -> tuple[Embeddings, dict[str, Any]] | None:
    """``(embeddings, manifest)`` of ``folder``, None where there is none.

    `StaleCacheError` when it is damaged or another's; ``verify`` reads all of it to be sure.
    """
    if not folder.exists():
        return None
    manifest = read_manifest(folder, spec)
    check_files(folder, manifest, spec, full=verify)
    try:
        present = np.load(folder / "present.npy", allow_pickle=False)
        # An empty file cannot be mapped.
        path, mapped = folder / "vectors.npy", "r" if len(present) else None
        vectors = np.load(path, mmap_mode=mapped, allow_pickle=False)  # type: ignore[arg-type]
        vectors.flags.writeable = False
        if vectors.dtype != spec.encoder.dtype or present.dtype != np.bool_:
            raise ValueError(f"{vectors.dtype} and {present.dtype}")
        return Embeddings(vectors, present, spec), manifest
    except (OSError, ValueError, DataError) as error:
        raise stale(folder, f"does not hold what its manifest says ({error})", spec) from None


def write_matrix(
    folder: Path,
    spec: EmbeddingSpec,
    texts: Texts,
    keys: Keys,
    fill: Callable[[NDArray[Any]], None],
    **more: Any,
) -> None:
    """Write ``folder`` whole; ``fill`` gets the zeros ``(n_news, dim)`` to write the vectors into,
    ``keys`` are those of ``texts.rows``, ``more`` goes into the manifest."""
    n = len(texts)
    shape, dtype = (n, spec.dim), np.dtype(spec.encoder.dtype)
    stored = np.zeros(n, KEY)
    stored[texts.rows] = keys
    with atomic_folder(folder) as temporary:
        path = temporary / "vectors.npy"
        if n:
            out = np.lib.format.open_memmap(path, "w+", dtype, shape)
            fill(out)
            out.flush()
            del out
        else:
            np.save(path, np.zeros(shape, dtype), allow_pickle=False)
        np.save(temporary / "present.npy", np.asarray(texts.present), allow_pickle=False)
        np.save(temporary / "keys.npy", stored.view(np.uint8).reshape(n, KEY.itemsize))
        write_manifest(temporary, spec, **more)
        for file in temporary.iterdir():
            with file.open("rb") as handle:
                os.fsync(handle.fileno())
