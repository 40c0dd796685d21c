"""The stories of newsrec: a list for a reader, an honest report. Loaded on first use (PEP 562)."""

from __future__ import annotations

from importlib import import_module
from typing import Any

_PUBLIC = {
    "experiment": "newsrec.pipeline.study",
    "recommend": "newsrec.pipeline.page",
}
__all__ = sorted(_PUBLIC)


def __getattr__(name: str) -> Any:
    if name in _PUBLIC:
        return getattr(import_module(_PUBLIC[name]), name)
    raise AttributeError(f"module 'newsrec.pipeline' has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__
