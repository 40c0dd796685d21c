"""Several re-rankers, one after another."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from newsrec.protocols import Reranker
from newsrec.rerank.greedy import Ints, score_order
from newsrec.types import Pool


class InTurn:
    """Each of ``rerankers`` sees the order of the one before it as its scores.

    A strict quota after MMR: ``InTurn(Mmr(relevance_weight=0.7), Quota())``. Only the order is
    handed on, so relevance is even over the places from the second on.
    """

    def __init__(self, *rerankers: Reranker) -> None:
        self._rerankers = rerankers

    def __call__(self, pool: Pool) -> Ints:
        """Permutation of ``range(n)``, best first; score order without re-rankers."""
        order = score_order(pool)
        for i, reranker in enumerate(self._rerankers):
            if i:
                scores = np.empty(len(pool), np.float32)
                scores[order] = -np.arange(len(pool), dtype=np.float32)
                pool = replace(pool, scores=scores)
            order = reranker(pool)
        return order
