"""The noun that re-rankers see refuses what does not fit."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from newsrec.errors import DataError
from newsrec.types import Pool

SCORES = np.array([0.5, 0.25], np.float32)
BAD: dict[str, tuple[dict[str, Any], str]] = {
    "scores of whole numbers": ({"scores": np.arange(2)}, r"scores: int64, expected .* float"),
    "scores in a list": ({"scores": [0.5, 0.25]}, "scores: list, expected an array of float"),
    "scores in a table": ({"scores": np.ones((2, 1))}, r"scores: shape \(2, 1\), expected \(any\)"),
    "NaN": (
        {"scores": np.array([0.5, np.nan, np.nan])},
        r"scores: nan for candidate 1 \(2 of 3\), expected finite",
    ),
    "infinity": ({"scores": np.array([-np.inf, 0.5])}, "scores: -inf for candidate 0"),
    "more vectors": (
        {"vectors": np.ones((3, 4), np.float32)},
        r"vectors: shape \(3, 4\), expected \(2, any\)",
    ),
    "flat vectors": ({"vectors": np.ones(2)}, r"vectors: shape \(2,\), expected \(2, any\)"),
    "more classes": (
        {"aspects": {"topic": np.zeros(3, np.int32)}},
        r"aspects\['topic'\]: shape \(3,\), expected \(2\)",
    ),
    "classes with a point": (
        {"aspects": {"topic": np.zeros(2)}},
        r"aspects\['topic'\]: float64, expected an array of int",
    ),
    "a history of lists": (
        {"history": {"topic": np.zeros((2, 2), int)}},
        r"history\['topic'\]: shape \(2, 2\)",
    ),
    "less affinity": (
        {"affinity": {"mood": np.zeros(1)}},
        r"affinity\['mood'\]: shape \(1,\), expected \(2\)",
    ),
    "affinity NaN": (
        {"affinity": {"mood": np.array([0.0, np.nan])}},
        r"affinity\['mood'\]: nan for candidate 1",
    ),
    "a language too many": (
        {"language": np.array([0, 1]), "languages": ("eng",)},
        "language: code outside 0 … 0",
    ),
    "no language": (
        {"language": np.array([0, -1]), "languages": ("eng",)},
        "language: code outside 0 … 0",
    ),
}


@pytest.mark.parametrize("case", BAD)
def test_what_does_not_fit_is_refused_by_name(case: str) -> None:
    options, said = BAD[case]
    with pytest.raises(DataError, match=rf"Pool\.{said}"):
        Pool(**{"scores": SCORES, **options})


def test_only_scores_are_needed() -> None:
    pool = Pool(SCORES)
    assert len(pool) == 2
    assert pool.read("topic").tolist() == []
    with pytest.raises(DataError, match="no aspect 'topic'; they have: none"):
        pool.classes("topic")


def test_the_history_is_read_where_it_is_known() -> None:
    pool = Pool(SCORES, history={"topic": np.array([3, -1, 3, 0], np.int32)})
    assert pool.read("topic").tolist() == [3, 3, 0]
