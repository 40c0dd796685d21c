"""Groups of translations as arrays: joined over equal English sides, held-out texts removed."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from newsrec.text.groups import Group
from newsrec.types import Ragged

_NOT_WORD = re.compile(r"[\W_]+")


def leak_key(text: str) -> str:
    """What two texts must share to count as the same: letters and digits, case folded."""
    return _NOT_WORD.sub("", text.casefold())


@dataclass(frozen=True, slots=True)
class Pool:
    """Training texts and their groups.

    texts: ``n_texts`` cleaned, distinct per language; language ``(n_texts,) int16`` into
    `languages`; groups: row -> texts that say the same; source ``(n_groups,) int16`` into
    `sources`; english ``(n_groups,) int32`` the English text of the group, -1 without one.
    """

    texts: list[str]
    language: NDArray[np.int16]
    languages: tuple[str, ...]
    groups: Ragged
    source: NDArray[np.int16]
    sources: tuple[str, ...]
    english: NDArray[np.int32]


class Gatherer:
    """Collects groups source by source; `pool` hands over the arrays."""

    def __init__(self, clean: Callable[[str], str], held: Collection[str]) -> None:
        self._clean, self._held = clean, held
        self._row: dict[tuple[str, str], int] = {}
        self._groups: dict[tuple[str, str], dict[int, None]] = {}
        self.dropped: dict[str, int] = {}

    def add(
        self,
        source: str,
        groups: Iterable[Group],
        *,
        pivot: str | None = "eng",
        only: Collection[str] | None = None,
    ) -> None:
        """Add a source; texts equal to a held-out one are dropped and counted.

        Groups whose text in the language `pivot` is the same become one group. `only` names the
        languages to keep, None keeps all.
        """
        dropped = self.dropped.get(source, 0)
        for number, group in enumerate(groups):
            rows: dict[int, None] = {}
            join = f"#{number}"
            for language, text in group:
                if only is not None and language not in only:
                    continue
                key = leak_key(text)
                if not key or key in self._held:
                    dropped += bool(key)
                    continue
                cleaned = " ".join(self._clean(text).split())
                if cleaned:
                    rows[self._row.setdefault((language, cleaned), len(self._row))] = None
                    if language == pivot:
                        join = cleaned
            if rows:
                self._groups.setdefault((source, join), {}).update(rows)
        self.dropped[source] = dropped

    def pool(self) -> Pool:
        """Groups of two texts or more, and lone English texts (for the teacher)."""
        texts = [text for _, text in self._row]
        languages = tuple(sorted({language for language, _ in self._row}))
        position = {language: i for i, language in enumerate(languages)}
        language = np.array([position[code] for code, _ in self._row], np.int16)
        sources = tuple(self.dropped)
        place = {source: i for i, source in enumerate(sources)}
        eng = position.get("eng", -1)
        lists, source_of, english = [], [], []
        for (source, _), rows in self._groups.items():
            members = list(rows)
            spoken = [row for row in members if language[row] == eng]
            if len(members) > 1 or spoken:
                lists.append(members)
                source_of.append(place[source])
                english.append(spoken[0] if spoken else -1)
        return Pool(
            texts,
            language,
            languages,
            ragged(lists),
            np.array(source_of, np.int16),
            sources,
            np.array(english, np.int32),
        )


def ragged(lists: Sequence[Sequence[int]]) -> Ragged:
    """Lists of row numbers as `Ragged` of int32."""
    offsets = np.zeros(len(lists) + 1, np.int64)
    np.cumsum([len(one) for one in lists], out=offsets[1:])
    values = np.fromiter((row for one in lists for row in one), np.int32, int(offsets[-1]))
    return Ragged(values, offsets)
