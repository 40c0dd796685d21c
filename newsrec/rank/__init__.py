"""Impressions and features to scores; a shelf and a reader to a list. Loaded on first use."""

from __future__ import annotations

from importlib import import_module
from typing import Any

_PUBLIC = {
    "RANKERS": "table",
    "CategoryProfile": "baselines",
    "ClickLog": "clicks",
    "ColdStart": "cold",
    "Funnel": "funnel",
    "Given": "table",
    "LateFusion": "fusion",
    "MixedList": "mixed",
    "Popularity": "baselines",
    "Random": "baselines",
    "Recency": "baselines",
    "Shelf": "search",
    "Side": "sides",
    "TfIdf": "tfidf",
    "WithFallback": "cold",
    "exposure": "mixed",
    "first_of_story": "search",
    "first_shown": "clicks",
    "make_ranker": "table",
    "merge": "mixed",
    "readable": "histories",
}
__all__ = sorted(_PUBLIC)


def __getattr__(name: str) -> Any:
    if name in _PUBLIC:
        return getattr(import_module(f"newsrec.rank.{_PUBLIC[name]}"), name)
    raise AttributeError(f"module 'newsrec.rank' has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__
