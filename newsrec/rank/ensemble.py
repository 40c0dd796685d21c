"""MANNeR's final score: standardised relevance plus signed, standardised aspects.

score = z(relevance) + Σ weight · z(aspect), z within each impression (Iana et al. 2023c, §3.3);
positive weights bring more of what the history has, negative ones less.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import isfinite

import numpy as np

from newsrec.errors import ConfigError, unknown_name
from newsrec.rank.neural import NeuralRanker
from newsrec.rank.sides import Floats
from newsrec.types import Features, Impressions, Ragged


@dataclass(frozen=True, slots=True, eq=False)
class AspectEnsemble:
    """A `Ranker`: a CR-module and A-modules (`newsrec.rank.aspects.fit_aspect`) by aspect, with a
    weight for each. Candidates that all score the same standardise to 0."""

    relevance: NeuralRanker
    modules: Mapping[str, NeuralRanker]
    weights: Mapping[str, float]

    def __post_init__(self) -> None:
        for aspect, weight in self.weights.items():
            if aspect not in self.modules:
                raise unknown_name("aspect", aspect, tuple(self.modules))
            if not isfinite(weight):
                raise ConfigError(f"weights[{aspect!r}]: {weight!r}, expected a finite number")

    def score(self, impressions: Impressions, features: Features) -> Floats:
        """``(nnz,) float32``."""
        lists = impressions.candidates
        total = standard(self.relevance.score(impressions, features), lists)
        for aspect, weight in self.weights.items():
            if weight:
                scores = self.modules[aspect].score(impressions, features)
                total += weight * standard(scores, lists)
        return total.astype(np.float32)


def standard(scores: Floats, lists: Ragged) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    """Standard scores of every list, ``(nnz,) float64``; 0 where all of a list are the same."""
    out = np.zeros(len(scores))
    for group in lists.alike(1 << 20):
        places = lists.square(group)
        x = np.sort(scores[places].astype(np.float64), 1)  # sums that no order of the list changes
        mean = x.mean(1, keepdims=True)
        spread = np.sqrt(((x - mean) ** 2).mean(1, keepdims=True))
        same = x[:, :1] == x[:, -1:]
        out[places] = np.where(same, 0, (scores[places] - mean) / np.where(same, 1, spread))
    return out
