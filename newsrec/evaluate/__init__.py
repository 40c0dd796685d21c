"""Scores and clicks to honest numbers; names are loaded on first use (PEP 562)."""

from __future__ import annotations

from importlib import import_module
from typing import Any

_PUBLIC = {
    "EvalReport": "newsrec.evaluate.report",
    "Ranking": "newsrec.evaluate.metrics",
    "Results": "newsrec.evaluate.results",
    "Shown": "newsrec.evaluate.run",
    "evaluate": "newsrec.evaluate.run",
    "group_labels": "newsrec.evaluate.groups",
    "write_submission": "newsrec.evaluate.submission",
}
__all__ = sorted(_PUBLIC)


def __getattr__(name: str) -> Any:
    if name in _PUBLIC:
        return getattr(import_module(_PUBLIC[name]), name)
    raise AttributeError(f"module 'newsrec.evaluate' has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__
