"""Pairs of articles that somebody judged: how much are these two about the same?"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from newsrec.corpus.tables import Table, read_table
from newsrec.errors import DataError
from newsrec.languages import canonical

_BY_ID = ("id1", "id2")
_BY_TEXT = ("text1", "text2", "lang1", "lang2")
_SAME = {"1": True, "true": True, "0": False, "false": False}

#: OVERALL of SemEval-2022 task 8: from 1, the same story, to 4, nothing in common.
BEST, WORST = 1.0, 4.0


@dataclass(frozen=True, slots=True, eq=False)
class JudgedPairs:
    """``pairs (m, 2)`` of ``articles``, ids, or ``(language, text)`` where the file brings texts.

    ``apart (m,)``: 0 the same story … 3 nothing in common; SemEval's OVERALL less 1, rounded;
    of a yes-or-no judgement 0 or 3.
    """

    articles: tuple[str, ...]
    languages: tuple[str, ...]
    pairs: NDArray[np.int64]
    apart: NDArray[np.int64]

    @property
    def by_text(self) -> bool:
        """Whether ``articles`` are texts, in ``languages``; else they are ids."""
        return bool(self.languages)

    def grade(self, n_levels: int) -> NDArray[np.int64]:
        """Down to how many of ``n_levels`` a pair belongs together, ``(m,)``.

        Very similar at all levels, somewhat similar at all but the finest, somewhat dissimilar at
        the coarsest of three only (paper 000 §4: = VS, ≥ SS, ≥ SD).
        """
        return np.clip(n_levels - self.apart, 0, n_levels) * (self.apart < 3)


def read_pairs(path: Path) -> JudgedPairs:
    """A table (TSV, CSV, JSONL, Parquet) with ``id1, id2`` or ``text1, text2, lang1, lang2``, and
    ``overall`` (1 to 4, as in SemEval-2022 task 8) or ``same`` (0 or 1).

    Raises `DataError` for other columns and for a judgement that is none, with its line.
    """
    columns = (*_BY_ID, *_BY_TEXT, "overall", "same")
    table = read_table(path, (), columns, quotes_are_text=True)
    has = table.columns
    by_text = all(name in has for name in _BY_TEXT)
    if not by_text and not all(name in has for name in _BY_ID):
        raise DataError(
            f"{path}: columns {', '.join(has) or 'of other names'}; expected id1, id2 (articles of "
            "the corpus) or text1, text2, lang1, lang2"
        )
    if "overall" not in has and "same" not in has:
        raise DataError(f"{path}: no judgement; expected a column overall (1 to 4) or same (0, 1)")
    apart = np.array([_apart(table, k) for k in range(len(table))], np.int64)
    sides = [_side(table, i, by_text) for i in ("1", "2")]
    places: dict[tuple[str, str], int] = {}
    pairs = np.array(
        [
            [places.setdefault(one, len(places)) for one in pair]
            for pair in zip(*sides, strict=True)
        ],
        np.int64,
    ).reshape(-1, 2)
    if not len(pairs):
        raise DataError(f"{path}: no pair")
    languages = tuple(language for language, _ in places) if by_text else ()
    return JudgedPairs(tuple(text for _, text in places), languages, pairs, apart)


def _side(table: Table, i: str, by_text: bool) -> list[tuple[str, str]]:
    """``(language, text)`` or ``("", id)`` of one side of every pair."""
    if not by_text:
        return [("", name) for name in table.ids(f"id{i}")]
    codes: dict[str, str] = {}
    found = []
    for k, (text, spoken) in enumerate(
        zip(table.texts(f"text{i}"), table.names(f"lang{i}"), strict=True)
    ):
        if spoken not in codes:
            codes[spoken] = canonical(spoken, f"{table.where(k)}: lang{i}")
        if not text:
            raise DataError(f"{table.where(k)}: empty text{i}, expected an article")
        found.append((codes[spoken], text))
    return found


def _apart(table: Table, k: int) -> int:
    """0 … 3 for the judgement in row ``k``."""
    if "overall" in table.columns:
        text = table.text_of(table.columns["overall"][k], k, "overall")
        try:
            value = float(text)
            if BEST <= value <= WORST:
                return int(np.floor(value - BEST + 0.5))
        except ValueError:
            pass
        raise DataError(
            f"{table.where(k)}: overall {text!r}, expected a number from 1 (the same story) to 4"
        )
    text = table.text_of(table.columns["same"][k], k, "same").lower()
    if text not in _SAME:
        raise DataError(f"{table.where(k)}: same {text!r}, expected 1 or 0")
    return 0 if _SAME[text] else 3
