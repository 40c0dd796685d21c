"""A click log of one's own, in any of three shapes, to visits: who was shown what and when."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from newsrec.corpus.archives import OnProgress, counted
from newsrec.corpus.tables import Table, read_table
from newsrec.corpus.times import EXAMPLES, parse_one
from newsrec.errors import DataError

REQUIRED = ("user", "article", "time")
OPTIONAL = ("impression", "shown", "clicked")
_CLICKED = {"1": True, "true": True, "0": False, "false": False}


@dataclass(slots=True)
class Visit:
    """One list shown to one reader; ``shown`` maps an article id to whether it was clicked.

    ``complete`` says whether the log told what else was shown.
    """

    id: str
    user: str
    time: np.datetime64
    complete: bool
    shown: dict[str, bool] = field(default_factory=dict)


def read_clicks(
    path: Path, renamed: Mapping[str, str], on_progress: OnProgress | None = None
) -> list[Visit]:
    """Read visits, in order of time; ``on_progress(done, total)`` counts rows.

    A row is a click (``user article time``), a visit (with ``shown``: the ids shown, as a list or
    separated by spaces or ``|``; ``article`` then holds what was clicked in the same way, also
    several or none), or one shown article (with ``clicked`` 0 or 1). Without a column ``shown``, a
    text in ``article`` is one id, spaces and ``|`` and all; with it, ids that hold those need
    lists (JSON, Parquet). Rows of one ``impression`` are one visit; of several times it has the
    earliest.
    """
    table = read_table(path, REQUIRED, OPTIONAL, renamed)
    users, times = table.ids("user"), table.names("time")
    names, clicked = table.ids("impression"), table.texts("clicked")
    one_a_row = "clicked" in table.columns
    moments: dict[str, np.datetime64] = {}
    visits: dict[Any, Visit] = {}
    for k in counted(len(table), on_progress):
        user = users[k]
        if not user:
            raise DataError(f"{table.where(k)}: empty user, expected a reader id")
        moment = _moment(times[k], table, k, moments)
        key: Any = names[k] or ((user, moment) if one_a_row else k)
        visit = visits.get(key)
        if visit is None:
            name = names[k] or str(len(visits) + 1)
            visit = visits[key] = Visit(name, user, moment, one_a_row)
        if visit.user != user:
            raise DataError(
                f"{table.where(k)}: impression {names[k]!r} of reader {user!r}, before of "
                f"{visit.user!r}; expected one reader an impression"
            )
        visit.time = min(visit.time, moment)
        _add(visit, table, k, clicked[k] if one_a_row else None)
    return sorted(visits.values(), key=lambda visit: visit.time)


def _moment(text: str, table: Table, k: int, known: dict[str, np.datetime64]) -> np.datetime64:
    found = known.get(text)
    if found is None:
        parsed = parse_one(text)
        if parsed is None:
            raise DataError(f"{table.where(k)}: unknown time {text!r}, expected {EXAMPLES}")
        found = known[text] = parsed
    return found


def _add(visit: Visit, table: Table, k: int, clicked: str | None) -> None:
    articles, listed = _ids(table, "article", k), _ids(table, "shown", k)
    if not articles and (clicked is not None or not listed):
        raise DataError(f"{table.where(k)}: empty article, expected an article id")
    if clicked is not None and clicked.lower() not in _CLICKED:
        raise DataError(f"{table.where(k)}: clicked is {clicked!r}, expected 0 or 1")
    for name in listed:
        visit.shown.setdefault(name, False)
        visit.complete = True
    for name in articles:
        was = visit.shown.get(name, False)
        visit.shown[name] = was or clicked is None or _CLICKED[clicked.lower()]


def _ids(table: Table, column: str, k: int) -> list[str]:
    """A cell of ids: a list as it is; text is one id, or where the table has ``shown``, several,
    separated by ``|`` or else by spaces."""
    if column not in table.columns:
        return []
    cell = table.columns[column][k]
    if isinstance(cell, list):
        return [name for item in cell if (name := table.id_of(item, k, column))]
    parts = [cell]
    if "shown" in table.columns:
        text = table.name_of(cell, k, column)
        parts = text.split("|") if "|" in text else text.split()
    return [name for part in parts if (name := table.id_of(part, k, column))]
