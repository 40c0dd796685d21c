"""The stories of newsrec: a list for a reader, an honest report. Loaded on first use (PEP 562)."""

from __future__ import annotations

from newsrec.late import late

_PUBLIC = {
    "Scorer": "newsrec.pipeline.scoring",
    "experiment": "newsrec.pipeline.study",
    "recommend": "newsrec.pipeline.page",
    "score_articles": "newsrec.pipeline.scoring",
}
__all__ = sorted(_PUBLIC)
__getattr__, __dir__ = late(__name__, _PUBLIC)
