"""News as it is being gathered from several files: ids become rows here, once."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from newsrec.errors import DataError
from newsrec.types import NewsTable, Ragged, Strings, Texts

#: Title, abstract, body; None where the source has no such column.
Parts = tuple[bytes, bytes, bytes | None]

_MAX_CODES = np.iinfo(np.int16).max


@dataclass(slots=True)
class Names:
    """Distinct names in order of appearance; "" is -1."""

    kind: str
    limit: int = np.iinfo(np.int32).max
    codes: dict[str, int] = field(default_factory=dict)

    def code(self, name: str) -> int:
        if not name:
            return -1
        found = self.codes.setdefault(name, len(self.codes))
        if found > self.limit:
            raise DataError(f"more than {self.limit} different names of {self.kind}: {name!r}")
        return found


@dataclass(slots=True)
class Catalogue:
    """Rows of news and their texts by language; `add` and `tell` grow it, `table` and `texts`
    freeze it."""

    keep_first: bool = False
    rows: dict[str, int] = field(default_factory=dict)
    category: list[int] = field(default_factory=list)
    subcategory: list[int] = field(default_factory=list)
    story: list[int] = field(default_factory=list)
    published: list[np.datetime64] = field(default_factory=list)
    entities: list[Sequence[int]] = field(default_factory=list)
    told: dict[str, dict[int, Parts]] = field(default_factory=dict)
    categories: Names = field(default_factory=lambda: Names("category", _MAX_CODES))
    subcategories: Names = field(default_factory=lambda: Names("subcategory", _MAX_CODES))
    stories: Names = field(default_factory=lambda: Names("story"))
    entity_names: Names = field(default_factory=lambda: Names("entity"))
    repeated: int = 0
    conflicting: int = 0

    def __len__(self) -> int:
        return len(self.rows)

    def row(self, name: str) -> int:
        """The row of an id, a new one with nothing known if there is none."""
        found = self.rows.setdefault(name, len(self.rows))
        if found == len(self.category):
            self.category.append(-1)
            self.subcategory.append(-1)
            self.story.append(-1)
            self.published.append(np.datetime64("NaT", "s"))
            self.entities.append(())
        return found

    def describe(self, row: int, category: str, subcategory: str, entities: Iterable[str]) -> None:
        """What MIND knows of an article in every language; the first file that says it counts."""
        if self.category[row] < 0:
            self.category[row] = self.categories.code(category)
        if self.subcategory[row] < 0:
            self.subcategory[row] = self.subcategories.code(subcategory)
        if not self.entities[row]:
            self.entities[row] = [self.entity_names.code(name) for name in dict.fromkeys(entities)]

    def tell(self, language: str, row: int, parts: Parts, where: str, name: str) -> None:
        """The text of a row in ``language``. A second text that differs is a `DataError`, or is
        passed over and counted with ``keep_first``."""
        told = self.told.setdefault(language, {})
        known = told.setdefault(row, parts)
        if known is parts:
            return
        self.repeated += 1
        if known != parts:
            self.conflicting += 1
            if not self.keep_first:
                old, new = (_glimpse(text) for text in _first_difference(known, parts))
                raise DataError(
                    f"{where}: id {name!r} again with another text in {language}: {new!r}, before "
                    f"{old!r}; expected one text an id. Pass --keep-first to keep the first"
                )

    def ids(self) -> list[str]:
        return list(self.rows)

    def table(self) -> NewsTable:
        """The rows as they are now."""
        entities = None
        if self.entity_names.codes:
            entities = Ragged.from_lists(self.entities)
        return NewsTable(
            ids=np.array(self.ids(), np.str_),
            category=np.array(self.category, np.int16),
            subcategory=np.array(self.subcategory, np.int16),
            category_names=tuple(self.categories.codes),
            subcategory_names=tuple(self.subcategories.codes),
            published=np.array(self.published, "datetime64[s]"),
            story=np.array(self.story, np.int32),
            entities=entities,
            entity_names=tuple(self.entity_names.codes),
        )

    def present(self, language: str) -> NDArray[np.bool_]:
        """Which rows have text in ``language``, ``(n_news,)``."""
        found = np.zeros(len(self), np.bool_)
        told = self.told[language]
        found[[row for row, parts in told.items() if any(parts)]] = True
        return found

    def texts(self, language: str) -> Texts:
        """The shelf in ``language``."""
        told = self.told[language]
        nothing: Parts = (b"", b"", None)
        rows = [told.get(row, nothing) for row in range(len(self))]
        title, abstract, body = zip(*rows, strict=True) if rows else ((), (), ())
        has_body = any(text is not None for text in body)
        return Texts(
            language=language,
            title=_packed(title),
            abstract=_packed(abstract),
            present=self.present(language),
            body=_packed([text or b"" for text in body]) if has_body else None,
        )


def _packed(texts: Sequence[bytes]) -> Strings:
    lengths = np.fromiter((len(text) for text in texts), np.int64, len(texts))
    return Strings(Ragged.from_lengths(np.frombuffer(b"".join(texts), np.uint8), lengths))


def _first_difference(old: Parts, new: Parts) -> tuple[bytes, bytes]:
    return next(((a or b"", b or b"") for a, b in zip(old, new, strict=True) if a != b), (b"", b""))


def _glimpse(text: bytes, width: int = 40) -> str:
    decoded = text.decode("utf-8", "replace")
    return decoded if len(decoded) <= width else decoded[: width - 1] + "…"
