"""`keep_shown` equals the rule of protocol §1 spelled out impression by impression."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from newsrec.errors import DataError
from newsrec.types import Impressions, Ragged
from newsrec.types.shelf import keep_shown

N_NEWS = 8
_rows = st.integers(0, N_NEWS - 1)
_masks = st.lists(st.booleans(), min_size=N_NEWS, max_size=N_NEWS).map(
    lambda m: np.array(m, np.bool_)
)


@st.composite
def _impressions(draw: st.DrawFn) -> Impressions:
    lists = draw(st.lists(st.lists(st.tuples(_rows, st.booleans()), max_size=5), max_size=6))
    histories = draw(st.lists(st.lists(_rows, max_size=4), min_size=1, max_size=3))
    n = len(lists)
    of = draw(st.lists(st.integers(0, len(histories) - 1), min_size=n, max_size=n))
    labelled = draw(st.booleans())
    return Impressions(
        ids=np.array([f"i{k}" for k in range(n)], np.str_),
        user=np.arange(n, dtype=np.int32),
        time=np.zeros(n, "datetime64[s]"),
        history=Ragged.from_lists(histories),
        history_of=np.array(of, np.int32),
        candidates=Ragged.from_lists([[row for row, _ in items] for items in lists]),
        clicked=np.array([c for items in lists for _, c in items], np.bool_) if labelled else None,
    )


def _by_hand(
    given_: Impressions, shelf: np.ndarray, read: np.ndarray, complete_only: bool
) -> list[tuple[int, list[int], list[bool] | None]]:
    kept: list[tuple[int, list[int], list[bool] | None]] = []
    for i in range(len(given_)):
        candidates = given_.candidates[i].tolist()
        here = [k for k, row in enumerate(candidates) if shelf[row]]
        history = [row for row in given_.history[given_.history_of[i]].tolist() if read[row]]
        if not here or (complete_only and (len(here) < len(candidates) or not history)):
            continue
        labels = None
        if given_.clicked is not None:
            all_labels = given_.clicked[given_.candidates.offsets[i] :]
            labels = [bool(all_labels[k]) for k in here]
            if all(labels) or not any(labels):
                continue
        kept.append((i, [candidates[k] for k in here], labels))
    return kept


@given(_impressions(), _masks, _masks, st.booleans())
def test_equals_the_rule_spelled_out(
    impressions: Impressions, shelf: np.ndarray, read: np.ndarray, complete_only: bool
) -> None:
    kept, rows, counts = keep_shown(impressions, shelf, read, complete_only)
    expected = _by_hand(impressions, shelf, read, complete_only)
    assert rows.tolist() == [i for i, _, _ in expected]
    assert [list(c) for c in kept.candidates] == [c for _, c, _ in expected]
    if impressions.clicked is None:
        assert kept.clicked is None
    else:
        assert kept.clicked is not None
        assert kept.clicked.tolist() == [x for _, _, labels in expected for x in labels or []]
    assert kept.ids.tolist() == impressions.ids[rows].tolist()
    for k, i in enumerate(rows):
        assert (
            kept.history[kept.history_of[k]].tolist()
            == impressions.history[impressions.history_of[i]].tolist()
        )
    skipped = sum(n for name, n in counts.items() if name.startswith("skipped_"))
    assert counts["impressions"] == counts["kept"] + skipped == len(impressions)
    dropped = sum(not shelf[row] for row in impressions.candidates.values)
    assert counts["candidates_without_text"] == dropped
    assert counts["candidates"] == len(impressions.candidates.values)


@given(_impressions(), _masks)
def test_a_second_time_changes_nothing(impressions: Impressions, shelf: np.ndarray) -> None:
    once, _, _ = keep_shown(impressions, shelf, shelf)
    twice, rows, counts = keep_shown(once, shelf, shelf)
    assert rows.tolist() == list(range(len(once)))
    assert counts["candidates_without_text"] == 0
    assert twice.candidates.values.tolist() == once.candidates.values.tolist()


def test_each_skipped_impression_is_counted_under_its_reason() -> None:
    impressions = Impressions(
        ids=np.array(["a", "b", "c", "d", "e"]),
        user=np.zeros(5, np.int32),
        time=np.zeros(5, "datetime64[s]"),
        history=Ragged.from_lists([[0], [7]]),
        history_of=np.array([0, 0, 0, 0, 1], np.int32),
        candidates=Ragged.from_lists([[1, 2], [7], [7, 1], [1, 7], [1, 2, 7]]),
        clicked=np.array([1, 0, 1, 1, 0, 1, 0, 1, 0, 0], np.bool_),
    )
    shelf = np.array([True] * 7 + [False])
    _, rows, counts = keep_shown(impressions, shelf, shelf)
    assert rows.tolist() == [0, 4]
    assert counts == {
        "impressions": 5,
        "candidates": 10,
        "candidates_without_text": 4,
        "skipped_without_candidates": 1,
        "skipped_without_click": 1,
        "skipped_without_non_click": 1,
        "kept": 2,
        "kept_without_history": 1,
    }
    _, rows, counts = keep_shown(impressions, shelf, shelf, complete_only=True)
    assert rows.tolist() == [0]
    assert counts["skipped_incomplete"] == 3


def test_a_mask_that_is_not_boolean_is_refused() -> None:
    empty = Impressions(
        ids=np.array([], np.str_),
        user=np.array([], np.int32),
        time=np.array([], "datetime64[s]"),
        history=Ragged.from_lists([]),
        history_of=np.array([], np.int32),
        candidates=Ragged.from_lists([]),
    )
    rows = np.array([0, 1])
    with pytest.raises(DataError, match="present_candidates: int64"):
        keep_shown(empty, rows, np.ones(2, np.bool_))  # type: ignore[arg-type]
    kept, _, _ = keep_shown(empty, np.ones(2, np.bool_), np.ones(2, np.bool_))
    assert len(kept) == 0
