"""Training batches: negatives, order, each article once."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from newsrec.errors import DataError
from newsrec.rank.articles import articles_of
from newsrec.rank.batches import ClickRows, draw
from newsrec.rank.inputs import Inputs
from tests.synthetic import Known, known_answer


def rows_of(known: Known, **options: Any) -> ClickRows:
    articles = articles_of(known.impressions, known.features, Inputs.of(known.features))
    return ClickRows.of(known.impressions, articles, **options)


@given(st.integers(1, 9), st.integers(0, 12), st.integers(0, 2**63))
def test_drawn_numbers_are_in_range_and_differ_if_they_can(n: int, wanted: int, key: int) -> None:
    found = draw(np.array([n]), np.array([wanted]), np.array([key], np.uint64))
    assert len(found) == wanted
    assert all(0 <= x < n for x in found)
    if wanted <= n:
        assert len(set(found.tolist())) == wanted


def test_every_subset_is_drawn_about_as_often() -> None:
    keys = np.arange(60_000, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    found = np.sort(draw(np.full(60_000, 5), np.full(60_000, 2), keys).reshape(-1, 2), 1)
    _, counts = np.unique(found, axis=0, return_counts=True)
    assert len(counts) == 10
    assert abs(counts / 6_000 - 1).max() < 0.06


@pytest.mark.parametrize("one_click", [True, False])
def test_a_row_holds_its_clicks_and_non_clicks_of_the_same_impression(one_click: bool) -> None:
    known = known_answer(np.random.default_rng(0))
    rows = rows_of(known, one_click=one_click)
    clicked = known.impressions.clicked
    assert clicked is not None
    assert len(rows) == (clicked.sum() if one_click else len(known.impressions))
    shown = {
        (tuple(sorted(c[y].tolist())), frozenset(c[~y].tolist()))
        for c, y in zip(known.impressions.candidates,
                        known.impressions.candidates.like(clicked), strict=True)
    }  # fmt: skip
    batch = rows.batch(np.arange(len(rows)), 0)
    news = rows.articles.row[batch.articles]
    assert len(np.unique(batch.articles)) == len(batch.articles)
    for candidates, mask, yes in zip(batch.candidates, batch.mask, batch.clicked, strict=True):
        right = news[candidates[yes]].tolist()
        wrong = news[candidates[mask & ~yes]].tolist()
        assert len(wrong) == 4 * len(right)
        assert any(set(right) <= set(r) and set(wrong) <= w for r, w in shown)
        assert one_click == (mask.sum() == 5) or len(right) == 1


def test_a_row_is_the_same_in_any_batch_and_another_in_another_epoch() -> None:
    rows = rows_of(known_answer(np.random.default_rng(0)))
    whole, part = rows.batch(np.arange(40), 3), rows.batch(np.array([17, 5]), 3)
    for i, row in enumerate((17, 5)):
        assert np.array_equal(
            whole.articles[whole.candidates[row]], part.articles[part.candidates[i]]
        )
        assert np.array_equal(
            whole.articles[whole.history[row][whole.history_mask[row]]],
            part.articles[part.history[i][part.history_mask[i]]],
        )
    other = rows.batch(np.arange(40), 4)
    assert not np.array_equal(whole.articles[whole.candidates], other.articles[other.candidates])


def test_an_epoch_has_every_row_once_in_an_order_of_its_own() -> None:
    rows = rows_of(known_answer(np.random.default_rng(0), n_impressions=200))
    first, again, second = rows.batches(0, 8), rows.batches(0, 8), rows.batches(1, 8)
    assert np.array_equal(np.sort(np.concatenate(first)), np.arange(len(rows)))
    assert all(np.array_equal(a, b) for a, b in zip(first, again, strict=True))
    assert not all(np.array_equal(a, b) for a, b in zip(first, second, strict=True))
    lengths = rows.articles.history.lengths[rows.history_of]
    spread = np.mean([np.ptp(lengths[batch]) for batch in first])
    assert spread < np.ptp(lengths) / 4


def test_histories_keep_the_newest_clicks_that_can_be_read() -> None:
    known = known_answer(np.random.default_rng(0))
    view, present = known.features.history["title+abstract"], np.arange(240) % 3 > 0
    cut = replace(view, present=present)
    features = replace(known.features, history={"title+abstract": cut})
    for newest in (True, False):
        articles = articles_of(
            known.impressions, features, Inputs.of(features), history_limit=3, newest=newest
        )
        for numbers, rows in zip(articles.history, known.impressions.history, strict=True):
            read = rows[present[rows]]
            wanted = read[-3:] if newest else read[:3]
            assert np.array_equal(articles.row[numbers], wanted)
            assert articles.clicked[numbers].all()


def test_articles_are_one_where_both_sides_are_one() -> None:
    known = known_answer(np.random.default_rng(0))
    articles = articles_of(known.impressions, known.features, Inputs.of(known.features))
    used = np.union1d(known.impressions.history.values, known.impressions.candidates.values)
    assert np.array_equal(articles.row, used)
    apart = known_answer(np.random.default_rng(0), languages=("deu", "fin"))
    two = articles_of(apart.impressions, apart.features, Inputs.of(apart.features))
    assert len(two) > len(articles)
    assert not np.allclose(
        two.vectors(two.history.values[:1]), two.vectors(two.candidates.values[:1])
    )


def test_no_usable_impression_is_told_with_the_reasons() -> None:
    known = known_answer(np.random.default_rng(0), empty=1.0)
    with pytest.raises(DataError, match=r"no usable impression .*without_history 80"):
        rows_of(known)
    some = replace(known.impressions, clicked=None)
    with pytest.raises(DataError, match="no labels"):
        rows_of(known._replace(impressions=some))
