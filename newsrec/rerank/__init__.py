"""Scored candidates to an order that is good as a list. Loaded on first use."""

from __future__ import annotations

from importlib import import_module
from typing import Any

_PUBLIC = {
    "RERANKERS": "table",
    "Calibrated": "calibrate",
    "Dpp": "dpp",
    "InTurn": "in_turn",
    "Manner": "manner",
    "Mmr": "mmr",
    "Pm2": "aspects",
    "Quota": "quota",
    "XQuad": "aspects",
    "make_reranker": "table",
}
__all__ = sorted(_PUBLIC)


def __getattr__(name: str) -> Any:
    if name in _PUBLIC:
        return getattr(import_module(f"newsrec.rerank.{_PUBLIC[name]}"), name)
    raise AttributeError(f"module 'newsrec.rerank' has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__
