"""Texts to Embeddings: encoders by name, and the store that encodes every text once.

Importing this package loads neither torch nor sentence_transformers; what it offers is loaded on
first use (PEP 562).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from newsrec.late import late

if TYPE_CHECKING:
    from newsrec.encode.lines import encode_lines
    from newsrec.encode.load import load_encoder
    from newsrec.encode.store import EmbeddingStore
    from newsrec.encode.tower import TextTower
    from newsrec.encode.tuning import Tuning

_PUBLIC = {
    "EmbeddingStore": "newsrec.encode.store",
    "TextTower": "newsrec.encode.tower",
    "Tuning": "newsrec.encode.tuning",
    "encode_lines": "newsrec.encode.lines",
    "load_encoder": "newsrec.encode.load",
}
__all__ = ["EmbeddingStore", "TextTower", "Tuning", "encode_lines", "load_encoder"]
__getattr__, __dir__ = late(__name__, _PUBLIC)
