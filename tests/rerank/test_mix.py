"""What a reader wants of each class."""

from __future__ import annotations

import numpy as np
import pytest

from newsrec.rerank.mix import Mix
from tests.rerank.made import pool_of


def mix_of(classes: list[int], read: list[int]) -> Mix:
    pool = pool_of(
        [float(i) for i in range(len(classes))],
        aspects={"topic": np.array(classes, np.int64)},
        history={"topic": np.array(read, np.int64)},
    )
    return Mix.in_pool(pool, "topic")


def test_classes_of_both_sides_are_numbered_without_gaps() -> None:
    mix = mix_of([70, -1, 20, 70], [20, -1, 500, 20])
    assert mix.of.tolist() == [1, -1, 0, 1]  # 20, 70, 500
    assert mix.history.tolist() == pytest.approx([2 / 3, 0, 1 / 3])
    assert mix.offered.tolist() == [True, True, False]
    assert mix.at(np.array([1.0, 2.0, 3.0]), otherwise=9).tolist() == [2, 9, 1, 2]


def test_exploration_is_spread_over_what_is_on_offer() -> None:
    mix = mix_of([70, -1, 20, 70], [20, -1, 500, 20])
    assert mix.wanted(0.0).tolist() == pytest.approx([2 / 3, 0, 1 / 3])
    assert mix.wanted(1.0).tolist() == pytest.approx([0.5, 0.5, 0])
    assert mix.wanted(0.5).tolist() == pytest.approx([7 / 12, 1 / 4, 1 / 6])


@pytest.mark.parametrize("exploration", [0.0, 0.3, 1.0])
def test_without_history_all_on_offer_is_wanted_evenly(exploration: float) -> None:
    for read in ([], [-1, -1]):
        assert mix_of([4, 5, 4, 6], read).wanted(exploration).tolist() == pytest.approx([1 / 3] * 3)


def test_nothing_known_of_anything() -> None:
    mix = mix_of([-1, -1], [])
    assert mix.wanted(0.5).tolist() == []
    assert mix.at(mix.wanted(0.5)).tolist() == [0, 0]
