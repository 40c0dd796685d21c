"""newsrec: cross-lingual news recommendation without training."""

from __future__ import annotations

from newsrec.late import late

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
__getattr__, __dir__ = late(__name__, _PUBLIC, ["__version__"])
