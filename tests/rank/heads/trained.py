"""Heads trained on a synthetic corpus, small and at once."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from newsrec.rank.fit_options import FitOptions
from newsrec.rank.heads import make_head
from newsrec.rank.inputs import Inputs
from newsrec.rank.neural import NeuralRanker
from newsrec.rank.train import fit, untrained
from tests.synthetic import Known, impressions_of

#: Options that make each head small enough for a corpus of 240 articles.
SMALL: dict[str, dict[str, Any]] = {
    "naml": {"dropout": 0.0},
    "naml-cat": {"width": 16, "query": 16},
    "mins": {"dropout": 0.0},
    "caum": {"width": 16, "heads": 4, "hidden": (16, 8), "dropout": 0.0},
    "manner": {"dropout": 0.0},
    "lfrec": {},
}
QUICK = FitOptions(batch=32, epochs=6, learning_rate=1e-2, seed=7)

_made: dict[tuple[str, bytes], NeuralRanker] = {}


def trained(name: str, known: Known, **changed: Any) -> NeuralRanker:
    """The head ``name``, trained on 240 other impressions of the corpus; kept for the next test."""
    views = [e.vectors.tobytes() for e in known.features.history.values()]
    key = name + repr(changed), known.news.category.tobytes() + b"".join(views)
    if key not in _made:
        head = make_head(name, Inputs.of(known.features), seed=3, **SMALL[name])
        if not head.n_trainable():
            return untrained(head)
        rng = np.random.default_rng(11)
        topic = known.news.category.astype(np.int64)
        impressions = impressions_of(rng, topic, known.news, 240)
        options = replace(QUICK, **changed)
        _made[key] = fit(head, impressions, None, known.features, options)
    return _made[key]
