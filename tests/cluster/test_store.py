"""Clustered shelves on disk."""

from __future__ import annotations

import pickle
from pathlib import Path

import numpy as np
import pytest

from newsrec.cluster import ClusteredShelf, check_place, load_clusters, save_clusters
from newsrec.errors import DataError, StaleCacheError
from newsrec.types import ClusterTree

TREE = ClusterTree(np.array([[0, 0, -1], [0, 1, -1]], np.int32), (4, 8), (0.1, 0.7))
ARTICLES = np.array(["N1", "Ä 2", "三"])
SHELF = ClusteredShelf(
    TREE, ARTICLES, (np.array([4]), np.array([7, 3])), (5, 9), {"encoder": "mini", "recall": 1.0}
)


def test_a_tree_comes_back(tmp_path: Path) -> None:
    save_clusters(tmp_path / "new folder" / "tree.npz", SHELF)
    again = load_clusters(tmp_path / "new folder" / "tree.npz")
    assert np.array_equal(again.tree.labels, TREE.labels)
    assert (again.tree.dims, again.tree.thresholds) == ((4, 8), (0.1, 0.7))
    assert again.articles.tolist() == ARTICLES.tolist()
    assert [numbers.tolist() for numbers in again.numbers] == [[4], [7, 3]]
    assert (again.free, again.made) == ((5, 9), SHELF.made)


def test_a_failed_write_leaves_the_old_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "tree.npz"
    save_clusters(path, SHELF)

    def fails(file: object, **parts: object) -> None:
        file.write(b"half")  # type: ignore[attr-defined]
        raise OSError("disk full")

    monkeypatch.setattr(np, "savez_compressed", fails)
    with pytest.raises(OSError, match="disk full"):
        save_clusters(
            path, ClusteredShelf.new(ClusterTree(TREE.labels[:1], (4,), (0.1,)), ARTICLES)
        )
    assert load_clusters(path).tree.n_levels == 2
    assert [p.name for p in tmp_path.iterdir() if p.name.endswith("npz")] == ["tree.npz"]


def test_what_is_no_tree_is_refused(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="no such file"):
        load_clusters(tmp_path / "none.npz")
    path = tmp_path / "tree.npz"
    save_clusters(path, SHELF)
    whole = path.read_bytes()
    for damaged in (b"", whole[: len(whole) // 2], whole[:100] + b"?" + whole[101:]):
        path.write_bytes(damaged)
        with pytest.raises(StaleCacheError, match=r"make them again.* --corpus CORPUS --out /"):
            load_clusters(path)
        check_place(path, "--out")
    wrong = np.array([[0, 1], [0, 0]], np.int32)
    np.savez(tmp_path / "wrong.npz", format=2, labels=wrong, dims=[4, 8], thresholds=[0.1, 0.7])
    with pytest.raises(StaleCacheError, match="spans clusters"):
        load_clusters(tmp_path / "wrong.npz")


@pytest.mark.parametrize(
    ("part", "value", "said"),
    [
        ("made", "[]", r"made: \[\], expected a JSON object"),
        ("format", [2, 2], "not clusters of this version"),
        ("thresholds", 0.1, "not clusters of this version"),
        ("thresholds", [0.1, np.nan], "expected finite numbers"),
    ],
)
def test_a_part_that_is_made_by_hand_is_refused(
    tmp_path: Path, part: str, value: object, said: str
) -> None:
    path = tmp_path / "tree.npz"
    save_clusters(path, SHELF)
    with np.load(path) as parts:
        changed = {**parts, part: np.array(value)}
    np.savez(path, **changed)
    with pytest.raises(StaleCacheError, match=said):
        load_clusters(path)


def test_nobody_is_told_to_write_clusters_over_something_else(tmp_path: Path) -> None:
    np.savez(tmp_path / "other.npz", vectors=np.zeros(3))
    (tmp_path / "notes.npz").write_text("text")
    (tmp_path / "articles.csv").write_text("id,title\n1,Ferry\n")
    for name in ("other.npz", "notes.npz", "articles.csv"):
        with pytest.raises(StaleCacheError, match=r"name a file that .* --out FILE\.npz` wrote"):
            load_clusters(tmp_path / name)
        with pytest.raises(DataError, match=f"--out: .*{name} holds no clusters and is not writ"):
            check_place(tmp_path / name, "--out")
    (tmp_path / "empty.csv").touch()
    with pytest.raises(StaleCacheError, match="name a file that"):
        load_clusters(tmp_path / "empty.csv")
    with pytest.raises(DataError, match="is a folder"):
        check_place(tmp_path, "--out")
    check_place(tmp_path / "new.npz", "--out")


def test_nothing_is_unpickled(tmp_path: Path) -> None:
    class Bomb:
        def __reduce__(self) -> tuple[object, tuple[str]]:
            return (pytest.fail, ("it was unpickled",))

    path = tmp_path / "tree.npz"
    array = np.empty(1, object)
    array[0] = Bomb()
    np.savez(path, format=2, labels=array, dims=[4], thresholds=[0.1], allow_pickle=True)
    with pytest.raises(StaleCacheError):
        load_clusters(path)
    path.write_bytes(pickle.dumps(Bomb()))
    with pytest.raises(StaleCacheError):
        load_clusters(path)
