"""What a re-ranker's variety costs: nDCG against diversity over a grid of relevance weights."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from newsrec.errors import ConfigError
from newsrec.evaluate.run import Shown, evaluate
from newsrec.evaluate.tradeoff import ACCURACY, TradeOff
from newsrec.pipeline.pools import Aspects, Scores, reranked
from newsrec.protocols import Reranker
from newsrec.types import Provenance

#: Relevance weights tried unless told otherwise: finer where accuracy is lost first.
WEIGHTS = (*(i / 10 for i in range(5)), *(i / 20 for i in range(10, 21)))


def trade_off(
    scores: Scores,
    shown: Shown,
    make: Callable[[float], Reranker],
    provenance: Provenance,
    *,
    weights: Sequence[float] = WEIGHTS,
    metrics: Sequence[str] = (ACCURACY, "diversity"),
    aspects: Aspects | None = None,
    seen: Shown | None = None,
) -> TradeOff:
    """Measure ``scores (nnz,)`` re-ranked by ``make(weight)`` at each of ``weights`` and at 1.

    ``make``: from a relevance weight to a re-ranker, such as ``lambda w: make_reranker("mmr",
    relevance_weight=w)``; ``metrics`` as `newsrec.evaluate.run.evaluate` takes them; ``aspects``:
    classes of all news for the re-ranker, as `newsrec.pipeline.pools.pools` takes them; ``seen``:
    what the re-ranker sees, where that is not what is measured (other vectors).
    Raises `ConfigError` for a weight outside [0, 1], `DataError` as `evaluate` and the re-ranker
    do.
    """
    grid = np.unique([*check_weights(weights), 1.0])
    seen = shown if seen is None else seen
    lists = reranked([make(float(w)) for w in grid], scores, seen, aspects)
    reports = tuple(
        # The same draws at every weight: only the lists differ.
        evaluate(places, shown, provenance, np.random.default_rng(provenance.seed), metrics)
        for places in lists
    )
    return TradeOff(grid, reports)


def check_weights(weights: Sequence[float]) -> Sequence[float]:
    """The weights; `ConfigError` for one that is not from 0 to 1."""
    for weight in weights:
        if not 0 <= weight <= 1:
            raise ConfigError(f"relevance weight {weight!r}: expected a number from 0 to 1")
    return weights
