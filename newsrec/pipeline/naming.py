"""What the clusters of a corpus are called: found once a language, then read."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from newsrec.cluster.keywords import cluster_keywords, count_words
from newsrec.cluster.label import Label, Labeller
from newsrec.cluster.shelf import ClusteredShelf
from newsrec.corpus import Corpus
from newsrec.files import data_root, write_json
from newsrec.pipeline.vectors import Vectors
from newsrec.types import Texts

_FORMAT = 1


def _said(label: Label, language: str) -> str:
    own = not label.text or label.language == language
    return label.text if own else f"{label.text} [{label.language}]"


class Naming:
    """Names in any language for the clusters of ``shelf``, whose articles are the corpus's rows.

    Themes and topics are named by phrases, the finest clusters by a headline. What was found is
    kept under ``data/clusters``; a file that is damaged is made again.
    """

    def __init__(self, corpus: Corpus, vectors: Vectors, shelf: ClusteredShelf) -> None:
        self._corpus, self._vectors, self._shelf = corpus, vectors, shelf
        spoken = shelf.made.get("languages") or corpus.languages
        self._languages = tuple(code for code in spoken if code in corpus.languages)

    def names(self, level: int, language: str) -> tuple[str, ...]:
        """``(k,)``: what each cluster of ``level``, not the finest, is called in ``language``.

        A name in another language says so (``[fin]``): nothing like it is written in this one.
        """
        made = self._kept(
            f"names{level}", language,
            lambda: [_said(label, language) for label in self._labeller.label(level, language)],
        )  # fmt: skip
        return tuple(made)

    def headlines(self, language: str) -> tuple[str, ...]:
        """``(k,)``: for each of the finest clusters the title nearest to its centre, in
        ``language`` where it has one there, else in the first of the corpus's that it has."""
        found = self._kept("headlines", language, lambda: self._titles(language))
        return tuple(found)

    def heads(self, language: str) -> list[list[int]]:
        """For each of the finest clusters the articles to show first: the nearest to its centre of
        every language, ``language`` first."""
        level = self._shelf.tree.n_levels - 1
        medoids = self._labeller.medoids(level)
        order = [code for code in dict.fromkeys((language, *self._languages)) if code in medoids]
        rows = np.stack([medoids[code] for code in order], axis=1)
        return [list(dict.fromkeys(row[row >= 0].tolist())) for row in rows]

    def keywords(self, level: int, language: str, k: int = 6) -> list[list[str]]:
        """The ``k`` words that tell each cluster of ``level`` from the others, all languages, those
        of ``language`` in the place of their translations."""
        found = cluster_keywords(
            self._shelf.tree, level, self._counts, language=language, k=k, embed=self._embed
        )
        return [[word.word for word in words] for words in found]

    @cached_property
    def _texts(self) -> dict[str, Texts]:
        return {code: self._corpus.texts(code) for code in self._languages}

    @cached_property
    def _labeller(self) -> Labeller:
        matrices = {code: self._vectors.stored(code).vectors for code in self._languages}
        return Labeller(self._shelf.tree, self._texts, matrices, self._embed, self._cut)

    @cached_property
    def _counts(self) -> list[Any]:
        return [count_words(texts, self._cut) for texts in self._texts.values()]

    @cached_property
    def _cut(self) -> Callable[[str], list[str]] | None:
        """The built-in encoder cuts scripts without spaces where no library is installed."""
        return getattr(self._vectors.encoder, "cut", None)

    def _embed(self, phrases: Any) -> NDArray[np.float32]:
        return np.asarray(self._vectors.encoder.encode(list(phrases)), np.float32)

    def _titles(self, language: str) -> list[str]:
        level = self._shelf.tree.n_levels - 1
        medoids = self._labeller.medoids(level)
        order = [code for code in (language, *self._languages) if code in medoids]
        titles = [""] * self._shelf.tree.n_clusters[level]
        for code in reversed(order):
            for cluster, row in enumerate(medoids[code].tolist()):
                if row >= 0:
                    titles[cluster] = self._texts[code].title[row]
        return titles

    def _kept(self, what: str, language: str, make: Callable[[], list[str]]) -> list[str]:
        path = self._folder / f"{what}-{language}.json"
        try:
            found = json.loads(path.read_text("utf-8"))
            if found["format"] == _FORMAT:
                return [str(name) for name in found["names"]]
        except (OSError, ValueError, KeyError, TypeError):
            pass  # not there, or not whole
        names = make()
        write_json(path, {"format": _FORMAT, "names": names})
        return names

    @cached_property
    def _folder(self) -> Path:
        """Belongs to these clusters of these texts in this encoder's space."""
        tree, spec = self._shelf.tree, self._vectors.encoder.spec
        digest = hashlib.sha256(np.ascontiguousarray(tree.labels).tobytes())
        for part in (self._corpus.fingerprint, spec.hash, *self._languages):
            digest.update(part.encode())
        return data_root() / "clusters" / f"{self._corpus.name}-{digest.hexdigest()[:16]}"
