"""Ragged behaves like a list of lists."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from newsrec.errors import DataError
from newsrec.types import Ragged

LISTS = st.lists(st.lists(st.integers(-(2**31), 2**31 - 1), max_size=6), max_size=8)


def as_lists(ragged: Ragged) -> list[list[int]]:
    return [row.tolist() for row in ragged]


@given(LISTS)
def test_lists_survive(lists: list[list[int]]) -> None:
    ragged = Ragged.from_lists(lists)
    assert as_lists(ragged) == lists
    assert len(ragged) == len(lists)
    assert ragged.lengths.tolist() == [len(row) for row in lists]
    assert ragged.owner().tolist() == [i for i, row in enumerate(lists) for _ in row]


@given(LISTS, st.integers(0, 7))
def test_head_and_tail_are_slices(lists: list[list[int]], limit: int) -> None:
    ragged = Ragged.from_lists(lists)
    assert as_lists(ragged.head(limit)) == [row[:limit] for row in lists]
    assert as_lists(ragged.tail(limit)) == [row[len(row) - min(limit, len(row)) :] for row in lists]


@given(LISTS.filter(bool), st.data())
def test_take_is_a_list_of_rows(lists: list[list[int]], data: st.DataObject) -> None:
    rows = data.draw(st.lists(st.integers(0, len(lists) - 1), max_size=10))
    ragged = Ragged.from_lists(lists)
    assert as_lists(ragged.take(np.array(rows, np.int64))) == [lists[i] for i in rows]


@given(LISTS, st.integers(1, 7))
def test_alike_lists_are_squares_that_cover_everything_once(
    lists: list[list[int]], size: int
) -> None:
    ragged = Ragged.from_lists(lists)
    groups = ragged.alike(size)
    assert sorted(i for rows in groups for i in rows) == [i for i, row in enumerate(lists) if row]
    for rows in groups:
        square = ragged.values[ragged.square(rows)]
        assert square.tolist() == [lists[i] for i in rows]
        assert len(rows) == 1 or square.size <= size


@given(LISTS.filter(bool), st.data())
def test_through_replaces_numbers_by_lists(inner: list[list[int]], data: st.DataObject) -> None:
    numbers = st.integers(0, len(inner) - 1)
    outer = data.draw(st.lists(st.lists(numbers, max_size=4), max_size=6))
    found = Ragged.from_lists(outer).through(Ragged.from_lists(inner))
    assert as_lists(found) == [[v for i in row for v in inner[i]] for row in outer]


@given(LISTS)
def test_like_keeps_the_shape(lists: list[list[int]]) -> None:
    ragged = Ragged.from_lists(lists)
    doubled = ragged.like(ragged.values.astype(np.int64) * 2)
    assert as_lists(doubled) == [[2 * v for v in row] for row in lists]


def test_a_row_is_a_view() -> None:
    ragged = Ragged.from_lists([[1, 2], [3]])
    assert np.shares_memory(ragged[0], ragged.values)
    assert ragged[-1].tolist() == [3]
    with pytest.raises(IndexError, match="list 2 of 2"):
        ragged[2]


@pytest.mark.parametrize(
    "offsets",
    [
        np.array([0, 2], np.int64),
        np.array([1, 3], np.int64),
        np.array([0, 3, 2, 3], np.int64),
        np.array([0, 3], np.int32),
        np.array([], np.int64),
    ],
)
def test_offsets_that_do_not_fit_are_refused(offsets: np.ndarray) -> None:
    with pytest.raises(DataError, match="offsets"):
        Ragged(np.array([1, 2, 3]), offsets)
