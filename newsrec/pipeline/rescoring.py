"""A trained ranker on one reader's page: late fusion finds, the head scores what was found."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np

from newsrec import build
from newsrec.config import EncoderConfig, RankerConfig
from newsrec.corpus import Corpus
from newsrec.pipeline.features import history_stack, make_features, shelf_stack
from newsrec.pipeline.history import History
from newsrec.pipeline.vectors import Vectors
from newsrec.protocols import Encoder
from newsrec.rank.mixed import MixedList
from newsrec.rank.sides import Floats
from newsrec.rank.table import Given
from newsrec.rank.trained import ranker_folder, trained
from newsrec.types import Impressions, Ragged

#: Articles that late fusion hands to the head.
POOL = 2000


class Rescoring:
    """The ranker in ``folder`` (see `newsrec.rank.trained`) on ``corpus``.

    ``encoder``: instead of the one it was trained with, such as the same one in another place.
    """

    pool = POOL

    def __init__(self, folder: Path, encoder: Encoder | str | None, trust: bool) -> None:
        self._about = trained(folder)
        alone = ranker_folder(folder)  # one page has one ranker: that of the first seed
        self._ranker = build.ranker(RankerConfig(name=str(alone), cold="none"), Given(), {})
        self.encoder: Encoder | str = "mini" if encoder is None else encoder
        if encoder is None and self._about.encoder is not None:
            tuned = self._about.encoder_at(None)
            named = {"name": str(tuned)} if tuned is not None else self._about.encoder
            self.encoder = build.encoder(EncoderConfig.model_validate(named), trust)

    def scored(
        self, corpus: Corpus, vectors: Vectors, past: History, found: MixedList
    ) -> MixedList:
        """``found`` with the head's scores, best first; ties keep the order of late fusion."""
        scores = np.zeros(len(found.rows), np.float32)
        for place, language in enumerate(found.languages):
            here = np.flatnonzero(found.language == place)
            if len(here):
                scores[here] = self._scores(corpus, vectors, past, found.rows[here], language)
        order = np.argsort(-scores, kind="stable")
        return replace(
            found, language=found.language[order], rows=found.rows[order], scores=scores[order]
        )

    def _scores(
        self, corpus: Corpus, vectors: Vectors, past: History, rows: np.ndarray, language: str
    ) -> Floats:
        """``(k,)``: news ``rows (k,)`` in one language."""
        codes = np.array([corpus.languages.index(spoken) for spoken in past.languages])
        history, at = history_stack(corpus, past.rows, codes)
        features = make_features(
            corpus.news,
            shelf_stack(corpus, (language,)),
            history,
            at if self._about.views else None,
            {view: vectors.getter(view) for view in self._about.views},
        )
        one = Impressions(
            np.array(["page"]), np.zeros(1, np.int32), np.zeros(1, "datetime64[s]"),
            Ragged.from_lists([past.rows.tolist()]), np.zeros(1, np.int32),
            Ragged.from_lists([rows.tolist()]),
        )  # fmt: skip
        return self._ranker.score(one, features)
