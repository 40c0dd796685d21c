"""Bytes to nouns: the only code that knows file formats and string ids.

Opening a corpus needs numpy alone; what reads raw data is loaded on first use (PEP 562).
"""

from __future__ import annotations

from newsrec.corpus.folder import Corpus, write_corpus
from newsrec.late import late

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
__getattr__, __dir__ = late(__name__, _LATE, ["Corpus", "write_corpus"])
