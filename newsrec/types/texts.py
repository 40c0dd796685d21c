"""The text of the news in one language."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import overload

import numpy as np
from numpy.typing import NDArray

from newsrec.errors import ConfigError, DataError, StaleCacheError
from newsrec.types.ragged import Ragged


@dataclass(frozen=True, slots=True, eq=False)
class Strings(Sequence[str]):
    """``n`` strings as UTF-8 bytes end to end, so that a memmapped shelf costs nothing to open.

    ``data``: `Ragged` of ``uint8``; ``strings[i]`` decodes one. ``remedy`` is what to do when a
    row is damaged on disk, such as the command that writes it again.
    """

    data: Ragged
    remedy: str = ""

    @classmethod
    def pack(cls, strings: Iterable[str]) -> Strings:
        """Encode; lone surrogates become U+FFFD, so that what is stored is always valid UTF-8."""
        parts = [s.encode("utf-8", "surrogatepass") for s in strings]
        parts = [
            p if b"\xed" not in p else p.decode("utf-8", "replace").encode("utf-8") for p in parts
        ]
        lengths = np.fromiter((len(p) for p in parts), np.int64, len(parts))
        return cls(Ragged.from_lengths(np.frombuffer(b"".join(parts), np.uint8), lengths))

    def __len__(self) -> int:
        return len(self.data)

    @overload
    def __getitem__(self, i: int) -> str: ...
    @overload
    def __getitem__(self, i: slice) -> list[str]: ...
    def __getitem__(self, i: int | slice) -> str | list[str]:
        if isinstance(i, slice):
            return [self[k] for k in range(*i.indices(len(self)))]
        try:
            return self.data[i].tobytes().decode("utf-8")
        except UnicodeDecodeError as error:
            raise StaleCacheError(
                f"row {i} of {len(self)} texts is damaged: byte {error.start} is not UTF-8. "
                f"{self.remedy or 'Make again what it was read from'}"
            ) from None

    def __iter__(self) -> Iterator[str]:
        return (self[i] for i in range(len(self)))

    def take(self, rows: NDArray[np.integer]) -> list[str]:
        """The strings ``rows (k,)``, decoded."""
        return [self[int(i)] for i in rows]


VIEWS = ("title", "abstract", "body", "title+abstract")


@dataclass(frozen=True, slots=True, eq=False)
class Texts:
    """The shelf in one language: row ``i`` is article ``i`` of the `NewsTable`.

    ``language``: ISO 639-3; ``title``, ``abstract``, ``body``: `Strings` of ``n_news`` (empty where
    unknown; ``body`` may be None); ``present (n_news,) bool``: which rows have text here.
    """

    language: str
    title: Strings
    abstract: Strings
    present: NDArray[np.bool_]
    body: Strings | None = None

    def __post_init__(self) -> None:
        n = len(self.title)
        sizes = {"abstract": len(self.abstract), "present": len(self.present)}
        if self.body is not None:
            sizes["body"] = len(self.body)
        for name, found in sizes.items():
            if found != n:
                raise DataError(f"Texts[{self.language}].{name}: {found} rows, title has {n}")

    def __len__(self) -> int:
        return len(self.title)

    @property
    def rows(self) -> NDArray[np.int64]:
        """Rows that have text, ``(k,)``."""
        return np.flatnonzero(self.present)

    def view(self, view: str, rows: NDArray[np.integer] | None = None) -> list[str]:
        """What an encoder reads for ``rows`` (default: all that are present).

        ``title+abstract`` is ``title + " " + abstract`` (NaSE, paper 004 §4); a missing part is
        left out. Raises `ConfigError` for a view that is not one of `VIEWS`.
        """
        if view not in VIEWS:
            raise ConfigError(f"unknown view {view!r}; known: {', '.join(VIEWS)}")
        where = self.rows if rows is None else rows
        if view == "title+abstract":
            pairs = zip(self.title.take(where), self.abstract.take(where), strict=True)
            return [f"{t} {a}".strip() for t, a in pairs]
        column = {"title": self.title, "abstract": self.abstract, "body": self.body}[view]
        if column is None:
            raise DataError(f"Texts[{self.language}] has no body; use view 'title+abstract'")
        return column.take(where)
