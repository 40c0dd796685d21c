"""Impressions and features to scores; a shelf and a reader to a list. Loaded on first use."""

from __future__ import annotations

from newsrec.late import late

# What needs torch.
_TRAINED = {
    "AspectEnsemble": "newsrec.rank.ensemble",
    "HEADS": "newsrec.rank.heads.table",
    "NeuralRanker": "newsrec.rank.neural",
    "NewsHead": "newsrec.rank.heads.head",
    "Worded": "newsrec.rank.tuned",
    "fit": "newsrec.rank.train",
    "fit_aspect": "newsrec.rank.aspects",
    "fit_tuned": "newsrec.rank.tuned",
    "load_ranker": "newsrec.rank.model_folder",
    "make_head": "newsrec.rank.heads.table",
    "save_ranker": "newsrec.rank.model_folder",
    "untrained": "newsrec.rank.train",
}
_PUBLIC = {
    **_TRAINED,
    "RANKERS": "newsrec.rank.table",
    "CategoryProfile": "newsrec.rank.baselines",
    "ClickLog": "newsrec.rank.clicks",
    "ColdStart": "newsrec.rank.cold",
    "EpochReport": "newsrec.rank.fit_options",
    "FitOptions": "newsrec.rank.fit_options",
    "Funnel": "newsrec.rank.funnel",
    "Given": "newsrec.rank.table",
    "Inputs": "newsrec.rank.inputs",
    "LanguageMeans": "newsrec.rank.means",
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
    "load_means": "newsrec.rank.means",
    "make_ranker": "newsrec.rank.table",
    "merge": "newsrec.rank.mixed",
    "readable": "newsrec.rank.histories",
    "save_means": "newsrec.rank.means",
}
__all__ = sorted(_PUBLIC)
__getattr__, __dir__ = late(__name__, _PUBLIC)
