"""Cuts, filters and renumbering change what they say and nothing else."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from newsrec.corpus.distinct import _hashes, distinct_bytes, distinct_lists
from newsrec.corpus.splits import (
    MIND_VALID_FROM,
    cut_at,
    drop_cold,
    first_shown,
    oldest_clicks,
    renumber,
)
from newsrec.types import Impressions, Ragged

_lists = st.lists(st.lists(st.integers(0, 3), max_size=4), max_size=12)


def _impressions(
    histories: list[list[int]], shown: list[list[int]], days: list[int]
) -> Impressions:
    n = len(shown)
    return Impressions(
        ids=np.array([str(k) for k in range(n)], np.str_),
        user=np.zeros(n, np.int32),
        time=np.array(days, "datetime64[D]").astype("datetime64[s]"),
        history=Ragged.from_lists(histories),
        history_of=np.arange(n, dtype=np.int32) % max(1, len(histories)),
        candidates=Ragged.from_lists(shown),
    )


@given(_lists)
def test_distinct_lists_give_back_every_list_in_order_of_appearance(lists: list[list[int]]) -> None:
    distinct, of = distinct_lists(Ragged.from_lists(lists))
    assert [distinct[int(k)].tolist() for k in of] == lists
    expected = list(dict.fromkeys(tuple(items) for items in lists))
    assert [tuple(items.tolist()) for items in distinct] == expected


def test_lists_that_differ_in_order_length_or_by_zeros_have_different_hashes() -> None:
    lists = [[], [0], [0, 0], [1], [0, 1], [1, 0], [1, 0, 0], [2], [1, 1]]
    hashes = _hashes(Ragged.from_lists(lists), 0)
    assert len(set(hashes.tolist())) == len(lists)


def test_a_hash_collision_does_not_merge_lists(monkeypatch: pytest.MonkeyPatch) -> None:
    def poor(lists: Ragged, seed: int) -> np.ndarray:
        return lists.lengths.astype(np.uint64) if seed == 0 else _hashes(lists, seed)

    monkeypatch.setattr("newsrec.corpus.distinct._hashes", poor)
    distinct, of = distinct_lists(Ragged.from_lists([[1], [2], [1]]))
    assert [row.tolist() for row in distinct] == [[1], [2]]
    assert of.tolist() == [0, 1, 0]


@given(st.lists(st.text("ab", max_size=3)), st.sampled_from(["S8", "S16"]))
def test_distinct_bytes_are_in_order_of_appearance(texts: list[str], dtype: str) -> None:
    strings = np.array([text.encode() for text in texts], dtype)
    of, distinct = distinct_bytes(strings)
    assert [distinct[k].decode() for k in of] == texts
    assert [text.decode() for text in distinct] == list(dict.fromkeys(texts))


def test_the_cut_of_paper_004() -> None:
    """newsreclib's ``valid_time_split: "2019-11-14 00:00:00"`` (protocol §1)."""
    assert str(MIND_VALID_FROM) == "2019-11-14T00:00:00"
    part = _impressions([[]], [[0]] * 3, [18_213, 18_214, 18_215])
    before, after = cut_at(part, MIND_VALID_FROM)
    assert part.time[before].astype(str).tolist() == ["2019-11-13T00:00:00"]
    assert after.tolist() == [1, 2]


@given(_lists.filter(bool), _lists)
def test_only_cold_impressions_are_dropped(
    histories: list[list[int]], shown: list[list[int]]
) -> None:
    part = _impressions(histories, shown, [0] * len(shown))
    kept, dropped = drop_cold(part)
    warm = [k for k in range(len(shown)) if histories[k % len(histories)]]
    assert kept.ids.tolist() == [str(k) for k in warm]
    assert dropped == len(shown) - len(warm)


@given(_lists.filter(bool), _lists, st.integers(1, 3))
def test_the_oldest_clicks_are_kept_and_equal_histories_merged(
    histories: list[list[int]], shown: list[list[int]], limit: int
) -> None:
    part = oldest_clicks(_impressions(histories, shown, [0] * len(shown)), limit)
    for k in range(len(shown)):
        expected = histories[k % len(histories)][:limit]
        assert part.history[int(part.history_of[k])].tolist() == expected
    rows = [tuple(row.tolist()) for row in part.history]
    assert len(rows) == len(set(rows))


@given(_lists, st.data())
def test_first_shown_is_the_earliest_time_among_all_parts(
    shown: list[list[int]], data: st.DataObject
) -> None:
    n = len(shown)
    days = data.draw(st.lists(st.integers(-5, 5), min_size=n, max_size=n))
    cut = n // 2
    parts = [
        _impressions([[]], shown[:cut], days[:cut]),
        _impressions([[]], shown[cut:], days[cut:]),
    ]
    found = first_shown(parts, 4)
    for row in range(4):
        seen = [day for items, day in zip(shown, days, strict=True) if row in items]
        if seen:
            assert found[row] == np.datetime64(min(seen), "D")
        else:
            assert np.isnat(found[row])


def test_renumbering_moves_readers_and_news() -> None:
    part = _impressions([[0, 1]], [[1, 0]], [0])
    moved = renumber(part, np.array([7], np.int32), np.array([5, 6], np.int32))
    assert moved.user.tolist() == [7]
    assert moved.history[0].tolist() == [5, 6]
    assert moved.candidates[0].tolist() == [6, 5]
    assert renumber(part, np.array([7], np.int32), None).candidates[0].tolist() == [1, 0]
