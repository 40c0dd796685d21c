"""How well clusters agree with the truth: over pairs of articles, and over labels."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from newsrec.errors import DataError

Doubles = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Agreement:
    """``precision``, ``recall`` and ``f1`` over pairs of articles (together or not), ``v_measure``
    with its parts ``homogeneity`` and ``completeness``, and the ``adjusted_rand`` index.

    All are 1 for equal partitions; where a share is of nothing (no pair is together), it is 1.
    """

    precision: float
    recall: float
    f1: float
    homogeneity: float
    completeness: float
    v_measure: float
    adjusted_rand: float


def compare(found: NDArray[np.integer], truth: NDArray[np.integer]) -> Agreement:
    """Clusters ``found (n,)`` against ``truth (n,)``.

    A negative number is no cluster: in ``found`` the article counts as one of its own, in
    ``truth`` (nobody knows) it is left out.
    """
    if found.shape != truth.shape or found.ndim != 1:
        raise DataError(f"labels: {found.shape} and {truth.shape}, expected the same (n,)")
    known = truth >= 0
    found, truth = alone(found[known]), np.asarray(truth[known])
    together, of_found, of_truth = _crossed(found, truth)
    precision, recall, f1 = _rates(_pairs(together), _pairs(of_found), _pairs(of_truth))
    homogeneity, completeness, v_measure = _entropies(together, of_found, of_truth)
    return Agreement(
        precision, recall, f1, homogeneity, completeness, v_measure,
        _adjusted_rand(_pairs(together), _pairs(of_found), _pairs(of_truth), len(truth)),
    )  # fmt: skip


def judge_pairs(
    found: NDArray[np.integer], pairs: NDArray[np.integer], same: NDArray[np.bool_]
) -> tuple[float, float, float]:
    """``(precision, recall, f1)`` of labels ``found (n,)`` on labelled ``pairs (m, 2)`` of rows:
    ``same (m,)`` says whether a pair belongs together. A negative label is a cluster of its own."""
    found = alone(found)
    together = found[pairs[:, 0]] == found[pairs[:, 1]]
    return _rates(
        float(np.count_nonzero(together & same)),
        float(np.count_nonzero(together)),
        float(np.count_nonzero(same)),
    )


def alone(labels: NDArray[np.integer]) -> NDArray[np.int64]:
    """The same labels, every negative one a cluster of its own."""
    out = np.asarray(labels, np.int64).copy()
    loose = np.flatnonzero(out < 0)
    out[loose] = out.max(initial=-1) + 1 + np.arange(len(loose))
    return out


def _crossed(
    found: NDArray[np.integer], truth: NDArray[np.integer]
) -> tuple[Doubles, Doubles, Doubles]:
    """Articles in each pair of a found and a true cluster that share some, in each found, in each
    true cluster; and the entropies need nothing else."""
    _, f = np.unique(found, return_inverse=True)
    _, t = np.unique(truth, return_inverse=True)
    _, both = np.unique(f * (int(t.max(initial=0)) + 1) + t, return_counts=True)
    return both.astype(float), np.bincount(f).astype(float), np.bincount(t).astype(float)


def _pairs(sizes: Doubles) -> float:
    return float((sizes * (sizes - 1)).sum() / 2)


def _rates(both: float, found: float, true: float) -> tuple[float, float, float]:
    precision = both / found if found else 1.0
    recall = both / true if true else 1.0
    f1 = 2 * both / (found + true) if found + true else 1.0
    return precision, recall, f1


def _entropies(both: Doubles, found: Doubles, truth: Doubles) -> tuple[float, float, float]:
    """Homogeneity, completeness, and V, their harmonic mean (Rosenberg and Hirschberg 2007)."""
    joint, h_found, h_truth = _entropy(both), _entropy(found), _entropy(truth)
    shared = h_found + h_truth - joint
    homogeneity = shared / h_truth if h_truth else 1.0
    completeness = shared / h_found if h_found else 1.0
    total = homogeneity + completeness
    return homogeneity, completeness, 2 * homogeneity * completeness / total if total else 0.0


def _entropy(sizes: Doubles) -> float:
    share = sizes / max(sizes.sum(), 1)
    return float(-(share * np.log(share)).sum())


def _adjusted_rand(both: float, found: float, true: float, n: int) -> float:
    """Hubert and Arabie 1985: the share of pairs in agreement, chance taken off."""
    every = n * (n - 1) / 2
    chance = found * true / every if every else 0.0
    most = (found + true) / 2
    return (both - chance) / (most - chance) if most != chance else 1.0
