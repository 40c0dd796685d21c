"""Ids that stay, and what is told of clusters that came, went, merged and split."""

from __future__ import annotations

import numpy as np
import pytest

from newsrec.cluster import follow
from newsrec.errors import DataError


def labels(*values: int) -> np.ndarray:
    return np.array(values, np.int32)


def test_nothing_happened() -> None:
    got = follow(labels(0, 0, 1, 2), np.array([7, 3, 9]), labels(1, 1, 0, 2))
    assert got.ids.tolist() == [3, 7, 9]
    assert got.next_id == 10
    assert got.births == got.deaths == got.merges == got.splits == ()


def test_births_take_ids_that_nobody_had() -> None:
    got = follow(labels(0, 1), np.array([0, 1]), labels(0, 1, 2, 2, 3), next_id=40)
    assert got.ids.tolist() == [0, 1, 40, 41]
    assert got.births == (40, 41)
    assert got.next_id == 42


def test_the_larger_part_of_a_merge_gives_its_id() -> None:
    got = follow(labels(0, 0, 1, 1, 1, 2), np.array([4, 5, 6]), labels(0, 0, 0, 0, 0, 1))
    assert got.ids.tolist() == [5, 6]
    assert got.merges == ((5, (4,)),)
    assert got.deaths == ()


def test_equals_merge_under_the_lower_id() -> None:
    assert follow(labels(0, 1), np.array([8, 2]), labels(0, 0)).ids.tolist() == [2]


def test_the_larger_part_of_a_split_keeps_the_id() -> None:
    got = follow(labels(0, 0, 0), np.array([4]), labels(0, 1, 1))
    assert got.ids.tolist() == [5, 4]
    assert got.splits == ((4, (4, 5)),)
    assert got.births == ()


def test_an_article_that_moves_is_no_merge() -> None:
    got = follow(labels(0, 0, 0, 1, 1), np.array([0, 1]), labels(0, 0, 1, 1, 1))
    assert got.ids.tolist() == [0, 1]
    assert got.merges == ()
    assert got.splits == ((0, (0, 1)),)


def test_deaths_are_clusters_without_an_article() -> None:
    got = follow(labels(0, 1, 1, -1), np.array([0, 1]), labels(0, -1, -1, 1))
    assert got.deaths == (1,)
    assert got.births == (2,)
    assert got.ids.tolist() == [0, 2]


def test_the_rows_of_articles_that_are_gone_must_stay() -> None:
    with pytest.raises(DataError, match="keep the rows"):
        follow(labels(0, 1), np.array([0, 1]), labels(0))


@pytest.mark.parametrize("seed", range(20))
def test_ids_are_unique_and_every_old_one_is_accounted_for(seed: int) -> None:
    rng = np.random.default_rng(seed)
    old = np.unique(rng.integers(0, 8, 40), return_inverse=True)[1].astype(np.int32)
    new = np.unique(rng.integers(0, 8, 50), return_inverse=True)[1].astype(np.int32)
    new[:40][rng.random(40) < 0.2] = -1
    new = np.unique(new, return_inverse=True)[1].astype(np.int32) - 1
    ids = rng.permutation(100)[: old.max() + 1]
    got = follow(old, ids, new)
    assert len(np.unique(got.ids)) == new.max() + 1
    taken = {part for _, parts in got.merges for part in parts}
    assert set(ids.tolist()) == (set(got.ids.tolist()) & set(ids.tolist())) | taken | set(
        got.deaths
    )
    assert not taken & set(got.deaths)
