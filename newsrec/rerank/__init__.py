"""Scored candidates to an order that is good as a list. Loaded on first use."""

from __future__ import annotations

from newsrec.late import late

_PUBLIC = {
    "RERANKERS": "newsrec.rerank.table",
    "Calibrated": "newsrec.rerank.calibrate",
    "Dpp": "newsrec.rerank.dpp",
    "InTurn": "newsrec.rerank.in_turn",
    "Manner": "newsrec.rerank.manner",
    "Mmr": "newsrec.rerank.mmr",
    "Pm2": "newsrec.rerank.aspects",
    "Quota": "newsrec.rerank.quota",
    "XQuad": "newsrec.rerank.aspects",
    "make_reranker": "newsrec.rerank.table",
}
__all__ = sorted(_PUBLIC)
__getattr__, __dir__ = late(__name__, _PUBLIC)
