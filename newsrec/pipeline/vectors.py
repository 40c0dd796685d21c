"""The vectors of any language of a corpus, prepared for late fusion when first asked for."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from newsrec.corpus import Corpus
from newsrec.encode import EmbeddingStore, load_encoder
from newsrec.files import data_root
from newsrec.pipeline.stored import Words, getter
from newsrec.protocols import Encoder
from newsrec.rank.centre import mean_of, plain, sides, unit_rows, without_means
from newsrec.rank.search import Shelf
from newsrec.rank.sides import Side
from newsrec.types import Embeddings

#: What every encoder reads unless told otherwise (paper 004 §4: title and abstract).
VIEW = "title+abstract"


class Vectors:
    """``corpus`` as ``encoder`` sees it; missing vectors are encoded into ``store``.

    ``trust_remote_code``: for an encoder that is loaded by its name.

    ``centre`` as in `newsrec.rank.centre.sides`; with ``language`` no language wins by a
    bias that its vectors share. ``shelves``: the languages that one list mixes.
    """

    def __init__(
        self,
        corpus: Corpus,
        encoder: Encoder | str,
        store: EmbeddingStore | None = None,
        *,
        centre: str = "spec",
        shelves: Sequence[str] = (),
        trust_remote_code: bool = False,
        on_progress: Callable[[int, int], None] | None = None,
    ) -> None:
        self._corpus, self._on_progress = corpus, on_progress
        self._words: Words | None = None
        if isinstance(encoder, str):
            self._words = Words(encoder, trust_remote_code) if store is None else None
            encoder = load_encoder(encoder, trust_remote_code=trust_remote_code)
        self._encoder = encoder
        # A page is to be there at once; `newsrec encode` and `evaluate` read all of a file.
        self._store = EmbeddingStore(verify=False) if store is None else store
        self._centre = centre
        self._shelves = tuple(shelves)
        self._common: NDArray[np.float64] | None = None
        self._sides: dict[str, tuple[Side, str]] = {}

    @property
    def encoder(self) -> Encoder:
        """Who encodes."""
        return self._encoder

    @property
    def label(self) -> str:
        """How the encoder was named: ``nase:precision=int8``; by its spec where it was given."""
        return self._encoder.spec.name if self._words is None else self._words.encoder

    def beside(self, *, centre: str, shelves: Sequence[str]) -> Vectors:
        """The same vectors otherwise centred; encoder and store are shared."""
        other = Vectors(
            self._corpus, self._encoder, self._store, centre=centre, shelves=shelves,
            on_progress=self._on_progress,
        )  # fmt: skip
        other._words = self._words
        return other

    def stored(self, language: str) -> Embeddings:
        """All news in ``language`` as they were encoded."""
        return self._embeddings(language)

    def side(self, language: str) -> Side:
        """All news in ``language``: ``(n_news, dim)``."""
        return self._prepared(language)[0]

    def shelf(self, language: str, rows: NDArray[np.int64], *, once: bool = True) -> Shelf:
        """News ``rows (k,)`` in ``language``, ready to search, each story ``once``; large shelves
        are indexed, and the index is kept beside the embeddings."""
        side, key = self._prepared(language)
        return Shelf.of(
            side,
            rows,
            story=self._corpus.news.story if once else None,
            levels=self._encoder.spec.levels,
            folder=data_root() / "indexes",
            key=key,
        )

    def at(self, rows: NDArray[np.integer], languages: Sequence[str]) -> NDArray[np.float32]:
        """News ``rows (k,)``, each in its language: ``(k, dim)``."""
        found = np.empty((len(rows), self._encoder.spec.dim), np.float32)
        spoken = np.asarray(languages, np.str_)
        for language in dict.fromkeys(languages):
            here = np.flatnonzero(spoken == language)
            found[here] = self.side(language).at(rows[here])
        return found

    def _prepared(self, language: str) -> tuple[Side, str]:
        if language not in self._sides:
            found = self._embeddings(language)
            side = sides(found, found, centre=self._centre)[1]
            if self._centre == "language" and len(self._shelves) > 1:
                side = self._beside_others(found)
            others = "+".join(self._shelves) if len(self._shelves) > 1 else ""
            self._sides[language] = side, f"{found.spec.hash}-{self._centre}{others}"
        return self._sides[language]

    def _beside_others(self, found: Embeddings) -> Side:
        """Without its language's mean; a language of a few articles takes the mean of all shelves,
        since its own would say more about those articles than about the language."""
        if self._common is None:
            self._common = mean_of(plain(self._embeddings(shelf)) for shelf in self._shelves)
        side = without_means(plain(found), self._common)
        return unit_rows(side) if found.normalized else side

    def getter(self, view: str) -> Callable[[str], Embeddings]:
        """From a language to all news in it as the encoder reads ``view``."""
        return getter(
            self._corpus, self._encoder, view, self._store, self._words, self._on_progress
        )

    def _embeddings(self, language: str) -> Embeddings:
        return self.getter(VIEW)(language)
