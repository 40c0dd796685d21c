"""Texts to Embeddings: encoders by name, and the store that encodes every text once.

Importing this package loads neither torch nor sentence_transformers; what it offers is loaded on
first use (PEP 562).
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from newsrec.encode.lines import encode_lines
    from newsrec.encode.load import load_encoder
    from newsrec.encode.store import EmbeddingStore

_LATE = {
    "EmbeddingStore": "newsrec.encode.store",
    "encode_lines": "newsrec.encode.lines",
    "load_encoder": "newsrec.encode.load",
}
__all__ = ["EmbeddingStore", "encode_lines", "load_encoder"]


def __getattr__(name: str) -> Any:
    if name in _LATE:
        return getattr(import_module(_LATE[name]), name)
    raise AttributeError(f"module 'newsrec.encode' has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__
