"""Impressions and features to scores; a shelf and a reader to a list. Loaded on first use."""

from __future__ import annotations

from newsrec.late import late

_PUBLIC = {
    "RANKERS": "newsrec.rank.table",
    "CategoryProfile": "newsrec.rank.baselines",
    "ClickLog": "newsrec.rank.clicks",
    "ColdStart": "newsrec.rank.cold",
    "Funnel": "newsrec.rank.funnel",
    "Given": "newsrec.rank.table",
    "LateFusion": "newsrec.rank.fusion",
    "MixedList": "newsrec.rank.mixed",
    "Popularity": "newsrec.rank.baselines",
    "Random": "newsrec.rank.baselines",
    "Recency": "newsrec.rank.baselines",
    "Shelf": "newsrec.rank.search",
    "Side": "newsrec.rank.sides",
    "StoredScores": "newsrec.rank.stored",
    "TfIdf": "newsrec.rank.tfidf",
    "WithFallback": "newsrec.rank.cold",
    "exposure": "newsrec.rank.mixed",
    "first_of_story": "newsrec.rank.search",
    "first_shown": "newsrec.rank.clicks",
    "make_ranker": "newsrec.rank.table",
    "merge": "newsrec.rank.mixed",
    "readable": "newsrec.rank.histories",
}
__all__ = sorted(_PUBLIC)
__getattr__, __dir__ = late(__name__, _PUBLIC)
