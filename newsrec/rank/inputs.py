"""What a head reads of an article: an encoder's vectors of some views, category, entities.

Names, not codes, are kept: a head trained on one corpus finds its categories and entities in
another by name, and what it has not seen is row 0, "unknown".
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from math import sqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray

from newsrec.errors import ConfigError, HeadError
from newsrec.rank.centre import CENTRES, sides
from newsrec.rank.sides import Side
from newsrec.types import Embeddings, EncoderSpec, Features, NewsTable

Ints = NDArray[np.int64]

#: Length that rows of length 1 are given, so that the dot product of two is 20 times their cosine:
#: a softmax over bare cosines cannot tell candidates apart.
UNIT_LENGTH = sqrt(20)

# What of an encoder may differ between training and use: not what its vectors mean.
_MAY_DIFFER = ("precision", "dtype", "levels")


@dataclass(frozen=True, slots=True)
class Inputs:
    """``views`` are read with ``encoder``'s ``dim`` (no views: no encoder, 0).

    ``centre`` as in `newsrec.rank.centre.sides`; ``length``: what rows are multiplied with after
    it. ``categories`` and ``entities`` name rows 1, 2, … of the head's tables; at most
    ``max_entities`` of an article are read, the first ones. No category or entity: only
    "unknown".
    """

    views: tuple[str, ...]
    dim: int
    encoder: EncoderSpec | None
    centre: str = "spec"
    length: float = 1.0
    categories: tuple[str, ...] = ()
    entities: tuple[str, ...] = ()
    max_entities: int = 8

    @classmethod
    def of(
        cls,
        features: Features,
        views: tuple[str, ...] = ("title+abstract",),
        *,
        centre: str = "spec",
        min_articles: int = 3,
        max_entities: int = 8,
    ) -> Inputs:
        """What ``features`` offer; entities count from ``min_articles`` articles on.

        `ConfigError` names a view that is missing, or two encoders.
        """
        if centre not in CENTRES:
            raise ConfigError(f"centre: {centre!r}, expected one of {', '.join(CENTRES)}")
        spec = None
        for view in views:
            for side, found in (("history", features.history), ("shelf", features.candidates)):
                this = _view(found, view, side).spec.encoder
                if spec is not None and not same_vectors(this, spec):
                    raise ConfigError(
                        f"{side} vectors of {view!r} are those of {told(this)}, others those of "
                        f"{told(spec)}: a head reads one encoder"
                    )
                spec = this
        return cls(
            views,
            0 if spec is None else spec.dim,
            spec,
            centre,
            UNIT_LENGTH if spec is not None and spec.normalized else 1.0,
            _used_categories(features.news),
            _frequent_entities(features.news, min_articles),
            max_entities,
        )

    def sides(self, features: Features) -> tuple[tuple[Side, Side], ...]:
        """``(history, shelf)`` of every view as the head reads it.

        `ConfigError` names both sides when ``features`` are not those of the head's encoder.
        """
        found = []
        for view in self.views:
            pair = (_view(features.history, view, "history"),
                    _view(features.candidates, view, "shelf"))  # fmt: skip
            for embeddings in pair:
                self.check(embeddings.spec.encoder)
            found.append(
                sides(
                    *pair,
                    centre=self.centre,
                    history_language=features.history_language,
                    shelf_language=features.shelf_language,
                    means=None if features.means is None else features.means.get(view),
                )
            )
        return tuple(found)

    @property
    def centred(self) -> str:
        """Which mean is taken out of the vectors: that of a ``language``, the ``global`` one, or
        ``none``; what ``spec`` comes to in `newsrec.rank.centre.sides`."""
        if self.encoder is None:
            return "none"
        if self.centre == "spec":
            return "language" if self.encoder.normalized else "none"
        return self.centre

    def check(self, encoder: EncoderSpec) -> None:
        """`ConfigError` names both when ``encoder`` is not the one that the head was trained on."""
        if self.encoder is not None and not same_vectors(encoder, self.encoder):
            raise HeadError(
                f"the head was trained on vectors of {told(self.encoder)}, these are of "
                f"{told(encoder)}: use that encoder, or train a head for this one"
            )

    def category_rows(self, news: NewsTable) -> Ints:
        """Table row of every article's category ``(n_news,)``, 0 unknown."""
        codes = _by_name(news.category_names, self.categories)
        return codes[news.category.astype(np.int64)]

    def entity_rows(self, news: NewsTable) -> Ints:
        """Table rows of every article's first known entities, ``(n_news, max_entities)``; 0 is
        none."""
        found = np.zeros((len(news), self.max_entities), np.int64)
        if news.entities is None or not self.entities:
            return found
        codes = _by_name(news.entity_names, self.entities)[news.entities.values]
        owner = news.entities.owner()[codes > 0]
        codes = codes[codes > 0]
        first = np.searchsorted(owner, owner)
        place = np.arange(len(owner)) - first
        keep = place < self.max_entities
        found[owner[keep], place[keep]] = codes[keep]
        return found

    def to_dict(self) -> dict[str, Any]:
        """Plain fields, ready for JSON; `from_dict` reads them back."""
        return asdict(self)

    @classmethod
    def from_dict(cls, fields: Mapping[str, Any]) -> Inputs:
        """What `to_dict` gave."""
        plain: dict[str, Any] = {
            k: tuple(v) if isinstance(v, list) else v for k, v in fields.items()
        }
        if plain["encoder"] is not None:
            encoder = dict(plain["encoder"])
            plain["encoder"] = EncoderSpec(**{**encoder, "levels": tuple(encoder["levels"])})
        return cls(**plain)


def told(spec: EncoderSpec) -> str:
    """An encoder in a few words for an error."""
    return f"{spec.name!r} ({spec.dim} dimensions, {spec.pooling}, revision {spec.revision})"


def same_vectors(one: EncoderSpec, other: EncoderSpec) -> bool:
    """Whether the vectors of both mean the same: all but precision, file type and levels."""
    return _essence(one) == _essence(other)


def _essence(spec: EncoderSpec) -> dict[str, object]:
    return {k: v for k, v in asdict(spec).items() if k not in _MAY_DIFFER}


def _view(found: Mapping[str, Embeddings], view: str, side: str) -> Embeddings:
    if view not in found:
        have = ", ".join(found) or "none"
        raise ConfigError(f"the head reads {side} vectors of view {view!r}; there are: {have}")
    return found[view]


def _used_categories(news: NewsTable) -> tuple[str, ...]:
    used = np.unique(news.category[news.category >= 0])
    return tuple(news.category_names[i] for i in used.tolist())


def _frequent_entities(news: NewsTable, min_articles: int) -> tuple[str, ...]:
    if news.entities is None or not len(news.entities.values):
        return ()
    counts = np.bincount(news.entities.values, minlength=len(news.entity_names))
    return tuple(news.entity_names[i] for i in np.flatnonzero(counts >= max(1, min_articles)))


def _by_name(here: tuple[str, ...], known: tuple[str, ...]) -> Ints:
    """Row in a head's table of every code, and last of code -1: 0."""
    rows = {name: i for i, name in enumerate(known, 1)}
    return np.array([*(rows.get(name, 0) for name in here), 0], np.int64)
