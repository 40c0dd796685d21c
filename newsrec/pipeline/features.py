"""What each side of an experiment reads: a shelf in one language or several, and its readers.

A shelf of one language is that language's matrix as it is. A mixed shelf (``eng+fin``) shows each
article in the first of its languages that the article has text in. Histories are read in one
language, or each click in its own; several are stacked, present rows only, one matrix after the
other.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from newsrec.corpus import Corpus
from newsrec.types import Embeddings, Features, NewsTable, Strings, Texts

Ints = NDArray[np.int64]

#: ISO 639-2 for "multiple languages".
MIXED = "mul"


@dataclass(frozen=True, slots=True, eq=False)
class Stack:
    """Rows taken from several languages: row ``i`` is news ``rows[i]`` in ``languages[of[i]]``.

    ``of (m,)`` is -1 where no language has text. ``whole``: the stack is all rows of one language,
    so its matrix is used as it is.
    """

    languages: tuple[str, ...]
    rows: Ints
    of: Ints
    whole: bool

    @property
    def code(self) -> str:
        return self.languages[0] if self.whole else MIXED

    def vectors(self, get: Callable[[str], Embeddings]) -> Embeddings:
        """``(m, dim)``; ``get`` gives all news in a language."""
        if self.whole:
            return get(self.languages[0])
        first = get(self.languages[0])
        stacked = np.zeros((len(self.rows), first.vectors.shape[1]), first.vectors.dtype)
        present = np.zeros(len(self.rows), np.bool_)
        for i, language in enumerate(self.languages):
            found, at = get(language), np.flatnonzero(self.of == i)
            stacked[at] = found.vectors[self.rows[at]]
            present[at] = found.present[self.rows[at]]
        return Embeddings(stacked, present, replace(first.spec, language=MIXED))

    def texts(self, corpus: Corpus) -> Texts:
        """The same rows as texts."""
        if self.whole:
            return corpus.texts(self.languages[0])
        parts = [corpus.texts(language) for language in self.languages]

        def column(name: str) -> Strings:
            strings = [getattr(part, name) for part in parts]
            found = zip(self.of.tolist(), self.rows.tolist(), strict=True)
            return Strings.pack("" if i < 0 or strings[i] is None else strings[i][row]
                                for i, row in found)  # fmt: skip

        body = column("body") if any(part.body is not None for part in parts) else None
        present = np.zeros(len(self.rows), np.bool_)
        for i, part in enumerate(parts):
            at = np.flatnonzero(self.of == i)
            present[at] = part.present[self.rows[at]]
        return Texts(MIXED, column("title"), column("abstract"), present, body)


def shelf_stack(corpus: Corpus, languages: Sequence[str]) -> Stack:
    """One row per article, in the first of ``languages`` that has its text."""
    n = len(corpus.news)
    of = np.full(n, -1, np.int64)
    for i, language in reversed(list(enumerate(languages))):
        of[corpus.texts(language).present] = i
    return Stack(tuple(languages), np.arange(n), of, len(languages) == 1)


def history_stack(
    corpus: Corpus, clicks: NDArray[np.integer], spoken: NDArray[np.integer]
) -> tuple[Stack, Ints | None]:
    """The rows that ``clicks (nnz,)``, news rows, stand for, and which one each click is.

    ``spoken (nnz,)`` indexes ``corpus.languages``. With one language nothing is stacked and the
    second value is None: a click is its news row.
    """
    used = np.unique(spoken)
    languages = tuple(corpus.languages[i] for i in used)
    if len(used) == 1:
        return shelf_stack(corpus, languages), None
    parts, starts, place = [], 0, np.full(len(clicks), -1, np.int64)
    for i, language in zip(used, languages, strict=True):
        present = corpus.texts(language).present
        lookup = np.where(present, np.cumsum(present) - 1 + starts, -1)
        here = spoken == i
        place[here] = lookup[clicks[here]]
        parts.append(np.flatnonzero(present))
        starts += len(parts[-1])
    of = np.repeat(np.arange(len(parts)), [len(part) for part in parts])
    rows = np.concatenate(parts) if parts else np.zeros(0, np.int64)
    return Stack(languages, rows, of, False), place


def make_features(
    news: NewsTable,
    shelf: Stack,
    history: Stack,
    history_rows: Ints | None,
    get: Mapping[str, Callable[[str], Embeddings]],
) -> Features:
    """`Features` of both sides; ``get``: how each view's vectors are had, nothing for rankers that
    use no vectors."""
    same = history.whole and shelf.whole and history.languages == shelf.languages
    candidates = {view: shelf.vectors(of) for view, of in get.items()}
    read = candidates if same else {view: history.vectors(of) for view, of in get.items()}
    return Features(
        news, read, candidates, history_rows,
        history_language=None if history.whole else history.of,
        shelf_language=None if shelf.whole else shelf.of,
    )  # fmt: skip
