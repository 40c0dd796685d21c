"""MIND's news.tsv: eight columns, no header, quotes are text, entities as JSON."""

from __future__ import annotations

import json
from collections.abc import Iterator

from newsrec.corpus.archives import RawFile
from newsrec.corpus.catalogue import Catalogue
from newsrec.corpus.ids import refuse_long
from newsrec.corpus.rows import tsv_rows
from newsrec.errors import DataError

N_COLUMNS = 8


def add_news(catalogue: Catalogue, raw: RawFile, language: str) -> None:
    """Read one news file, whose texts are in ``language``."""
    for line, cells in tsv_rows(raw, N_COLUMNS, "MIND"):
        where = f"{raw.shown}:{line}"
        name = cells[0].strip().decode("utf-8")
        if not name or " " in name:
            raise DataError(f"{where}: id {name!r}, expected an article id without spaces (MIND)")
        refuse_long(name, f"{where}: id")
        row = catalogue.row(name)
        catalogue.tell(language, row, (cells[3].strip(), cells[4].strip(), None), where, name)
        category, subcategory = (cells[k].strip().decode("utf-8") for k in (1, 2))
        catalogue.describe(row, category, subcategory, _wikidata(cells[6:], where))


def _wikidata(cells: list[bytes], where: str) -> Iterator[str]:
    """Wikidata ids of the entities of title and abstract."""
    for cell in cells:
        if cell.strip() in (b"", b"[]"):
            continue
        try:
            entities = json.loads(cell)
            yield from [str(entity["WikidataId"]) for entity in entities]
        except (ValueError, TypeError, KeyError):
            found = cell[:60].decode("utf-8", "replace")
            raise DataError(
                f"{where}: entities {found!r}, expected a JSON list with WikidataId (MIND)"
            ) from None
