"""Every text encoded once: vectors on disk, found again by what was encoded and how.

Reading needs numpy only. See `newsrec.encode.matrix` for the files.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from newsrec.encode.filling import Filling, Progress
from newsrec.encode.keys import digest_of
from newsrec.encode.matrix import Place, open_matrix
from newsrec.errors import ConfigError, DataError, StaleCacheError
from newsrec.files import data_root
from newsrec.protocols import Encoder
from newsrec.types import Embeddings, EmbeddingSpec, Texts


@dataclass(frozen=True, slots=True, eq=False)
class Filled:
    """``embeddings``, how many distinct texts were ``encoded`` and ``reused`` for them, and the
    ``folder`` they are in."""

    embeddings: Embeddings
    encoded: int
    reused: int
    folder: Path


class EmbeddingStore:
    """Embeddings under ``root`` (default: ``data/embeddings``).

    ``dtype`` of the files: float32, or float16 at half the size. ``batch_size`` texts are encoded
    between two writes: what a killed run loses. ``verify``: read whole files to find damage;
    without it, of large ones only the beginning and the end. Safe for several processes at once.
    """

    def __init__(
        self,
        root: Path | str | None = None,
        *,
        dtype: str = "float32",
        batch_size: int = 256,
        verify: bool = True,
    ) -> None:
        if dtype not in ("float32", "float16"):
            raise ConfigError(f"dtype {dtype!r}, expected float32 or float16")
        if batch_size < 1:
            raise ConfigError(f"batch_size: {batch_size}, expected at least 1")
        self.root = data_root() / "embeddings" if root is None else Path(root)
        self.dtype, self.batch_size, self.verify = dtype, batch_size, verify

    def get(
        self,
        encoder: Encoder,
        texts: Texts,
        view: str,
        corpus: str,
        *,
        on_progress: Progress | None = None,
    ) -> Embeddings:
        """Vectors of ``texts`` as ``encoder`` reads ``view``; ``corpus`` is the fingerprint.

        Only texts that no matrix of the encoder has yet are encoded. Raises `StaleCacheError` for
        a stored file that is damaged or foreign.
        """
        return self.fill(encoder, texts, view, corpus, on_progress=on_progress).embeddings

    def fill(
        self,
        encoder: Encoder,
        texts: Texts,
        view: str,
        corpus: str,
        *,
        force: bool = False,
        on_progress: Progress | None = None,
    ) -> Filled:
        """As `get`, and what it took; ``force`` encodes everything again. ``on_progress`` gets
        (encoded, to encode) in texts."""
        texts.view(view, np.zeros(0, np.int64))  # an unknown view fails here
        spec = self.spec(encoder, texts.language, view, corpus)
        place, digest = Place.of(self.root, spec), digest_of(texts, view)
        try:
            found = None if force else _opened(place, spec, digest, verify=self.verify)
        except StaleCacheError:
            found = None  # another process may be replacing it: judge with the lock held
        if found is not None:
            return found
        try:
            with place.locked():
                # Whoever held the lock may have made just this matrix.
                found = None if force else _opened(place, spec, digest, verify=self.verify)
                if found is not None:
                    return found
                filling = Filling(encoder, texts, spec, place, self.batch_size)
                encoded = filling.run(digest, force=force, on_progress=on_progress)
                made = _opened(place, spec, digest, verify=False)  # just written
        except OSError as error:
            raise DataError(f"{place.folder}: cannot store embeddings ({error})") from error
        assert made is not None  # it was written a moment ago, with the lock held
        return replace(made, encoded=encoded, reused=made.reused - encoded)

    def open(self, spec: EmbeddingSpec, *, verify: bool = False) -> Embeddings | None:
        """The stored matrix of ``spec``, or None; ``verify`` reads and checks all of it."""
        found = open_matrix(Place.of(self.root, spec).folder, spec, verify=verify)
        return None if found is None else found[0]

    def spec(self, encoder: Encoder, language: str, view: str, corpus: str) -> EmbeddingSpec:
        """What names the matrix of ``encoder`` for a language and view of a corpus."""
        return EmbeddingSpec(replace(encoder.spec, dtype=self.dtype), language, view, corpus)


def _opened(place: Place, spec: EmbeddingSpec, digest: str, *, verify: bool) -> Filled | None:
    """The matrix in ``place`` if it was made from the same texts; changed texts under an old
    fingerprint are encoded, not overlooked."""
    found = open_matrix(place.folder, spec, verify=verify)
    if found is None or found[1]["text_digest"] != digest:
        return None
    return Filled(found[0], 0, int(found[1]["distinct"]), place.folder)
