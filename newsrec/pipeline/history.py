"""What a reader has read, as vectors, each article in a language it has text in."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from newsrec.corpus import Corpus
from newsrec.corpus.readers import Reading
from newsrec.pipeline.request import Request
from newsrec.pipeline.vectors import Vectors

#: The newest clicks that count (protocol of 004: 50).
LIMIT = 50


@dataclass(frozen=True, slots=True, eq=False)
class History:
    """Oldest first: news ``rows (h,)``, the ``languages`` read in, ``vectors (h, dim)``."""

    rows: NDArray[np.int32]
    languages: tuple[str, ...]
    vectors: NDArray[np.float32]


def history(
    corpus: Corpus, vectors: Vectors, request: Request, read: Reading | None
) -> History | None:
    """The newest clicks that have text, or None when there is none."""
    if read is None:
        return None
    spoken = languages(corpus, request, read)
    kept = [i for i, language in enumerate(spoken) if language][-LIMIT:]
    if not kept:
        return None
    rows, chosen = read.rows[kept], tuple(spoken[i] for i in kept)
    return History(rows, chosen, vectors.at(rows, chosen))


def languages(corpus: Corpus, request: Request, read: Reading) -> list[str]:
    """For each article read, the language to read it in; "" where it has no text.

    The one asked for, and no other; without one: that in which it was read, then the one the
    reader reads most, English, the shelf's, and whatever else the corpus has.
    """
    own = [corpus.languages[place] if place >= 0 else "" for place in read.language]
    if request.history_language is not None:
        own, order = [""] * len(own), [request.history_language]
    else:
        most = [max(set(own) - {""}, key=own.count)] if any(own) else []
        known = [x for x in ("eng", *request.languages) if x in corpus.languages]
        order = list(dict.fromkeys([*most, *known, *corpus.languages]))
    present = {language: corpus.texts(language).present[read.rows] for language in order}

    def readable(i: int, mine: str) -> str:
        wanted = [mine, *order] if mine else order
        return next((language for language in wanted if present[language][i]), "")

    return [readable(i, mine) for i, mine in enumerate(own)]
