"""The articles of a cluster with their text, as summarizers read them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from newsrec.cluster.sentences import is_sentence
from newsrec.errors import DataError
from newsrec.languages import canonical
from newsrec.types import Article, Summary, Texts


def articles_of(rows: NDArray[np.integer], shelves: Iterable[Texts]) -> list[Article]:
    """The articles ``rows (k,)`` in every language of ``shelves`` that has them."""
    return [
        Article(
            row=int(row),
            language=shelf.language,
            title=shelf.title[int(row)],
            abstract=shelf.abstract[int(row)],
            body="" if shelf.body is None else shelf.body[int(row)],
        )
        for shelf in shelves
        for row in rows
        if shelf.present[row]
    ]


def summary_of(sentences: Sequence[str], language: str, rows: Sequence[int], by: str) -> Summary:
    """``sentences`` as a text; a last full stop is added where one lacks it, so that two do not run
    into each other."""
    east = language in ("jpn", "cmn", "yue")
    texts = tuple(s if is_sentence(s) else s + ("。" if east else ".") for s in sentences)
    return Summary(("" if east else " ").join(texts), language, texts, tuple(rows), by)


def in_order(articles: Sequence[Article]) -> list[Article]:
    """Those that have text, by row and language, whatever order they came in.

    Raises `DataError` when there are none at all, and for a language that is no ISO 639-3 code.
    """
    if not articles:
        raise DataError("a summary of 0 articles; give those of a cluster, at least one")
    readable = [a for a in articles if (a.title + a.abstract + a.body).strip()]
    for language in {article.language for article in readable}:
        if canonical(language) != language:
            raise DataError(f"article in {language!r}, expected ISO 639-3: {canonical(language)!r}")
    return sorted(readable, key=lambda a: (a.row, a.language, a.title, a.abstract, a.body))


def spread(articles: Sequence[Article], language: str, most: int) -> list[Article]:
    """At most ``most`` of ``articles``: half of them in ``language`` where it has so many, the
    other languages alike, of each language evenly spaced ones in their order."""
    if len(articles) <= most:
        return list(articles)
    by_language: dict[str, list[Article]] = {}
    for article in articles:
        by_language.setdefault(article.language, []).append(article)
    quota = dict.fromkeys(by_language, 0)
    wanted = by_language.get(language, [])
    if wanted:
        quota[language] = min(len(wanted), max(1, most // 2))
    _share(quota, {code: len(texts) for code, texts in by_language.items()}, most)
    kept = []
    for code, texts in by_language.items():
        places = np.linspace(0, len(texts) - 1, quota[code]).round().astype(int)
        kept += [texts[place] for place in places]
    return sorted(kept, key=lambda a: (a.row, a.language, a.title, a.abstract, a.body))


def _share(quota: dict[str, int], sizes: dict[str, int], most: int) -> None:
    """Raise ``quota`` in turns, the smallest first, until ``most`` are shared out."""
    for _ in range(most - sum(quota.values())):
        open_to = [code for code, size in sizes.items() if quota[code] < size]
        if not open_to:
            return
        quota[min(open_to, key=lambda code: (quota[code], code))] += 1
