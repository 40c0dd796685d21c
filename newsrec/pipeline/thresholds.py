"""Thresholds from judged pairs: the story of ``newsrec cluster tune``."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from newsrec.cluster.shelf import level_names
from newsrec.cluster.tune import Curve, pairs_of_stories, tune_levels
from newsrec.corpus import Corpus
from newsrec.corpus.pairs import JudgedPairs, read_pairs
from newsrec.errors import DataError
from newsrec.pipeline.clusters import shelf_today
from newsrec.pipeline.vectors import Vectors
from newsrec.protocols import Encoder
from newsrec.rank.centre import unit_rows, without_means
from newsrec.rank.sides import Side

OnProgress = Callable[[int, int], None]


def tuned_curves(
    pairs: Path | None,
    corpus: Corpus,
    vectors: Vectors,
    dims: Sequence[int],
    languages: Sequence[str],
    linkage: str = "average",
    on_progress: OnProgress | None = None,
) -> tuple[Curve, ...]:
    """By the judged pairs of a file, or (None) by what the corpus knows of its stories.

    ``dims`` are Matryoshka sizes of the encoder (`newsrec.cluster.levels.dims_of`).
    """
    if pairs is None:
        return tune_on_stories(corpus, vectors, dims, languages, linkage=linkage)
    judged = read_pairs(pairs)
    if not judged.by_text:
        return tune_on_corpus(judged, corpus, vectors, dims, languages, linkage=linkage)
    encoder = vectors.encoder
    return tune_on_texts(judged, encoder, dims, linkage=linkage, on_progress=on_progress)


def tune_on_texts(
    judged: JudgedPairs,
    encoder: Encoder,
    dims: Sequence[int],
    *,
    linkage: str = "average",
    on_progress: OnProgress | None = None,
) -> tuple[Curve, ...]:
    """A curve a level for pairs that bring their texts; each language without its mean."""
    parts, size = [], 512
    for start in range(0, len(judged.articles), size):
        parts.append(encoder.encode(list(judged.articles[start : start + size])))
        if on_progress is not None:
            on_progress(min(start + size, len(judged.articles)), len(judged.articles))
    _, language = np.unique(np.array(judged.languages), return_inverse=True)
    vectors = np.concatenate(parts)
    side = Side(vectors, np.ones(len(vectors), np.bool_), group=language.reshape(-1))
    centred = unit_rows(without_means(side)).at(np.arange(len(vectors)))
    present = np.all([np.any(centred[:, :dim] != 0, axis=1) for dim in dims], axis=0)
    return _tuned(centred, present, judged.pairs, judged.grade(len(dims)), dims, linkage)


def tune_on_corpus(
    judged: JudgedPairs,
    corpus: Corpus,
    vectors: Vectors,
    dims: Sequence[int],
    languages: Sequence[str] = (),
    *,
    linkage: str = "average",
) -> tuple[Curve, ...]:
    """A curve a level for pairs of a corpus's articles; the whole shelf is clustered."""
    today = shelf_today(corpus, vectors, languages or corpus.languages, dims)
    rows = corpus.news.rows(judged.articles).astype(np.int64)
    return _tuned(
        today.vectors, today.present, rows[judged.pairs], judged.grade(len(dims)), dims, linkage
    )


def tune_on_stories(
    corpus: Corpus,
    vectors: Vectors,
    dims: Sequence[int],
    languages: Sequence[str] = (),
    *,
    linkage: str = "average",
    seed: int = 42,
) -> tuple[Curve, ...]:
    """A curve a level from what the corpus knows: categories are themes, subcategories topics,
    stories stories; as many pairs apart as together."""
    news = corpus.news
    columns: dict[str, NDArray[np.integer]] = {
        "theme": news.category,
        "topic": news.subcategory,
        "story": news.story,
    }
    names = level_names(len(dims))
    lacking = [name for name in names if name not in columns or not np.any(columns[name] >= 0)]
    if lacking:
        raise DataError(
            f"corpus {corpus.name!r} knows no {lacking[0]} of any article (themes are categories, "
            "topics subcategories, stories story ids); judged pairs are needed: --pairs FILE"
        )
    today = shelf_today(corpus, vectors, languages or corpus.languages, dims)
    rng = np.random.default_rng(seed)
    drawn = [pairs_of_stories(columns[name], rng) for name in names]
    pairs = np.concatenate([found for found, _ in drawn])
    grade = np.zeros(len(pairs), np.int64)
    for name in names:  # a pair of one topic is of one theme, too
        at = np.asarray(columns[name], np.int64)[pairs]
        grade += (at[:, 0] == at[:, 1]) & (at[:, 0] >= 0)
    return _tuned(today.vectors, today.present, pairs, grade, dims, linkage)


def _tuned(
    vectors: NDArray[np.float32],
    present: NDArray[np.bool_],
    pairs: NDArray[np.int64],
    grade: NDArray[np.int64],
    dims: Sequence[int],
    linkage: str,
) -> tuple[Curve, ...]:
    """`tune_levels` over the rows that are ``present``; pairs of others are left out."""
    rows = np.flatnonzero(present)
    place = np.cumsum(present) - 1
    kept = present[pairs].all(axis=1)
    if not kept.any():
        raise DataError("none of the judged pairs has text for both its articles")
    return tune_levels(vectors[rows], dims, place[pairs[kept]], grade[kept], linkage=linkage)
