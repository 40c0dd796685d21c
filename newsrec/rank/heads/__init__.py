"""Heads of news recommenders over an encoder's vectors: one paper a file, composed of blocks."""

from __future__ import annotations

from newsrec.late import late

_PUBLIC = {
    "HEADS": "newsrec.rank.heads.table",
    "NewsHead": "newsrec.rank.heads.head",
    "caum": "newsrec.rank.heads.caum",
    "lfrec": "newsrec.rank.heads.lfrec",
    "make_head": "newsrec.rank.heads.table",
    "manner": "newsrec.rank.heads.manner",
    "mins": "newsrec.rank.heads.mins",
    "naml": "newsrec.rank.heads.naml",
    "naml_cat": "newsrec.rank.heads.naml",
}
__all__ = sorted(_PUBLIC)
__getattr__, __dir__ = late(__name__, _PUBLIC)
