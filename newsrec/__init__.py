"""newsrec: cross-lingual news recommendation without training."""

from __future__ import annotations

from importlib import import_module
from typing import Any

__version__ = "0.1.0"

# Loaded on first use (PEP 562), so that `import newsrec` costs nothing.
_PUBLIC = {
    "Embeddings": "newsrec.types",
    "Features": "newsrec.types",
    "Impressions": "newsrec.types",
    "NewsTable": "newsrec.types",
    "Ragged": "newsrec.types",
    "Texts": "newsrec.types",
    "Corpus": "newsrec.corpus",
    "EmbeddingStore": "newsrec.encode",
    "LateFusion": "newsrec.rank",
    "EvalReport": "newsrec.evaluate",
    "Request": "newsrec.pipeline.request",
    "open_corpus": "newsrec.pipeline.open",
    "recommend": "newsrec.pipeline",
    "experiment": "newsrec.pipeline",
    "NewsrecError": "newsrec.errors",
}
__all__ = sorted([*_PUBLIC, "__version__"])


def __getattr__(name: str) -> Any:
    if name in _PUBLIC:
        return getattr(import_module(_PUBLIC[name]), name)
    raise AttributeError(f"module 'newsrec' has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__
