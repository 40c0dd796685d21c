"""Blocks of rows."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from newsrec.rank.blocks import cut
from newsrec.types import Ragged

LISTS = st.lists(st.lists(st.integers(0, 99), max_size=9), max_size=8)


@given(LISTS, st.integers(1, 4))
def test_cut_lists_are_the_same_values_in_short_lists(lists: list[list[int]], size: int) -> None:
    parts, owner = cut(Ragged.from_lists(lists), size)
    assert parts.lengths.max(initial=0) <= size
    again: list[list[int]] = [[] for _ in lists]
    for part, i in zip(parts, owner, strict=True):
        again[i] += part.tolist()
    assert again == lists
