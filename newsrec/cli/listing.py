"""Recommendations as JSON or CSV."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING

from newsrec.cli.printable import printable

if TYPE_CHECKING:
    from newsrec.pipeline.page import Recommendations


def json(found: Recommendations) -> str:
    """``{user, language, fallback, items: [{rank, id, language, title, score, because}]}``."""
    from json import dumps

    return dumps(found.to_dict(), ensure_ascii=False, indent=2) + "\n"


def csv(found: Recommendations) -> str:
    """One line an item; the reason's fields are empty where there is none."""
    from csv import writer

    out = io.StringIO()
    lines = writer(out, lineterminator="\n")
    reason = ("id", "language", "title", "share")
    levels = levels_of(found)
    head = ["rank", "id", "language", "title", "score", *(f"because_{f}" for f in reason)]
    lines.writerow([*head, *levels])
    for item in found.items:
        why = item.because
        because = ["", "", "", ""] if why is None else [why.id, why.language, why.title, why.share]
        cells = [item.rank, item.id, item.language, item.title, item.score, *because]
        cells += [(item.clusters or {}).get(level, "") for level in levels]
        lines.writerow([printable(c) if isinstance(c, str) else c for c in cells])
    return out.getvalue()


def levels_of(found: Recommendations) -> list[str]:
    """The levels that the clusters of the list's articles are named at."""
    return list(dict.fromkeys(level for item in found.items for level in item.clusters or {}))


NOTHING = "no article to recommend: none on this shelf at this time that was not read"
