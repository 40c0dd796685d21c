"""What clusters are measured against, and how far chance carries: by topics, or by graded pairs.

Intervals are percentiles over resampled articles (over groups of connected pairs), the clusters
held fixed; a method that was run with several seeds draws one of its runs for every resample.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from newsrec.cluster.quality import alone, compare, judge_pairs

Labels = NDArray[np.integer]
Doubles = NDArray[np.float64]

#: Order of the columns of every `Truth.rates`.
RATES = ("precision", "recall", "f1", "v", "ari")


class Truth(Protocol):
    """Known topics of a shelf, or known pairs."""

    def rates(self, labels: Labels) -> Doubles:
        """``(5,)`` in the order of `RATES`, NaN where not defined."""
        ...

    def resampled(self, labels: Labels, draws: NDArray[np.int64]) -> Doubles:
        """``(5,)`` where each unit counts as often as ``draws (n_units,)`` says."""
        ...

    @property
    def n_units(self) -> int:
        """What is drawn: articles, or groups of articles."""
        ...

    @property
    def n_clusters(self) -> int:
        """The true number of clusters."""
        ...


@dataclass(frozen=True)
class Topics:
    """The true topic of every article ``(n,)``."""

    topic: NDArray[np.int64]

    @property
    def n_units(self) -> int:
        return len(self.topic)

    @property
    def n_clusters(self) -> int:
        """True number of clusters."""
        return len(np.unique(self.topic))

    def rates(self, labels: Labels) -> Doubles:
        found = compare(labels, self.topic)
        return np.array(
            [found.precision, found.recall, found.f1, found.v_measure, found.adjusted_rand]
        )

    def resampled(self, labels: Labels, draws: NDArray[np.int64]) -> Doubles:
        _, found = np.unique(alone(labels), return_inverse=True)
        _, true = np.unique(self.topic, return_inverse=True)
        cells = [found * (int(true.max()) + 1) + true, found, true, np.zeros_like(true)]
        sums = [np.bincount(cell, draws) for cell in cells]
        # Two copies of one article are no pair.
        squares = [np.bincount(cell, draws**2.0) for cell in cells]
        both, of_found, of_true, every = (
            float((s**2 - q).sum() / 2) for s, q in zip(sums, squares, strict=True)
        )
        chance, most = of_found * of_true / every, (of_found + of_true) / 2
        return np.array([
            both / of_found if of_found else 1.0,
            both / of_true if of_true else 1.0,
            2 * both / (of_found + of_true),
            _v_measure(*sums[:3]),
            (both - chance) / (most - chance) if most != chance else 1.0,
        ])  # fmt: skip


@dataclass(frozen=True)
class Pairs:
    """Pairs ``(m, 2)`` that belong together or not, ``same (m,)``; ``group (n,)`` articles that
    pairs connect, which are drawn together."""

    pairs: NDArray[np.int64]
    same: NDArray[np.bool_]
    group: NDArray[np.int64]

    @property
    def n_units(self) -> int:
        return int(self.group.max()) + 1

    @property
    def n_clusters(self) -> int:
        """Clusters there are if exactly the pairs that belong together do."""
        from scipy.sparse import coo_array
        from scipy.sparse.csgraph import connected_components

        n, kept = len(self.group), self.pairs[self.same]
        graph = coo_array((np.ones(len(kept)), (kept[:, 0], kept[:, 1])), shape=(n, n))
        return int(connected_components(graph, directed=False)[0])

    def rates(self, labels: Labels) -> Doubles:
        return np.array([*judge_pairs(labels, self.pairs, self.same), np.nan, np.nan])

    def resampled(self, labels: Labels, draws: NDArray[np.int64]) -> Doubles:
        found = alone(labels)
        together = found[self.pairs[:, 0]] == found[self.pairs[:, 1]]
        weight = draws[self.group[self.pairs[:, 0]]]
        both = float(weight[together & self.same].sum())
        claimed, true = float(weight[together].sum()), float(weight[self.same].sum())
        return np.array([
            both / claimed if claimed else 1.0,
            both / true if true else 1.0,
            2 * both / (claimed + true) if claimed + true else 1.0,
            np.nan,
            np.nan,
        ])  # fmt: skip


@dataclass(frozen=True)
class Measured:
    """``mean``, ``low`` and ``high (5,)`` of a method, and of what it leads ours by in F1."""

    mean: Doubles
    low: Doubles
    high: Doubles
    lead: tuple[float, float, float]


def measured(
    runs: Sequence[Labels], ours: Labels, truth: Truth, times: int = 1000, seed: int = 0
) -> Measured:
    """A method's rates over its ``runs`` with 95 % intervals, and its F1 less that of ``ours``."""
    rng = np.random.default_rng(seed)
    samples, leads = [], []
    for _ in range(times):
        draws = rng.multinomial(truth.n_units, np.full(truth.n_units, 1 / truth.n_units))
        rates = truth.resampled(runs[rng.integers(len(runs))], draws)
        samples.append(rates)
        leads.append(rates[2] - truth.resampled(ours, draws)[2])
    low, high = np.percentile(samples, [2.5, 97.5], axis=0)
    mean = np.mean([truth.rates(run) for run in runs], axis=0)
    lead = float(mean[2] - truth.rates(ours)[2])
    return Measured(mean, low, high, (lead, *np.percentile(leads, [2.5, 97.5]).tolist()))


def _v_measure(both: Doubles, found: Doubles, true: Doubles) -> float:
    joint, h_found, h_true = _entropy(both), _entropy(found), _entropy(true)
    shared = h_found + h_true - joint
    return 2 * shared / (h_found + h_true) if h_found + h_true else 1.0


def _entropy(sizes: Doubles) -> float:
    share = sizes[sizes > 0] / sizes.sum()
    return float(-(share * np.log(share)).sum())
