"""Each noun as files of a corpus folder, checked before it is written."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from newsrec.corpus.arrays import ArrayReader, ArrayWriter
from newsrec.errors import DataError
from newsrec.languages import canonical
from newsrec.types import Impressions, NewsTable, Texts


def write_news(write: ArrayWriter, news: NewsTable) -> None:
    """The table, and ``names.json`` with the category and entity names."""
    write.ids("news/ids", news.ids)
    write.array("news/category", news.category, np.int16)
    write.array("news/subcategory", news.subcategory, np.int16)
    write.array("news/published", news.published, "datetime64[s]")
    write.array("news/story", news.story, np.int32)
    if news.entities is not None:
        write.ragged("news/entities", news.entities)
    names = {
        "category": news.category_names,
        "subcategory": news.subcategory_names,
        "entity": news.entity_names,
    }
    write.json("news/names", names)


def read_news(read: ArrayReader) -> NewsTable:
    """What `write_news` wrote."""
    names = read.json("news/names")
    return NewsTable(
        ids=read.array("news/ids"),
        category=read.array("news/category"),
        subcategory=read.array("news/subcategory"),
        category_names=tuple(names["category"]),
        subcategory_names=tuple(names["subcategory"]),
        published=read.array("news/published"),
        story=read.array("news/story"),
        entities=read.ragged("news/entities") if read.has("news/entities") else None,
        entity_names=tuple(names["entity"]),
    )


def write_texts(write: ArrayWriter, shelf: Texts, n_news: int, languages: Sequence[str]) -> None:
    """One shelf; ``languages`` are those written before it."""
    if canonical(shelf.language) != shelf.language or shelf.language in languages:
        raise DataError(
            f"texts in {shelf.language!r}: expected one ISO 639-3 code, once; "
            f"already written: {', '.join(languages) or 'none'}"
        )
    if len(shelf) != n_news:
        raise DataError(
            f"texts in {shelf.language}: {len(shelf)} rows, the news table has {n_news}"
        )
    at = f"texts/{shelf.language}"
    write.strings(f"{at}/title", shelf.title)
    write.strings(f"{at}/abstract", shelf.abstract)
    write.array(f"{at}/present", shelf.present, np.bool_)
    if shelf.body is not None:
        write.strings(f"{at}/body", shelf.body)


def read_texts(read: ArrayReader, language: str) -> Texts:
    """What `write_texts` wrote."""
    at = f"texts/{language}"
    return Texts(
        language=language,
        title=read.strings(f"{at}/title"),
        abstract=read.strings(f"{at}/abstract"),
        present=read.array(f"{at}/present"),
        body=read.strings(f"{at}/body") if read.has(f"{at}/body") else None,
    )


def check_split(
    split: str,
    impressions: Impressions,
    spoken: NDArray[np.int16] | None,
    *,
    limits: tuple[int, int, int],
) -> None:
    """`DataError` for a row, reader or language that does not exist: ``limits`` are n_news, n_users
    and n_languages."""
    if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9_.-]*", split):
        raise DataError(f"split name {split!r}: expected letters, digits, '-', '_' and '.'")
    n_news, n_users, n_languages = limits
    columns: list[tuple[str, NDArray[Any], int]] = [
        ("candidates", impressions.candidates.values, n_news),
        ("history", impressions.history.values, n_news),
        ("user", impressions.user, n_users),
    ]
    if spoken is not None:
        if spoken.shape != impressions.history.values.shape:
            raise DataError(
                f"split {split}: history_language {spoken.shape}, expected "
                f"{impressions.history.values.shape} (one per history item)"
            )
        columns.append(("history_language", spoken, n_languages))
    for column, values, n in columns:
        if len(values) and (values.min() < 0 or values.max() >= n):
            raise DataError(
                f"split {split}: {column} from {values.min()} to {values.max()}, "
                f"expected 0 … {n - 1}"
            )


def write_split(
    write: ArrayWriter, split: str, impressions: Impressions, spoken: NDArray[np.int16] | None
) -> None:
    """One split; ``spoken (nnz of history,)`` is the language of each history item, or None."""
    at = f"splits/{split}"
    write.ids(f"{at}/ids", impressions.ids)
    write.array(f"{at}/user", impressions.user, np.int32)
    write.array(f"{at}/time", impressions.time, "datetime64[s]")
    write.ragged(f"{at}/history", impressions.history)
    write.array(f"{at}/history_of", impressions.history_of, np.int32)
    write.ragged(f"{at}/candidates", impressions.candidates)
    if impressions.clicked is not None:
        write.array(f"{at}/clicked", impressions.clicked, np.bool_)
    if spoken is not None:
        write.array(f"{at}/history_language", spoken, np.int16)


def read_split(read: ArrayReader, split: str) -> Impressions:
    """What `write_split` wrote, without the languages of the history."""
    at = f"splits/{split}"
    return Impressions(
        ids=read.array(f"{at}/ids"),
        user=read.array(f"{at}/user"),
        time=read.array(f"{at}/time"),
        history=read.ragged(f"{at}/history"),
        history_of=read.array(f"{at}/history_of"),
        candidates=read.ragged(f"{at}/candidates"),
        clicked=read.array(f"{at}/clicked") if read.has(f"{at}/clicked") else None,
    )
