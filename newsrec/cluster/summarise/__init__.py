"""Summarizers by name: extractive, a model behind an HTTP endpoint, a model on this machine."""

from __future__ import annotations

from newsrec.late import late

_PUBLIC = {
    "Decoding": "newsrec.cluster.summarise.local",
    "Endpoint": "newsrec.cluster.summarise.endpoint",
    "LocalModel": "newsrec.cluster.summarise.local",
    "SUMMARIZERS": "newsrec.cluster.summarise.table",
    "framed": "newsrec.cluster.summarise.frame",
    "make_summarizer": "newsrec.cluster.summarise.table",
}
__all__ = sorted(_PUBLIC)
__getattr__, __dir__ = late(__name__, _PUBLIC)
