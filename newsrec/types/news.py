"""The table of news: what is known of an article in every language."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from newsrec.errors import DataError
from newsrec.types.ragged import Ragged

NAT = np.datetime64("NaT", "s")


@dataclass(frozen=True, slots=True, eq=False)
class NewsTable:
    """``n_news`` articles; row ``i`` is the same article in every matrix and every `Texts`.

    ``ids (n_news,) str``, unique; ``category``, ``subcategory (n_news,) int16`` index their
    ``*_names`` (-1 unknown); ``published (n_news,) datetime64[s]`` (NaT unknown); ``story
    (n_news,) int32`` links articles that tell the same story, translations included (-1 unknown);
    ``entities``: `Ragged` of ``int32`` into ``entity_names`` (Wikidata ids), or None.
    """

    ids: NDArray[np.str_]
    category: NDArray[np.int16]
    subcategory: NDArray[np.int16]
    category_names: tuple[str, ...]
    subcategory_names: tuple[str, ...]
    published: NDArray[np.datetime64]
    story: NDArray[np.int32]
    entities: Ragged | None = None
    entity_names: tuple[str, ...] = ()
    _order: NDArray[np.int64] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        n = len(self.ids)
        for name in ("category", "subcategory", "published", "story"):
            if getattr(self, name).shape != (n,):
                raise DataError(f"NewsTable.{name}: {getattr(self, name).shape}, expected ({n},)")
        if self.entities is not None and len(self.entities) != n:
            raise DataError(f"NewsTable.entities: {len(self.entities)} lists, expected {n}")
        for name in ("category", "subcategory"):
            codes, names = getattr(self, name), getattr(self, f"{name}_names")
            if n and (codes.min() < -1 or codes.max() >= len(names)):
                raise DataError(f"NewsTable.{name}: code outside -1 … {len(names) - 1}")
        order = np.argsort(self.ids, kind="stable")
        ranked = self.ids[order]
        same = np.flatnonzero(ranked[1:] == ranked[:-1])
        if len(same):
            raise DataError(
                f"NewsTable.ids: {str(ranked[same[0]])!r} occurs twice, ids must be unique"
            )
        object.__setattr__(self, "_order", order)

    def __len__(self) -> int:
        return len(self.ids)

    def find(self, ids: Sequence[str] | NDArray[np.str_]) -> NDArray[np.int32]:
        """Rows of ``ids (k,)``, -1 where there is none."""
        wanted = np.asarray(ids, dtype=np.str_)
        if not len(self.ids) or not len(wanted):
            return np.full(len(wanted), -1, np.int32)
        at = np.searchsorted(self.ids, wanted, sorter=self._order)
        rows = self._order[np.minimum(at, len(self.ids) - 1)]
        return np.where(self.ids[rows] == wanted, rows, -1).astype(np.int32)

    def rows(self, ids: Sequence[str] | NDArray[np.str_]) -> NDArray[np.int32]:
        """Rows of ``ids (k,)``; `DataError` names the first id that is not in the table."""
        found = self.find(ids)
        missing = np.flatnonzero(found < 0)
        if len(missing):
            raise DataError(
                f"no article {str(ids[int(missing[0])])!r} among {len(self)} "
                f"({len(missing)} of {len(found)} ids unknown)"
            )
        return found
