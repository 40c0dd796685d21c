"""Vectors of news, and everything that changes a vector."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass

import numpy as np
from numpy.typing import NDArray

from newsrec.errors import ConfigError, DataError
from newsrec.plain import digest
from newsrec.types.news import NewsTable


@dataclass(frozen=True, slots=True)
class EncoderSpec:
    """Everything of an encoder that changes a vector.

    ``revision`` is a commit or a content hash; ``pooling`` is ``mean``, ``cls``, ``pooler``, …;
    ``levels`` are the Matryoshka sizes, coarse to fine, ending in ``dim``; ``dtype`` is that of the
    stored vectors; ``precision`` that of the arithmetic (``fp32``, ``bf16``, ``int8``, …).
    """

    name: str
    revision: str
    dim: int
    pooling: str
    levels: tuple[int, ...]
    normalized: bool
    prefix: str = ""
    max_tokens: int = 0
    precision: str = "fp32"
    dtype: str = "float32"

    def __post_init__(self) -> None:
        if (
            not self.levels
            or self.levels[-1] != self.dim
            or list(self.levels) != sorted(set(self.levels))
        ):
            raise ConfigError(
                f"{self.name}: levels {self.levels}, expected rising sizes that end in {self.dim}"
            )

    @property
    def hash(self) -> str:
        """16 hex digits over every field."""
        return digest(asdict(self))


@dataclass(frozen=True, slots=True)
class EmbeddingSpec:
    """An encoder applied to one view of one language of one corpus; its hash names the file."""

    encoder: EncoderSpec
    language: str
    view: str
    corpus: str

    @property
    def dim(self) -> int:
        return self.encoder.dim

    @property
    def levels(self) -> tuple[int, ...]:
        return self.encoder.levels

    @property
    def hash(self) -> str:
        """16 hex digits over every field."""
        return digest(asdict(self))


@dataclass(frozen=True, slots=True, eq=False)
class Embeddings:
    """``vectors (n_news, dim)`` float, read-only, often a memmap; rows without text are zero.

    ``present (n_news,) bool`` says which rows have a vector. ``normalized`` (of the spec) says
    whether rows have length 1: late fusion as published uses raw dot products.
    """

    vectors: NDArray[np.floating]
    present: NDArray[np.bool_]
    spec: EmbeddingSpec

    def __post_init__(self) -> None:
        if self.vectors.ndim != 2 or self.vectors.shape[1] != self.spec.dim:
            raise DataError(f"vectors: {self.vectors.shape}, expected (n_news, {self.spec.dim})")
        if self.present.shape != (len(self.vectors),):
            raise DataError(f"present: {self.present.shape}, expected ({len(self.vectors)},)")

    def __len__(self) -> int:
        return len(self.vectors)

    @property
    def normalized(self) -> bool:
        return self.spec.encoder.normalized

    def at(self, dim: int) -> NDArray[np.float32]:
        """Prefix slice ``(n_news, dim)``, rows renormalised; only for ``dim in spec.levels``."""
        if dim not in self.spec.levels:
            raise ConfigError(
                f"{self.spec.encoder.name} has no level {dim}; levels: {self.spec.levels}"
            )
        return unit_rows(np.asarray(self.vectors[:, :dim], np.float32))


def unit_rows(vectors: NDArray[np.floating]) -> NDArray[np.float32]:
    """Rows scaled to length 1, ``(n, dim) float32``; zero rows stay zero.

    Squares of numbers beyond about 1e±19 are no float32; such rows are scaled first, by a power of
    two, which changes no digit.
    """
    with np.errstate(over="ignore", under="ignore"):
        x = np.asarray(vectors, np.float32)
        squares = np.einsum("ij,ij->i", x, x)
    wild = np.flatnonzero((squares < 1e-30) | ~np.isfinite(squares))
    if len(wild):
        rows = np.asarray(vectors[wild])
        _, exponent = np.frexp(np.abs(rows).max(axis=1, initial=0))
        x = x.copy() if x is vectors else x
        x[wild] = np.ldexp(rows, -exponent[:, None])
        squares[wild] = np.einsum("ij,ij->i", x[wild], x[wild])
    norms = np.sqrt(squares)[:, None]
    scaled: NDArray[np.float32] = np.divide(x, norms, out=np.zeros_like(x), where=norms > 0)
    return scaled


@dataclass(frozen=True, slots=True, eq=False)
class Features:
    """What a ranker may see.

    ``history`` and ``candidates`` map a view to `Embeddings` in the reader's and the shelf's
    language; they are the same matrices when the languages are. For readers of mixed languages
    ``history_rows (nnz of impressions.history,)`` says which row of the history matrices each
    clicked article is; None means its news row. ``history_language`` and ``shelf_language`` number
    the language of each row of the matrices where they mix several; None: all one. ``means``: by
    view, ``(n_languages, dim)``, what rows of each of these languages lose where a ranker takes
    means out, in place of the means of matrices that are too small to have any; None: their own.
    """

    news: NewsTable
    history: Mapping[str, Embeddings]
    candidates: Mapping[str, Embeddings]
    history_rows: NDArray[np.int64] | None = None
    history_language: NDArray[np.int64] | None = None
    shelf_language: NDArray[np.int64] | None = None
    means: Mapping[str, NDArray[np.float32]] | None = None
