"""A shelf of one's own: each article is a row of its own, present in its own language."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from newsrec.corpus.archives import OnProgress, counted
from newsrec.corpus.catalogue import Catalogue, Parts
from newsrec.corpus.tables import NO_TEXT, Table, read_table
from newsrec.corpus.times import EXAMPLES, parse_one
from newsrec.errors import DataError
from newsrec.languages import canonical

REQUIRED = ("id", "language", "title")
OPTIONAL = ("abstract", "body", "category", "subcategory", "published", "url", "story")
_TEXTS = ("title", "abstract", "body")
_IDS = ("id", "story")


@dataclass(frozen=True, slots=True, eq=False)
class Shelf:
    """``catalogue``, and for each of its rows the place in ``languages`` of the article's
    language: ``language_of (n_news,) int16``. In ``replaced`` texts NUL characters or lone
    surrogates became U+FFFD."""

    catalogue: Catalogue
    languages: tuple[str, ...]
    language_of: NDArray[np.int16]
    replaced: int = 0


def read_shelf(
    path: Path,
    renamed: Mapping[str, str],
    keep_first: bool = False,
    on_progress: OnProgress | None = None,
) -> Shelf:
    """Read articles from CSV, TSV, JSON lines or Parquet.

    Articles with one ``story`` tell the same, translations included; ``on_progress(done, total)``
    counts rows. Raises `DataError` for an id
    that comes twice with different texts or languages, and for an unknown language or time.
    """
    table = read_table(path, REQUIRED, OPTIONAL, renamed)
    catalogue = Catalogue(keep_first=keep_first)
    cells = {name: _cells(table, name) for name in (*REQUIRED, *OPTIONAL)}
    replaced = sum(_replace_no_text(cells[name]) for name in _TEXTS)
    codes: dict[str, str] = {}
    language_of: list[str] = []
    for k in counted(len(table), on_progress):
        name, where = cells["id"][k], table.where(k)
        if not name:
            raise DataError(f"{where}: empty id, expected an article id")
        spelled = cells["language"][k]
        if spelled not in codes:
            codes[spelled] = canonical(spelled, where)
        row = catalogue.row(name)
        if row == len(language_of):
            language_of.append(codes[spelled])
            _describe(catalogue, row, cells, k, table)
        elif language_of[row] != codes[spelled]:
            raise DataError(
                f"{where}: id {name!r} again in {codes[spelled]}, before in {language_of[row]}; "
                "expected an id of its own for each translation, linked by the column 'story'"
            )
        catalogue.tell(codes[spelled], row, _parts(cells, k, "body" in table.columns), where, name)
    languages = tuple(catalogue.told)
    places = {code: place for place, code in enumerate(languages)}
    of = np.array([places[code] for code in language_of], np.int16)
    return Shelf(catalogue, languages, of, replaced)


def _cells(table: Table, column: str) -> list[str]:
    if column in _TEXTS:
        return table.texts(column)
    return table.ids(column) if column in _IDS else table.names(column)


def _parts(cells: Mapping[str, list[str]], k: int, has_body: bool) -> Parts:
    title, abstract, body = (cells[name][k].encode("utf-8") for name in _TEXTS)
    return title, abstract, body if has_body else None


def _replace_no_text(texts: list[str]) -> int:
    """Replace, in place, what is no text by U+FFFD; in how many texts there was any."""
    bad = [k for k, text in enumerate(texts) if NO_TEXT.search(text)]
    for k in bad:
        texts[k] = NO_TEXT.sub("\ufffd", texts[k])
    return len(bad)


def _describe(
    catalogue: Catalogue, row: int, cells: Mapping[str, list[str]], k: int, table: Table
) -> None:
    catalogue.describe(row, cells["category"][k], cells["subcategory"][k], ())
    catalogue.story[row] = catalogue.stories.code(cells["story"][k])
    if published := cells["published"][k]:
        moment = parse_one(published)
        if moment is None:
            raise DataError(
                f"{table.where(k)}: unknown time {published!r} in 'published', expected {EXAMPLES}"
            )
        catalogue.published[row] = moment
