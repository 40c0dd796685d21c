"""The means of languages, kept with a trained head for articles that come without their corpus.

A head reads vectors without their language's mean (`newsrec.rank.centre`). The few articles of one
request have no such mean; they lose the one that the language had where the head was trained.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from newsrec.errors import ConfigError, DataError, StaleCacheError, one_line, unknown_name
from newsrec.files import atomic_file
from newsrec.rank.centre import MIN_ROWS, mean_of, plain
from newsrec.rank.inputs import same_vectors, told
from newsrec.types import Embeddings, EncoderSpec

_FILE, _FORMAT, _VERSION = "means.safetensors", "newsrec-means", "1"
_COUNTS = "articles"


@dataclass(frozen=True, slots=True, eq=False)
class LanguageMeans:
    """By view, the mean vector of all articles of each language as ``encoder`` sees them.

    ``means[view] (n_languages, dim) float64``, ``counts (n_languages,) int64``: the most articles
    behind a mean of each. Languages of fewer than `newsrec.rank.centre.MIN_ROWS` articles have
    none.
    """

    encoder: EncoderSpec
    languages: tuple[str, ...]
    means: Mapping[str, NDArray[np.float64]]
    counts: NDArray[np.int64]

    def __post_init__(self) -> None:
        n = len(self.languages)
        if self.counts.shape != (n,):
            raise DataError(f"LanguageMeans.counts: {self.counts.shape}, expected ({n},)")
        for view, found in self.means.items():
            if found.shape != (n, self.encoder.dim):
                raise DataError(
                    f"LanguageMeans.means[{view!r}]: {found.shape}, expected "
                    f"({n}, {self.encoder.dim})"
                )

    @classmethod
    def of(cls, views: Mapping[str, Mapping[str, Embeddings]]) -> LanguageMeans:
        """``views``: by view and language (ISO 639-3), all articles of a corpus.

        `ConfigError` without any, and for those of two encoders.
        """
        every = [found for languages in views.values() for found in languages.values()]
        if not every:
            raise ConfigError("no vectors, expected those of a view in a language or more")
        first = every[0].spec.encoder
        for found in every:
            if not same_vectors(found.spec.encoder, first):
                raise ConfigError(
                    f"vectors of {told(found.spec.encoder)} beside those of {told(first)}: means "
                    "are those of one encoder"
                )
        sizes = {
            language: [int(np.count_nonzero(view[language].present)) if language in view else 0
                       for view in views.values()]
            for language in dict.fromkeys(code for view in views.values() for code in view)
        }  # fmt: skip
        kept = tuple(language for language, found in sizes.items() if min(found) >= MIN_ROWS)
        counts = np.array([max(sizes[language]) for language in kept], np.int64)
        means = {view: _means([found[language] for language in kept], first.dim)
                 for view, found in views.items()}  # fmt: skip
        return cls(first, kept, means, counts)

    def removed(self, view: str, languages: Sequence[str]) -> NDArray[np.float32]:
        """What articles of each of ``languages (k,)`` lose: ``(k, dim) float32``.

        A language without a mean of its own loses that of all articles of the others, as a
        language of few rows does in `newsrec.rank.centre.without_means`; where no language has a
        mean it is left in. `ConfigError` for a view that is not known.
        """
        if view not in self.means:
            raise unknown_name("view of these means", view, tuple(self.means))
        known = self.means[view]
        total = max(int(self.counts.sum()), 1)
        overall = (known * self.counts[:, None]).sum(0) / total
        rows = {language: known[i] for i, language in enumerate(self.languages)}
        found = [rows.get(language, overall) for language in languages]
        return np.array(found, np.float32).reshape(len(found), self.encoder.dim)


def save_means(folder: Path, means: LanguageMeans) -> None:
    """Beside the ranker in ``folder`` (`newsrec.rank.save_ranker`), atomically."""
    from safetensors.numpy import save

    tensors = {_COUNTS: means.counts, **{f"view {k}": v for k, v in means.means.items()}}
    said = {
        "format": _FORMAT,
        "version": _VERSION,
        "encoder": json.dumps(asdict(means.encoder)),
        "languages": json.dumps(means.languages),
    }
    with atomic_file(folder / _FILE) as file:
        file.write(save({k: np.ascontiguousarray(v) for k, v in tensors.items()}, said))


def load_means(folder: Path) -> LanguageMeans | None:
    """What `save_means` left in ``folder``, None without it; `StaleCacheError` when it is damaged
    or of another version."""
    path = folder / _FILE
    if not path.is_file():
        return None
    try:
        said, tensors = _read(path)
        if (said.get("format"), said.get("version")) != (_FORMAT, _VERSION):
            raise ValueError(f"format {said.get('format')!r} version {said.get('version')!r}, "
                             f"expected {_FORMAT!r} version {_VERSION!r}")  # fmt: skip
        encoder = json.loads(said["encoder"])
        spec = EncoderSpec(**{**encoder, "levels": tuple(encoder["levels"])})
        views = {k.removeprefix("view "): v for k, v in tensors.items() if k != _COUNTS}
        return LanguageMeans(spec, tuple(json.loads(said["languages"])), views, tensors[_COUNTS])
    except Exception as error:  # whatever is wrong with the file, the remedy is the same
        raise StaleCacheError(f"{path}: {one_line(error)}; train again") from error


def _read(path: Path) -> tuple[dict[str, str], dict[str, NDArray[Any]]]:
    from safetensors import safe_open

    with safe_open(path, "np") as file:
        names = list(file.keys())
        return file.metadata() or {}, {name: file.get_tensor(name) for name in names}


def _means(matrices: Sequence[Embeddings], dim: int) -> NDArray[np.float64]:
    """``(n, dim)``."""
    found = [mean_of([plain(one)]) for one in matrices]
    return np.array(found, np.float64).reshape(len(found), dim)
