"""How sure a number is: bootstrap intervals, paired tests, Holm's correction.

Samples are impressions, or readers when impressions of one reader must not count as independent:
``values (n, m)`` holds ``m`` metrics of ``n`` impressions, NaN where undefined.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from newsrec.errors import DataError

Floats = NDArray[np.float64]

SAMPLES = 1000
FLIPS = 5000
# Resamples or sign flips done at once: the block of weights stays near 10 MB.
_BLOCK_VALUES = 2_500_000


@dataclass(frozen=True, slots=True)
class Interval:
    """A mean with its ``level`` percentile interval over ``n`` defined impressions."""

    mean: float
    low: float
    high: float
    n: int


@dataclass(frozen=True, slots=True)
class Comparison:
    """A paired comparison on the same ``n`` impressions.

    ``difference`` = mean of this - mean of the other, ``low``/``high`` its bootstrap interval,
    ``p`` two-sided, ``p_holm`` the same after Holm's correction over its family (NaN before).
    """

    metric: str
    difference: float
    low: float
    high: float
    p: float
    n: int
    p_holm: float = float("nan")


def intervals(
    values: Floats,
    rng: np.random.Generator,
    level: float = 0.95,
    samples: int = SAMPLES,
    clusters: NDArray[np.integer] | None = None,
) -> list[Interval]:
    """Percentile bootstrap of the mean of every column of ``values (n, m)``.

    ``clusters (n,)``: draw whole readers, not impressions (Cameron, Gelbach and Miller 2008).
    """
    defined = (~np.isnan(values)).sum(axis=0)
    sums, counts = _sums(values, clusters)
    means = bootstrap_means(sums, counts, rng, samples)
    tail = (1 - level) / 2
    with np.errstate(invalid="ignore", divide="ignore"):
        centre = sums.sum(axis=0) / counts.sum(axis=0)
    found = []
    for j in range(values.shape[1]):
        drawn = means[~np.isnan(means[:, j]), j]
        low, high = np.quantile(drawn, [tail, 1 - tail]) if len(drawn) else (np.nan, np.nan)
        found.append(Interval(float(centre[j]), float(low), float(high), int(defined[j])))
    return found


def bootstrap_means(
    sums: Floats, counts: Floats, rng: np.random.Generator, samples: int = SAMPLES
) -> Floats:
    """Means ``(samples, m)`` of resamples of the ``n`` rows, drawn with replacement.

    A resample is a vector of ``n`` counts, so that all metrics cost one matrix product.
    """
    n, m = sums.shape
    both = np.concatenate([sums, counts], axis=1).astype(np.float32)
    means = np.full((samples, m), np.nan)
    if not n:
        return means
    block = max(1, _BLOCK_VALUES // n)
    for first in range(0, samples, block):
        size = min(block, samples - first)
        drawn = rng.integers(0, n, (size, n), dtype=np.uint32)
        weights = np.empty((size, n), np.float32)
        for i in range(size):
            weights[i] = np.bincount(drawn[i], minlength=n)
        total = (weights @ both).astype(np.float64)
        with np.errstate(invalid="ignore", divide="ignore"):
            means[first : first + size] = total[:, :m] / total[:, m:]
    return means


def permutation_p(
    differences: Floats,
    rng: np.random.Generator,
    flips: int = FLIPS,
    clusters: NDArray[np.integer] | None = None,
) -> Floats:
    """Two-sided p of "mean difference 0" by random sign flips; ``(m,)`` for ``(n, m)``.

    p = (1 + as extreme) / (1 + flips), never 0 (Phipson and Smyth 2010). NaN without pairs.
    """
    sums, counts = _sums(differences, clusters)
    n, m = sums.shape
    observed = np.abs(sums.sum(axis=0))
    extreme = np.zeros(m, np.int64)
    flat = sums.astype(np.float32)
    # Equal statistics must not be told apart by rounding.
    margin = 1e-5 * np.abs(sums).max(axis=0, initial=0) + 1e-6 * observed
    block = max(1, _BLOCK_VALUES // max(n, 1))
    for first in range(0, flips, block):
        size = min(block, flips - first)
        bits = rng.integers(0, 256, (size, -(-n // 8)), dtype=np.uint8)
        kept = np.unpackbits(bits, axis=1, count=n).astype(np.float32)
        drawn = np.abs(2.0 * (kept @ flat).astype(np.float64) - sums.sum(axis=0))
        extreme += (drawn >= observed - margin).sum(axis=0)
    return np.where(counts.sum(axis=0) > 0, (1.0 + extreme) / (1.0 + flips), np.nan)


def bootstrap_p(
    differences: Floats,
    rng: np.random.Generator,
    samples: int = FLIPS,
    clusters: NDArray[np.integer] | None = None,
) -> Floats:
    """Two-sided p by the bootstrap: twice the share of resampled means beyond 0; ``(m,)``."""
    means = bootstrap_means(*_sums(differences, clusters), rng, samples)
    defined = (~np.isnan(means)).sum(axis=0)
    below, above = (means <= 0).sum(axis=0), (means >= 0).sum(axis=0)
    p = np.minimum(1.0, 2.0 * (1.0 + np.minimum(below, above)) / (1.0 + defined))
    return np.where(defined > 0, p, np.nan)


def holm(p: Floats) -> Floats:
    """Holm's step-down adjusted p-values ``(q,)``; NaN stays and is not counted (Holm 1979)."""
    adjusted = np.full(len(p), np.nan)
    known = np.flatnonzero(~np.isnan(p))
    rising = known[np.argsort(p[known], kind="stable")]
    scaled = p[rising] * np.arange(len(rising), 0, -1)
    adjusted[rising] = np.minimum(1.0, np.maximum.accumulate(scaled)) if len(rising) else scaled
    return adjusted


def _sums(values: Floats, clusters: NDArray[np.integer] | None) -> tuple[Floats, Floats]:
    """Sums and counts of defined values, by row or by cluster: two ``(rows, m)``."""
    defined = ~np.isnan(values)
    sums, counts = np.where(defined, values, 0.0), defined.astype(np.float64)
    if clusters is None:
        return sums, counts
    if len(clusters) != len(values):
        raise DataError(f"clusters: {len(clusters)}, expected {len(values)}, one per impression")
    _, of = np.unique(clusters, return_inverse=True)
    of = of.reshape(-1)
    n = int(of.max(initial=-1)) + 1
    return _by_cluster(sums, of, n), _by_cluster(counts, of, n)


def _by_cluster(part: Floats, of: NDArray[np.integer], n: int) -> Floats:
    total = np.zeros((n, part.shape[1]))
    for j in range(part.shape[1]):
        total[:, j] = np.bincount(of, part[:, j], minlength=n)
    return total
