"""The best of a shelf: exact below a size, almost exact by the funnel, never what was read."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from newsrec.errors import ConfigError, DataError, StaleCacheError
from newsrec.rank import Funnel, Shelf, Side, first_of_story
from newsrec.rank.centre import sides
from newsrec.rank.search import highest
from tests.bench.rank import levelled
from tests.synthetic import embeddings

N, DIM = 3000, 32


@pytest.fixture(scope="module")
def side() -> Side:
    vectors = levelled(N, DIM, np.random.default_rng(0))
    e = embeddings(vectors, present=np.arange(N) % 50 != 7)
    return sides(e, e)[1]


@pytest.fixture(scope="module")
def readers(side: Side) -> np.ndarray:
    rng = np.random.default_rng(1)
    return np.stack([side.at(rng.integers(0, N, 5)).mean(0) for _ in range(20)])


def by_hand(side: Side, rows: np.ndarray, reader: np.ndarray, k: int) -> np.ndarray:
    scores = side.at(rows) @ reader
    return rows[np.argsort(-scores, kind="stable")][:k]


@given(
    st.lists(st.sampled_from([0.0, 0.5, 1.0, -1.0, 2.0]), min_size=1, max_size=40),
    st.integers(1, 50),
)
def test_ties_go_to_the_smaller_position(scores: list[float], k: int) -> None:
    x = np.array(scores, np.float32)
    assert highest(x, k).tolist() == np.argsort(-x, kind="stable")[:k].tolist()


@settings(max_examples=50)
@given(st.lists(st.integers(-1, 4), max_size=12))
def test_a_story_comes_once_and_unknown_stories_always(story: list[int]) -> None:
    kept = first_of_story(np.array(story, np.int32))
    seen: set[int] = set()
    expected = []
    for s in story:
        expected.append(s < 0 or s not in seen)
        seen.add(s)
    assert kept.tolist() == expected


def test_a_small_shelf_is_searched_exactly(side: Side, readers: np.ndarray) -> None:
    shelf = Shelf.of(side)
    assert shelf.funnel is None
    rows = np.flatnonzero(side.present)
    for reader in readers:
        found, scores = shelf.top(reader, 10)
        assert found.tolist() == by_hand(side, rows, reader, 10).tolist()
        assert np.allclose(scores, side.at(found) @ reader, atol=1e-6)
        assert (np.diff(scores) <= 0).all()


def test_rows_can_be_chosen_and_what_was_read_is_never_shown(
    side: Side, readers: np.ndarray
) -> None:
    rows = np.flatnonzero(side.present)[::3]
    read = by_hand(side, rows, readers[0], 5)
    found, _ = Shelf.of(side, rows).top(readers[0], 10, exclude=read)
    left = np.setdiff1d(rows, read)
    assert found.tolist() == by_hand(side, left, readers[0], 10).tolist()


def test_one_story_comes_once_and_the_list_is_still_full(side: Side, readers: np.ndarray) -> None:
    story = np.arange(N) // 100
    story[::2] = -1
    shelf = Shelf.of(side, story=story)
    found, _ = shelf.top(readers[0], 40)
    told = story[found][story[found] >= 0]
    assert len(found) == 40
    assert len(told) == len(set(told.tolist()))
    every = by_hand(side, np.flatnonzero(side.present), readers[0], N)
    assert found.tolist() == every[first_of_story(story[every])][:40].tolist()


def test_a_list_is_short_only_when_the_shelf_is(side: Side, readers: np.ndarray) -> None:
    rows = np.flatnonzero(side.present)[:6]
    assert len(Shelf.of(side, rows).top(readers[0], 10)[0]) == 6
    assert len(Shelf.of(side, rows).top(readers[0], 10, exclude=rows)[0]) == 0
    one_story = np.zeros(N, np.int32)
    assert len(Shelf.of(side, story=one_story).top(readers[0], 10)[0]) == 1


@pytest.mark.parametrize("levels", [(8, 16, 32), ()])
def test_a_large_shelf_goes_through_the_funnel_and_finds_almost_the_same(
    side: Side, readers: np.ndarray, levels: tuple[int, ...]
) -> None:
    exact = Shelf.of(side)
    shelf = Shelf.of(side, levels=levels, exact_below=1000)
    assert shelf.funnel is not None
    assert shelf.funnel.dim == (levels[0] if levels else DIM)
    hits = []
    for reader in readers:
        expected, best = exact.top(reader, 20)
        found, scores = shelf.top(reader, 20)
        hits.append(np.isin(expected, found).mean())
        # What is found carries its exact score.
        same = np.isin(found, expected)
        assert np.array_equal(scores[same], best[np.isin(expected, found)])
    assert np.mean(hits) >= 0.95


def test_the_funnel_excludes_and_groups_too(side: Side, readers: np.ndarray) -> None:
    story = np.arange(N) // 20
    shelf = Shelf.of(side, story=story, levels=(8, 32), exact_below=1000)
    read, _ = shelf.top(readers[3], 30)
    found, _ = shelf.top(readers[3], 30, exclude=read)
    assert not set(read.tolist()) & set(found.tolist())
    assert len(set(story[found].tolist())) == len(found) == 30
    assert side.present[found].all()


def test_a_strong_filter_on_an_indexed_shelf_is_searched_exactly(
    side: Side, readers: np.ndarray
) -> None:
    shelf = Shelf.of(side, levels=(8, 32), exact_below=1000)
    left = np.flatnonzero(side.present)[::40]
    gone = np.setdiff1d(np.arange(N), left)
    found, _ = shelf.top(readers[0], 10, exclude=gone)
    assert found.tolist() == by_hand(side, left, readers[0], 10).tolist()


def test_more_than_the_funnel_can_list_is_searched_exactly(side: Side, readers: np.ndarray) -> None:
    two_stories = np.arange(N) // (N // 2)
    shelf = Shelf.of(side, story=two_stories, levels=(8, 32), exact_below=1000)
    found, _ = shelf.top(readers[0], 10)
    assert sorted(two_stories[found].tolist()) == [0, 1]


def test_the_same_shelf_gives_the_same_index(side: Side, readers: np.ndarray) -> None:
    rows = np.flatnonzero(side.present)
    first, second = (Funnel.build(side, rows, 8) for _ in range(2))
    assert first.fingerprint == second.fingerprint
    for reader in readers:
        assert np.array_equal(first.shortlist(reader, 200), second.shortlist(reader, 200))


def test_an_index_is_kept_and_used_again(
    side: Side, readers: np.ndarray, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "indexes"
    options = {"levels": (8, 32), "folder": folder, "key": "spec", "exact_below": 1000}
    first = Shelf.of(side, **options)  # type: ignore[arg-type]
    assert sorted(p.name for p in (folder / "spec").iterdir()) == ["index.faiss", "index.json"]

    def never(*_: object) -> Funnel:
        raise AssertionError("built again")

    monkeypatch.setattr(Funnel, "build", never)
    second = Shelf.of(side, **options)  # type: ignore[arg-type]
    for reader in readers:
        for a, b in zip(first.top(reader, 10), second.top(reader, 10), strict=True):
            assert np.array_equal(a, b)
    fewer = Shelf.of(side, np.flatnonzero(side.present)[:2000], **options)  # type: ignore[arg-type]
    assert fewer.top(readers[0], 10)[0].max() < np.flatnonzero(side.present)[2000]


def test_an_index_of_other_vectors_rows_or_spec_is_stale(side: Side, tmp_path: Path) -> None:
    rows, folder = np.flatnonzero(side.present), tmp_path / "index"
    funnel = Funnel.build(side, rows, 8, "spec")
    funnel.save(folder)
    other = Side(side.vectors, side.present)
    from newsrec.rank.funnel import fingerprint, open_funnel

    changed = [(other, rows, 8, "spec"), (side, rows[1:], 8, "spec"), (side, rows, 16, "spec")]
    for arguments in [*changed, (side, rows, 8, "other")]:
        assert fingerprint(*arguments) != funnel.fingerprint
        with pytest.raises(StaleCacheError, match=f"{folder}.*Delete {folder} and run"):
            open_funnel(folder, *arguments)
    assert open_funnel(folder, side, rows, 8, "spec").index.ntotal == len(rows)


@pytest.mark.parametrize("damage", ["cut", "foreign", "no json", "half json", "version"])
def test_a_damaged_index_is_stale(side: Side, tmp_path: Path, damage: str) -> None:
    rows, folder = np.flatnonzero(side.present), tmp_path / "index"
    funnel = Funnel.build(side, rows, 8)
    funnel.save(folder)
    index, meta = folder / "index.faiss", folder / "index.json"
    if damage == "cut":
        index.write_bytes(index.read_bytes()[: index.stat().st_size // 2])
    elif damage == "foreign":
        index.write_bytes(b"not an index at all, but long enough to be read as one")
    elif damage == "no json":
        meta.unlink()
    elif damage == "half json":
        meta.write_bytes(meta.read_bytes()[:20])
    else:
        meta.write_text(json.dumps({**json.loads(meta.read_text()), "version": 99}))
    with pytest.raises(StaleCacheError, match="Delete"):
        Funnel.load(folder, funnel.fingerprint)


def test_misuse_is_named(side: Side, readers: np.ndarray) -> None:
    with pytest.raises(ConfigError, match="k: 0"):
        Shelf.of(side).top(readers[0], 0)
    with pytest.raises(DataError, match="outside 0 … 2999"):
        Shelf.of(side, np.array([1, N]))
    with pytest.raises(DataError, match="rising"):
        Shelf(side, np.array([3, 3]))
    with pytest.raises(DataError, match=r"Shelf.story: \(2,\)"):
        Shelf.of(side, story=np.array([1, 2]))
    with pytest.raises(ConfigError, match="index of 64 dimensions over vectors of 32"):
        Shelf.of(side, levels=(64,), exact_below=10)


def test_the_benchmark_runs_small() -> None:
    from tests.bench.rank import rows

    table = list(rows(quick=True))
    assert len(table) == 4
    assert all(row.measured for row in table)
