"""Scores and clicks to honest numbers; names are loaded on first use (PEP 562)."""

from __future__ import annotations

from newsrec.late import late

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
__getattr__, __dir__ = late(__name__, _PUBLIC)
