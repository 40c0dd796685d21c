"""A tree of clusters is nested and densely numbered, or it is refused."""

from __future__ import annotations

import numpy as np
import pytest

from newsrec.errors import DataError
from newsrec.types import ClusterTree
from newsrec.types.clusters import dense


def tree(*levels: list[int]) -> ClusterTree:
    return ClusterTree(np.array(levels, np.int32), (4,) * len(levels), (0.5,) * len(levels))


def test_sizes_and_parents() -> None:
    made = tree([0, 0, 1, -1, 0], [0, 1, 2, -1, 0])
    assert len(made) == 5
    assert made.n_levels == 2
    assert made.n_clusters == (2, 3)
    assert made.sizes(0).tolist() == [3, 1]
    assert made.sizes(1).tolist() == [2, 1, 1]
    assert made.parents(1).tolist() == [0, 0, 1]
    assert made.parents(0).tolist() == [-1, -1]


def test_an_article_may_be_in_a_theme_but_in_no_story() -> None:
    assert tree([0, 0], [0, -1]).n_clusters == (1, 1)


@pytest.mark.parametrize(
    ("levels", "says"),
    [
        (([0, 1, 1], [0, 0, 1]), "cluster 0 of level 1 spans clusters"),
        (([0, -1], [0, 1]), "article 1 is in cluster 1 of level 1 but in none of level 0"),
        (([0, 2, 2],), "goes up to 2 but no article has 1"),
        (([0, -2],), "-2 at level 0"),
    ],
)
def test_what_is_no_hierarchy_is_refused(levels: tuple[list[int], ...], says: str) -> None:
    with pytest.raises(DataError, match=says):
        tree(*levels)


def test_shapes_are_checked() -> None:
    labels = np.zeros((2, 3), np.int32)
    with pytest.raises(DataError, match="expected int32"):
        ClusterTree(labels.astype(np.int64), (4, 4), (0.5, 0.5))
    with pytest.raises(DataError, match="dims: 1, expected 2"):
        ClusterTree(labels, (4,), (0.5, 0.5))
    with pytest.raises(DataError, match="at least one level"):
        ClusterTree(labels[:0], (), ())


def test_no_articles() -> None:
    assert ClusterTree(np.zeros((2, 0), np.int32), (4, 8), (0.5, 0.6)).n_clusters == (0, 0)


def test_dense_numbers_by_first_member() -> None:
    assert dense(np.array([7, -3, 7, 2, -1, 9, 2])).tolist() == [0, -1, 0, 1, -1, 2, 1]
    assert dense(np.array([], np.int64)).tolist() == []
