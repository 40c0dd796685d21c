"""What may be trained on: the past of the named splits, in order, and nothing of the split that is
measured."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from newsrec.errors import ConfigError, DataError
from newsrec.recbole.events import Events, events, read_before, training_events
from newsrec.types import Impressions
from tests.recbole import made


def pairs(found: Events) -> list[tuple[int, int]]:
    return list(zip(found.user.tolist(), found.item.tolist(), strict=True))


def test_readers_come_with_what_they_read_in_order() -> None:
    found = events(made.train(), histories=True)
    read = {u: [item for user, item in pairs(found) if user == u] for u in range(6)}
    # Reader 0 read 5 between its two lists; the second click on 0 is no news.
    assert read == {0: [0, 1, 2, 5, 3], 1: [5, 6], 2: [7, 9], 3: [4, 2], 4: [9, 8, 1], 5: []}
    assert found.place.tolist() == [0, 1, 2, 3, 4, 0, 1, 0, 1, 0, 1, 0, 1, 2]
    assert np.isnat(found.time).tolist() == [
        True, True, False, True, False, True, False, False, False, True, False, True, True, False,
    ]  # fmt: skip


def test_without_histories_only_the_clicks_are_left() -> None:
    found = events(made.train(), histories=False)
    assert pairs(found) == [(0, 2), (0, 3), (0, 0), (1, 6), (2, 7), (2, 9), (3, 2), (4, 1)]
    assert not np.isnat(found.time).any()


def slow(split: Impressions) -> list[tuple[int, int]]:
    """The same, one impression after the other."""
    assert split.clicked is not None
    known = [i for i in range(len(split)) if not np.isnat(split.time[i])]
    order = sorted(known, key=lambda i: split.time[i])
    order += [i for i in range(len(split)) if np.isnat(split.time[i])]
    read: dict[int, list[int]] = {}
    for i in order:
        items = read.setdefault(int(split.user[i]), [])
        shown = split.candidates[i]
        clicked = shown[split.candidates.like(split.clicked)[i]]
        for item in [*split.history[split.history_of[i]].tolist(), *clicked.tolist()]:
            if item not in items:
                items.append(item)
    return [(user, item) for user in sorted(read) for item in read[user]]


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 2**32 - 1))
def test_it_equals_a_walk_through_the_log(seed: int) -> None:
    rng = np.random.default_rng(seed)
    rows = []
    for _ in range(int(rng.integers(0, 12))):
        shown = rng.permutation(12)[: rng.integers(0, 5)].tolist()
        history = rng.integers(0, 12, rng.integers(0, 6)).tolist()
        rows.append((int(rng.integers(0, 4)), history, shown, shown[: rng.integers(0, 5)]))
    split = made.impressions("a", 0, rows)
    time = np.array(split.time[rng.permutation(len(rows))])
    time[rng.random(len(rows)) < 0.2] = np.datetime64("NaT", "s")
    split = replace(split, time=time)
    assert pairs(events(split, histories=True)) == slow(split)


def test_nothing_of_the_measured_split_is_trained_on(tmp_path: Path) -> None:
    """Whatever was read and clicked in it, the training data are the same."""
    before = training_events(made.corpus(tmp_path / "a"), ("train",), "test")
    rng = np.random.default_rng(3)
    other = {"train": made.train(), "valid": made.relabelled(made.valid(), rng),
             "test": made.relabelled(made.test(), rng)}  # fmt: skip
    after = training_events(made.corpus(tmp_path / "b", **other), ("train",), "test")
    assert pairs(before) == pairs(after) == pairs(events(made.train(), histories=True))


def test_a_click_of_the_measured_split_is_in_no_training_pair(tmp_path: Path) -> None:
    found = set(pairs(training_events(made.corpus(tmp_path), ("train", "valid"), "test")))
    clicks = set(pairs(events(made.test(), histories=False)))
    assert clicks
    assert not clicks & found


def test_measured_readers_are_known_by_what_they_read_before_their_first_list(
    tmp_path: Path,
) -> None:
    rows = [
        (1, [5, 6], [7, 8], [7]),
        (made.COLD_USER, [10, 11], [0, 1], [1]),
        (made.COLD_USER, [10, 11, 1, 3], [2, 4], [2]),
    ]
    test = made.impressions("c", 2, rows)
    corpus = made.corpus(tmp_path / "c", train=made.train(), test=test)
    known = training_events(corpus, ("train",), "test", measured_readers=True)
    assert [item for user, item in pairs(known) if user == made.COLD_USER] == [10, 11]
    assert not set(pairs(known)) & set(pairs(events(test, histories=False)))
    assert test.clicked is not None
    flipped = made.corpus(
        tmp_path / "d", train=made.train(), test=replace(test, clicked=~test.clicked)
    )
    again = training_events(flipped, ("train",), "test", measured_readers=True)
    assert pairs(again) == pairs(known)


def test_readers_of_lists_of_unknown_time_are_left_out() -> None:
    rows = [(0, [1], [2], [2]), (0, [1, 2], [3], [3]), (1, [4], [5], [5])]
    split = made.impressions("c", 2, rows)
    time = split.time.copy()
    time[0] = np.datetime64("NaT", "s")
    assert pairs(read_before(replace(split, time=time))) == [(1, 4)]


def test_several_splits_follow_one_another(tmp_path: Path) -> None:
    found = training_events(made.corpus(tmp_path), ("train", "valid"), "test")
    assert [item for user, item in pairs(found) if user == 0] == [0, 1, 2, 5, 3, 8]
    assert [item for user, item in pairs(found) if user == 3] == [4, 2, 10]


def test_the_split_that_is_measured_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="'test' is the split that is measured"):
        training_events(made.corpus(tmp_path), ("train", "test"), "test")


def test_the_future_is_refused(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"'test' goes on until .*training would see the future"):
        training_events(made.corpus(tmp_path), ("test",), "train")


def test_no_click_at_all_is_said(tmp_path: Path) -> None:
    none = made.impressions("a", 0, [(0, [], [1, 2], [])])
    corpus = made.corpus(tmp_path, train=none, test=made.test())
    with pytest.raises(DataError, match="no click in train"):
        training_events(corpus, ("train",), "test")


def test_an_unlabelled_split_is_refused(tmp_path: Path) -> None:
    blind = replace(made.train(), clicked=None)
    corpus = made.corpus(tmp_path, train=blind, test=made.test())
    with pytest.raises(DataError, match="unlabelled split"):
        training_events(corpus, ("train",), "test")
