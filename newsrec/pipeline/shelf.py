"""Which articles a reader may be shown."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from newsrec.corpus import Corpus
from newsrec.corpus.readers import Reading
from newsrec.pipeline.request import Request

Rows = NDArray[np.int64]


def on_offer(
    corpus: Corpus, request: Request, read: Reading | None, now: np.datetime64
) -> dict[str, Rows]:
    """News rows ``(m,)`` of the shelf of each requested language at ``now``.

    Left out: articles published after ``now`` or before ``now - max_age``, articles read, and
    articles whose story was read (a translation tells the same story).
    """
    news = corpus.news
    allowed = ~(news.published > now)
    if request.max_age is not None:
        allowed &= news.published >= now - request.max_age  # False for NaT
    if read is not None and len(read):
        allowed[read.rows] = False
        stories = news.story[read.rows]
        allowed &= ~np.isin(news.story, stories[stories >= 0])
    return {
        language: np.flatnonzero(allowed & corpus.texts(language).present)
        for language in request.languages
    }


def last_moment(corpus: Corpus) -> np.datetime64:
    """The time of the last impression; of the last publication where there is no impression."""
    logged = [corpus.impressions(split).time for split in corpus.splits]
    for times in (logged, [corpus.news.published]):
        latest = [t[~np.isnat(t)].max() for t in times if not np.isnat(t).all()]
        if latest:
            return max(latest)
    return np.datetime64("2200-01-01", "s")
