"""xMIND: MIND's news translated (Iana et al. 2024); ``nid title abstract``, by language."""

from __future__ import annotations

from newsrec.corpus.archives import RawFile
from newsrec.corpus.catalogue import Catalogue
from newsrec.corpus.ids import refuse_long
from newsrec.corpus.rows import headed_rows
from newsrec.errors import DataError

COLUMNS = ("nid", "title", "abstract")


def add_xmind(catalogue: Catalogue, raw: RawFile, language: str) -> int:
    """Read one file of translations; an id that MIND's news lacks becomes a row of its own, of
    unknown category. Returns how many lines were read."""
    line = 0
    for line, (nid, title, abstract) in headed_rows(raw, COLUMNS, "xMIND"):
        name = nid.strip().decode("utf-8")
        if not name:
            raise DataError(f"{raw.shown}:{line}: empty nid, expected an article id (xMIND)")
        refuse_long(name, f"{raw.shown}:{line}: nid")
        parts = (title.strip(), abstract.strip(), None)
        catalogue.tell(language, catalogue.row(name), parts, f"{raw.shown}:{line}", name)
    if not line:
        raise DataError(f"{raw.shown}: no articles below the header, expected translations (xMIND)")
    return line
