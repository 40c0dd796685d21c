"""Bytes to nouns: the only code that knows file formats and string ids.

Opening a corpus needs numpy alone; what reads raw data is loaded on first use (PEP 562).
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

from newsrec.corpus.folder import Corpus, write_corpus

_LATE = {
    "prepare_mind": "newsrec.corpus.mind",
    "MindOptions": "newsrec.corpus.mind",
    "prepare_articles": "newsrec.corpus.own",
    "ArticleOptions": "newsrec.corpus.own",
    "Report": "newsrec.corpus.report",
}

__all__ = [
    "ArticleOptions",
    "Corpus",
    "MindOptions",
    "Report",
    "prepare_articles",
    "prepare_mind",
    "write_corpus",
]


def __getattr__(name: str) -> Any:
    if name in _LATE:
        return getattr(import_module(_LATE[name]), name)
    raise AttributeError(f"module 'newsrec.corpus' has no attribute {name!r}")
