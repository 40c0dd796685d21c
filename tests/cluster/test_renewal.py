"""Clusters from day to day: they keep their numbers, and what became of them is said."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from newsrec.cluster import ClusteredShelf, Level, Today, cluster_levels, compare, renew
from newsrec.errors import DataError
from tests.cluster.made import news_like

LEVELS = (Level(8, 0.4), Level(16, 0.5), Level(32, 0.6))


def named(rows: NDArray[np.int64]) -> NDArray[np.str_]:
    return np.array([f"N{row}" for row in rows])


@pytest.fixture(scope="module")
def vectors() -> NDArray[np.float32]:
    return news_like(300, 32, np.random.default_rng(5))[0]


def shelf_of(vectors: NDArray[np.float32], rows: NDArray[np.int64]) -> ClusteredShelf:
    return ClusteredShelf.new(cluster_levels(vectors[rows], LEVELS).tree, named(rows))


def today(vectors: NDArray[np.float32], rows: NDArray[np.int64]) -> Today:
    return Today(named(rows), vectors[rows], np.ones(len(rows), np.bool_))


def number_of(shelf: ClusteredShelf, level: int) -> dict[str, int]:
    of = shelf.tree.labels[level]
    return {a: int(shelf.numbers[level][c]) for a, c in zip(shelf.articles, of, strict=True)}


@pytest.mark.parametrize("whole", [False, True])
def test_nothing_new_changes_nothing_whatever_the_order(
    vectors: NDArray[np.float32], whole: bool
) -> None:
    rows = np.arange(300)
    old = shelf_of(vectors, rows)
    shuffled = np.random.default_rng(3).permutation(rows)
    new, changes = renew(old, today(vectors, shuffled), whole=whole)
    for level in range(3):
        assert number_of(new, level) == number_of(old, level)
        assert not changes[level].births
        assert not changes[level].deaths


@pytest.mark.parametrize("whole", [False, True])
def test_articles_come_and_go_and_numbers_stay(vectors: NDArray[np.float32], whole: bool) -> None:
    old = shelf_of(vectors, np.arange(200))
    rows = np.random.default_rng(4).permutation(np.arange(50, 300))
    new, changes = renew(old, today(vectors, rows), whole=whole)
    anew = cluster_levels(vectors[rows], LEVELS).tree
    for level in range(3):
        if whole:
            assert compare(new.tree.labels[level], anew.labels[level]).f1 == 1
        before, after = number_of(old, level), number_of(new, level)
        both = before.keys() & after.keys()
        # A number that goes on stands for articles that it stood for before.
        kept = {before[a] for a in both if before[a] == after[a]}
        assert kept == set(before.values()) & set(after.values())
        assert np.mean([before[a] == after[a] for a in both]) > 0.6
        assert set(changes[level].births) == set(after.values()) - {after[a] for a in both}
        assert set(changes[level].deaths) == set(before.values()) - {before[a] for a in both}
        assert min(changes[level].births, default=10**9) >= old.free[level]


def test_an_article_without_a_vector_is_in_no_cluster(vectors: NDArray[np.float32]) -> None:
    rows = np.arange(120)
    present = np.ones(120, np.bool_)
    present[[3, 110]] = False
    new, _ = renew(shelf_of(vectors, np.arange(100)), Today(named(rows), vectors[rows], present))
    assert np.all(new.tree.labels[:, [3, 110]] == -1)
    assert np.count_nonzero(new.tree.labels[0] < 0) == 2


def test_vectors_of_another_encoder_are_refused(vectors: NDArray[np.float32]) -> None:
    rows = np.arange(100)
    with pytest.raises(DataError, match="another encoder"):
        renew(shelf_of(vectors, rows), today(vectors[:, :16], rows))


def test_classes_of_articles_that_the_shelf_has_and_of_others(vectors: NDArray[np.float32]) -> None:
    shelf = shelf_of(vectors, np.arange(100))
    found = shelf.classes(np.array(["N7", "unheard of", "N3"]))
    assert list(found) == ["theme", "topic", "story"]
    for name, labels in zip(found, shelf.tree.labels, strict=True):
        assert found[name].tolist() == [labels[7], -1, labels[3]]


def test_the_same_clusters_over_other_articles(vectors: NDArray[np.float32]) -> None:
    shelf = shelf_of(vectors, np.arange(100))
    assert shelf.over(shelf.articles) is shelf
    others = named(np.array([40, 999, 7, 8, 12]))
    moved = shelf.over(others)
    assert moved.articles.tolist() == others.tolist()
    assert np.all(moved.tree.labels[:, 1] == -1)
    for level in range(3):
        before, after = number_of(shelf, level), number_of(moved, level)
        assert all(before[a] == after[a] for a in ("N40", "N7", "N8", "N12"))
    assert shelf.over(named(np.array([555]))).tree.n_clusters == (0, 0, 0)
