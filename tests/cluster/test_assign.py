"""New articles find their story, or open one; and a tree goes on from day to day."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from newsrec.cluster import Assigner, Level, cluster_levels, compare, extend, follow
from newsrec.errors import DataError
from newsrec.types import ClusterTree
from tests.cluster.made import days_of, news_like

LEVELS = (Level(2, 0.0), Level(4, 0.8))
DAY = np.timedelta64(1, "D")
START = np.datetime64("2026-03-01", "s")


def shelf() -> tuple[NDArray[np.float32], ClusterTree]:
    """Two themes (first two dimensions), in the first two stories."""
    vectors = np.array([[1, 0, 1, 0], [1, 0, 1, 0.1], [1, 0, -1, 0], [-1, 0, 0, 1]], np.float32)
    return vectors, cluster_levels(vectors, LEVELS).tree


def test_the_tree_to_begin_with() -> None:
    assert shelf()[1].labels.tolist() == [[0, 0, 0, 1], [0, 0, 1, 2]]


@pytest.mark.parametrize("linkage", ["average", "centroid"])
def test_an_article_joins_opens_a_story_or_opens_a_theme(linkage: str) -> None:
    vectors, tree = shelf()
    assigner = Assigner(tree, vectors, linkage=linkage)
    joined = assigner.place(np.array([2, 0, 2, 0.1]))
    assert (joined.clusters, joined.opened) == ((0, 0), 2)
    assert joined.similarity[0] == pytest.approx(1)
    opened = assigner.place(np.array([1, 0, 0, 1]))
    assert (opened.clusters, opened.opened) == ((0, 3), 1)
    assert opened.similarity[1] < 0.8
    assert assigner.place(np.array([1, 0, 0, 1.1])).clusters == (0, 3)
    far = assigner.place(np.array([-0.1, -9, 0, 0]))
    assert far.clusters == (1, 4)
    apart = assigner.place(np.array([0.4, 9, 0, 0]))
    assert apart.clusters[0] == 0
    assert assigner.tree().labels.tolist() == [
        [0, 0, 0, 1, 0, 0, 0, 1, 0],
        [0, 0, 1, 2, 0, 3, 3, 4, 5],
    ]


def test_a_new_theme_has_nothing_to_compare_with_below() -> None:
    vectors, tree = shelf()
    high = ClusterTree(tree.labels, tree.dims, (0.9, 0.95))
    placed = Assigner(high, vectors).place(np.array([0, 1, 0, 0]))
    assert (placed.clusters, placed.opened) == ((2, 3), 0)
    assert placed.similarity[0] == pytest.approx(0, abs=1e-6)
    assert np.isnan(placed.similarity[1])


@pytest.mark.parametrize("wrong", [np.ones(3), np.ones(5), np.ones((2, 4)), np.ones((1, 4))])
def test_a_vector_is_one_row_as_wide_as_the_others(wrong: np.ndarray) -> None:
    vectors, tree = shelf()
    with pytest.raises(DataError, match=r"expected \(4,\)"):
        Assigner(tree, vectors).place(wrong)


def test_looking_changes_nothing_and_says_where_an_article_would_go() -> None:
    vectors, tree = shelf()
    assigner = Assigner(tree, vectors)
    assert assigner.look(np.array([2, 0, 2, 0.1])) == (0, 0)
    assert assigner.look(np.array([1, 0, 0, 1])) == (0, -1)
    assert len(assigner.tree()) == 4


def test_the_similarity_is_that_of_the_linkage() -> None:
    vectors, truth = news_like(200, 32, np.random.default_rng(0))
    tree = ClusterTree(truth[:1], (32,), (-1.0,))
    new = news_like(1, 32, np.random.default_rng(1))[0][0]
    members = [vectors[truth[0] == c] for c in range(truth[0].max() + 1)]
    means = np.array([(part @ new).mean() for part in members])
    placed = Assigner(tree, vectors).place(new)
    assert placed.clusters == (means.argmax(),)
    assert placed.similarity[0] == pytest.approx(means.max(), abs=1e-5)
    lengths = np.array([np.linalg.norm(part.mean(0)) for part in members])
    placed = Assigner(tree, vectors, linkage="centroid").place(new)
    assert placed.clusters == ((means / lengths).argmax(),)
    assert placed.similarity[0] == pytest.approx((means / lengths).max(), abs=1e-5)


def test_a_story_that_is_too_long_ago_is_closed() -> None:
    vectors, tree = shelf()
    assigner = Assigner(
        tree, vectors, published=np.full(4, START, "datetime64[s]"), window=np.timedelta64(3, "D")
    )
    same = np.array([1, 0, 1, 0])
    assert assigner.place(same, START + 3 * DAY).clusters == (0, 0)
    assert assigner.place(same, START + 6 * DAY).clusters == (0, 0)
    assert assigner.place(same, START + 10 * DAY).clusters == (0, 3)
    with pytest.raises(DataError, match="without a time"):
        assigner.place(same)
    with pytest.raises(DataError, match="needs `published`"):
        Assigner(tree, vectors, window=DAY)


def test_bad_articles_are_refused() -> None:
    vectors, tree = shelf()
    assigner = Assigner(tree, vectors)
    with pytest.raises(DataError, match="has NaN"):
        assigner.place(np.array([1, np.nan, 0, 0]))
    with pytest.raises(DataError, match="is zero in its first 2"):
        assigner.place(np.array([0, 0, 1, 0]))
    with pytest.raises(DataError, match="vectors: 3 rows, the tree has 4"):
        Assigner(tree, vectors[:3])
    assert len(assigner.tree()) == 4


def test_many_new_stories_fit() -> None:
    vectors, tree = shelf()
    assigner = Assigner(tree, vectors)
    rng = np.random.default_rng(0)
    for _ in range(300):
        assigner.place(rng.standard_normal(4))
    assert assigner.tree().n_clusters[1] > 8


def test_thirty_days_of_news_end_nearly_as_a_new_clustering_would() -> None:
    rng = np.random.default_rng(7)
    vectors, truth = news_like(1500, 256, rng)
    day = days_of(truth[-1], 45, rng)
    vectors, day = vectors[np.argsort(day, kind="stable")], np.sort(day)
    levels = (Level(64, 0.4), Level(128, 0.5), Level(256, 0.55))
    tree = cluster_levels(vectors[day < 15], levels).tree
    ids, free = [np.arange(k) for k in tree.n_clusters], list(tree.n_clusters)
    for today in range(15, 45):
        grown = extend(tree, vectors[day <= today])
        for level in range(3):
            old = tree.labels[level]
            changes = follow(old, ids[level], grown.labels[level], free[level])
            assert not changes.splits
            assert not changes.deaths
            taken_in = {part: whole for whole, parts in changes.merges for part in parts}
            went_on = set(ids[level].tolist()) - set(taken_in)
            assert set(changes.ids.tolist()) == went_on | set(changes.births)
            assert all(free[level] <= born < changes.next_id for born in changes.births)
            # An article keeps the id of its cluster, unless a merge that was told took it in.
            was, now = ids[level][old], changes.ids[grown.labels[level][: len(old)]]
            moved = was != now
            assert [taken_in[one] for one in was[moved].tolist()] == now[moved].tolist()
            ids[level], free[level] = changes.ids, changes.next_id
        tree = grown
    whole = cluster_levels(vectors, levels).tree
    for level in range(3):
        assert compare(tree.labels[level], whole.labels[level]).f1 >= 0.95


def test_extending_merges_clusters_but_never_splits_one() -> None:
    vectors, _ = news_like(400, 32, np.random.default_rng(3))
    levels = (Level(8, 0.4), Level(16, 0.5), Level(32, 0.6))
    before = cluster_levels(vectors[:250], levels).tree
    after = extend(before, vectors)
    for level in range(3):
        changes = follow(
            before.labels[level], np.arange(before.n_clusters[level]), after.labels[level]
        )
        assert not changes.splits
        assert not changes.deaths
    assert np.array_equal(extend(before, vectors[:250]).labels, before.labels)


def test_extending_leaves_closed_stories_alone() -> None:
    vectors, tree = shelf()
    more = np.concatenate([vectors, vectors[:1]])
    times = np.array([0, 0, 0, 0, 10]) * DAY + START
    open_still = extend(tree, more, published=times, window=np.timedelta64(10, "D"))
    assert open_still.labels[1].tolist() == [0, 0, 1, 2, 0]
    closed = extend(tree, more, published=times, window=np.timedelta64(9, "D"))
    assert closed.labels.tolist() == [[0, 0, 0, 1, 0], [0, 0, 1, 2, 3]]
    with pytest.raises(DataError, match="needs `published`"):
        extend(tree, more, window=DAY)
    with pytest.raises(DataError, match="3 rows, the tree has 4"):
        extend(tree, vectors[:3])


def test_a_wrong_or_missing_date_closes_no_story() -> None:
    vectors, tree = shelf()
    more, nat = np.concatenate([vectors, vectors[:1], vectors[3:]]), np.datetime64("NaT")
    window = np.timedelta64(10, "D")
    alike = [[0, 0, 0, 1, 0, 1], [0, 0, 1, 2, 0, 2]]
    undated = np.full(6, nat, "datetime64[s]")
    assert extend(tree, more, published=undated, window=window).labels.tolist() == alike
    times = np.array([0, 0, 0, 0, 5, 5]) * DAY + START
    times[:2] = nat  # the first story has no date, the others are five days old
    assert extend(tree, more, published=times, window=window).labels.tolist() == alike
    three = np.concatenate([more, vectors[2:3]])
    times = np.array([0, 0, 0, 0, 5, 5, 30_000]) * DAY + START  # one from the far future
    found = extend(tree, three, published=times, window=window)
    assert found.labels[1].tolist() == [0, 0, 1, 2, 0, 2, 1]


def test_a_copy_is_where_its_original_is() -> None:
    angle = np.radians([0.0, 50.0, 80.0])
    vectors = np.stack([np.cos(angle), np.sin(angle)], 1).astype(np.float32)
    tree = ClusterTree(np.array([[0, 0, 0], [0, 0, 1]], np.int32), (2, 2), (0.0, 0.85))
    more = np.concatenate([vectors, vectors[1:2]])  # by its story's mean nearer to the other one
    assert extend(tree, more).labels.tolist() == [[0, 0, 0, 0], [0, 0, 1, 0]]
    times = np.array([0, 0, 0, 30]) * DAY + START
    late = extend(tree, more, published=times, window=np.timedelta64(9, "D"))
    assert late.labels.tolist() == [[0, 0, 0, 0], [0, 0, 1, 2]]
