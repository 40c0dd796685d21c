"""What articles are labelled with: their category, or a column that their owner brings."""

from __future__ import annotations

import csv
from collections.abc import Iterable
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from newsrec.corpus import Corpus
from newsrec.errors import ConfigError, DataError, unknown_name

Codes = NDArray[np.int64]

#: Labels that a corpus has itself.
OWN = ("category", "subcategory")


def labels_of(corpus: Corpus, aspects: Iterable[str], file: Path | None) -> dict[str, Codes]:
    """``(n_news,)`` codes of each aspect, -1 unknown.

    ``file``: CSV with a column ``id`` and one for every aspect that is not of `OWN`; an article
    that it lacks, or an empty cell, is unknown. `ConfigError` for an aspect that nobody says,
    `DataError` for a file that is none.
    """
    wanted = tuple(aspects)
    brought = [aspect for aspect in wanted if aspect not in OWN]
    if brought and file is None:
        raise ConfigError(
            f"aspect {brought[0]!r}: the corpus does not say it; bring a CSV file with the columns "
            f"id,{','.join(brought)}: --labels FILE"
        )
    columns = _read(file, corpus) if file is not None and brought else {}
    for aspect in brought:
        if aspect not in columns:
            raise unknown_name(f"aspect (column of {file})", aspect, (*OWN, *columns))
    table = {"category": corpus.news.category, "subcategory": corpus.news.subcategory}
    return {
        aspect: table[aspect].astype(np.int64) if aspect in OWN else columns[aspect]
        for aspect in wanted
    }


def _read(file: Path, corpus: Corpus) -> dict[str, Codes]:
    rows = {id_: row for row, id_ in enumerate(corpus.news.ids.tolist())}
    codes: dict[str, dict[str, int]] = {}
    found: dict[str, Codes] = {}
    known = 0
    try:
        with file.open(encoding="utf-8-sig", newline="") as lines:
            reader = csv.DictReader(lines)
            names = list(reader.fieldnames or ())
            if "id" not in names:
                raise DataError(f"{file}:1: columns {', '.join(names) or 'none'}, expected id")
            for name in names:
                if name != "id":
                    found[name] = np.full(len(rows), -1, np.int64)
            for cells in reader:
                row = rows.get(cells["id"] or "")
                known += row is not None
                for name in found if row is not None else ():
                    label = (cells[name] or "").strip()
                    if label:
                        of = codes.setdefault(name, {})
                        found[name][row] = of.setdefault(label, len(of))
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise DataError(f"{file}: cannot be read as CSV ({error})") from None
    if not known:
        raise DataError(f"{file}: none of its ids is an article of corpus {corpus.name!r}")
    return found
