"""The making of one matrix: what is known is copied, what is missing is encoded batch by batch."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from newsrec.encode.checked import vectors_of
from newsrec.encode.keys import Keys, keys_of
from newsrec.encode.manifest import check_files, read_manifest, spec_in
from newsrec.encode.matrix import Place, write_matrix
from newsrec.encode.pool import copy, locate, parts_in, write_part
from newsrec.errors import DataError, StaleCacheError
from newsrec.protocols import Encoder
from newsrec.types import EmbeddingSpec, Texts

Progress = Callable[[int, int], None]


@dataclass(frozen=True, slots=True, eq=False)
class Filling:
    """One run for ``spec`` at ``place``, whose lock is held."""

    encoder: Encoder
    texts: Texts
    spec: EmbeddingSpec
    place: Place
    batch_size: int

    def run(self, digest: str, *, force: bool, on_progress: Progress | None) -> int:
        """Make the matrix; returns how many texts were encoded.

        A run that was killed is continued from its parts. ``force`` starts from nothing.
        """
        self.place.clean(parts=force)
        keys, sizes = keys_of(self.texts, self.spec.view, self.spec.encoder.prefix)
        wanted, first, inverse = np.unique(keys, return_index=True, return_inverse=True)
        known = [] if force else self._known(wanted)
        found = locate(wanted, [*known, *parts_in(self.place.parts, self.spec)])
        missing = np.flatnonzero(found.source < 0)
        if len(missing):
            rows = self.texts.rows[first[missing]]
            self._encode(wanted[missing], rows, sizes[first[missing]], on_progress)
            found = locate(wanted, [*known, *parts_in(self.place.parts, self.spec)])
        write_matrix(
            self.place.folder, self.spec, self.texts, keys,
            lambda out: copy(found, inverse.reshape(-1), self.texts.rows, out),
            text_digest=digest, distinct=len(wanted),
        )  # fmt: skip
        shutil.rmtree(self.place.parts, ignore_errors=True)
        return len(missing)

    def _known(self, wanted: Keys) -> list[Path]:
        """Matrices of the same encoder; those that have a wanted text are checked in full, and a
        damaged one is left out here: it says so when it is opened itself."""
        folders = sorted(self.place.folder.parent.glob("[!.]*"))
        known = [folder for folder in folders if self._is_whole(folder, full=False)]
        while True:
            used = set(locate(wanted, known).source.tolist()) - {-1}
            broken = [known[i] for i in used if not self._is_whole(known[i], full=True)]
            if not broken:
                return known
            known = [folder for folder in known if folder not in broken]

    def _is_whole(self, folder: Path, *, full: bool) -> bool:
        spec = spec_in(folder)
        if spec is None or spec.encoder != self.spec.encoder:
            return False
        try:
            check_files(folder, read_manifest(folder, spec), spec, full=full)
        except (StaleCacheError, OSError):
            return False
        return True

    def _encode(
        self,
        keys: Keys,
        rows: NDArray[np.int64],
        sizes: NDArray[np.int64],
        on_progress: Progress | None,
    ) -> None:
        """Encode the articles ``rows (m,)`` into parts; ``sizes`` of their texts in bytes."""
        done = 0
        if on_progress is not None:
            on_progress(0, len(rows))
        for chosen in _shuffled(sizes, self.batch_size):
            vectors = vectors_of(self.encoder, self.texts.view(self.spec.view, rows[chosen]))
            write_part(self.place.parts, keys[chosen], self._rounded(vectors))
            done += len(chosen)
            if on_progress is not None:
                on_progress(done, len(rows))

    def _rounded(self, vectors: NDArray[np.float32]) -> NDArray[np.floating]:
        """As stored; `DataError` for what the type cannot hold."""
        with np.errstate(over="ignore"):
            stored: NDArray[np.floating] = vectors.astype(self.spec.encoder.dtype)
        if not np.isfinite(stored).all():
            raise DataError(
                f"{self.spec.encoder.name}: a number of {np.abs(vectors).max():g} does not fit "
                f"{stored.dtype}; store float32"
            )
        return stored


def _shuffled(sizes: NDArray[np.int64], batch_size: int) -> Sequence[NDArray[np.int64]]:
    """Batches of texts of similar length, in an order that does not depend on length: the rate of
    the first ones tells how long the rest will take."""
    order = np.argsort(-sizes, kind="stable")
    batches = [order[i : i + batch_size] for i in range(0, len(order), batch_size)]
    return [batches[i] for i in np.random.default_rng(0).permutation(len(batches))]
