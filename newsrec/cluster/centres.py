"""Articles that have vectors in several languages, and the centres of their clusters."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from newsrec.errors import DataError
from newsrec.types.embeddings import unit_rows
from newsrec.types.texts import Texts

Floats = NDArray[np.floating]
Rows = NDArray[np.int64]
_BLOCK = 16_384


class Articles:
    """``texts`` and ``vectors``, a matrix ``(n_news, dim)`` a language.

    From every language its mean vector is removed, so that no direction of a language decides what
    is near. Raises `DataError` where rows do not match or a language has no vectors.
    """

    def __init__(self, texts: Mapping[str, Texts], vectors: Mapping[str, Floats]) -> None:
        if not texts:
            raise DataError("no texts: expected those of one language at least")
        for language, one in texts.items():
            if language not in vectors:
                raise DataError(
                    f"texts in {language} but no vectors; found vectors: {', '.join(vectors)}"
                )
            if len(vectors[language]) != len(one):
                raise DataError(
                    f"vectors[{language}]: {len(vectors[language])} rows, the texts {len(one)}"
                )
        self.texts = dict(sorted(texts.items()))
        self._vectors = vectors
        if len({len(one) for one in texts.values()}) > 1:
            raise DataError("texts of different languages have different numbers of rows")

    def __len__(self) -> int:
        return len(next(iter(self.texts.values())))

    @property
    def dim(self) -> int:
        return int(next(iter(self._vectors.values())).shape[1])

    @cached_property
    def means(self) -> dict[str, NDArray[np.float32]]:
        """The mean unit vector of every language, ``(dim,)``."""
        found = {}
        for language, one in self.texts.items():
            total = np.zeros(self._vectors[language].shape[1])
            for rows in _blocks(one.rows):
                total += unit_rows(self._vectors[language][rows]).sum(0, dtype=np.float64)
            # A shelf of one article has no mean to remove.
            few = len(one.rows) < 2
            found[language] = (total * 0 if few else total / len(one.rows)).astype(np.float32)
        return found

    def inside(self, language: str, rows: Rows) -> NDArray[np.float32]:
        """``(k, dim)``: unit vectors of ``rows`` in ``language`` without its mean."""
        return unit_rows(self._vectors[language][rows]) - self.means[language]

    def over_languages(self, rows: Rows) -> NDArray[np.float32]:
        """``(k, dim)``: the mean of the languages a row has text in, 0 where it has none."""
        total = np.zeros((len(rows), self.dim), np.float32)
        number = np.zeros(len(rows), np.float32)
        for language, one in self.texts.items():
            here = np.flatnonzero(one.present[rows])
            total[here] += self.inside(language, rows[here])
            number[here] += 1
        return np.asarray(total / np.maximum(number, 1)[:, None], np.float32)

    def sums(self, rows: Rows, labels: NDArray[np.integer], k: int) -> NDArray[np.float64]:
        """``(k, dim)``: sums of the vectors of ``rows`` by ``labels (len(rows),)``."""
        total = np.zeros((k, self.dim))
        for start in range(0, len(rows), _BLOCK):
            order = start + np.argsort(labels[start : start + _BLOCK], kind="stable")
            first = np.flatnonzero(np.diff(labels[order], prepend=-1))
            found = self.over_languages(rows[order]).astype(np.float64)
            total[labels[order][first]] += np.add.reduceat(found, first, axis=0)
        return total

    def alike(self, language: str, rows: Rows, members: Rows) -> Floats:
        """``(k,)``: cosine of ``rows`` in ``language`` with the mean of ``members`` in all
        languages. Means are left in: of a shelf of few articles they are most of what there is."""
        total = np.zeros(self.dim)
        for one, texts in self.texts.items():
            here = members[texts.present[members]]
            total += unit_rows(self._vectors[one][here]).sum(0, dtype=np.float64)
        return np.asarray(unit_rows(self._vectors[language][rows]) @ unit(total))

    def nearest(self, language: str, towards: Floats, k: int) -> Rows:
        """The ``k`` rows with text in ``language`` nearest to ``towards (dim,)``."""
        rows = self.texts[language].rows
        near = np.concatenate(
            [unit(self.inside(language, part)) @ towards for part in _blocks(rows)] or [np.zeros(0)]
        )
        return rows[np.lexsort((rows, -np.round(near, 6)))[:k]]


def unit(rows: Floats) -> NDArray[np.float64]:
    """Rows of length 1; a row without length stays zero."""
    length = np.linalg.norm(rows, axis=-1, keepdims=True)
    return np.asarray(rows / np.where(length > 1e-9, length, np.inf), np.float64)


def _blocks(rows: Rows) -> list[Rows]:
    return [rows[start : start + _BLOCK] for start in range(0, len(rows), _BLOCK)]
