"""Readers without history get what is fresh and popular, spread over categories."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from newsrec.rank import ClickLog, ColdStart, LateFusion, Random, WithFallback
from newsrec.rank.histories import part, readable
from newsrec.types import Features
from tests.rank.test_baselines import HOUR, NAT, only_news, shown, table
from tests.synthetic import DAY, VIEW, embeddings, known_answer, popular_log

NO_CLICKS = ClickLog.of()


def clicks(*rows: int, when: np.datetime64 = DAY) -> ClickLog:
    return ClickLog.of(shown([[r] for r in rows], [when] * len(rows), [True] * len(rows)))


def test_heat_is_one_plus_clicks_before_now_halved_every_half_life() -> None:
    news = table([DAY, DAY - 24 * HOUR, DAY - 48 * HOUR])
    log = clicks(0, 2, 2, 2)
    rows = np.arange(3)
    assert ColdStart(log).heat(news, rows, DAY + HOUR * 0).tolist() == [1, 0.5, 0.25]
    assert np.allclose(ColdStart(log).heat(news, rows, DAY + 24 * HOUR), [1, 0.25, 0.5])
    assert np.allclose(ColdStart(log, half_life_h=48).heat(news, rows, DAY), [1, 2**-0.5, 0.5])


def test_articles_of_unknown_age_come_after_dated_ones_and_popularity_still_orders_them() -> None:
    news = table([NAT, NAT, DAY - 24 * 30 * HOUR])
    order = ColdStart(clicks(1)).order(news, np.arange(3), DAY + HOUR)
    assert order.tolist() == [2, 1, 0]


def test_categories_take_turns_hottest_first() -> None:
    #  row:        0  1  2  3  4  5
    category = [0, 0, 0, 1, 1, 2]
    news = table([DAY - h * HOUR for h in (0, 1, 2, 3, 4, 5)], category)
    order = ColdStart(NO_CLICKS).order(news, np.arange(6), DAY)
    assert order.tolist() == [0, 3, 5, 1, 4, 2]


def test_an_order_is_of_the_rows_given_and_knows_nothing_of_the_future() -> None:
    news = table([DAY - h * HOUR for h in range(4)], [0, 1, 0, 1])
    rows = np.array([3, 1, 2])
    later = clicks(*[3] * 50, when=DAY + HOUR)
    assert rows[ColdStart(later).order(news, rows, DAY)].tolist() == [1, 2, 3]
    assert rows[ColdStart(later).order(news, rows, DAY + 2 * HOUR)].tolist() == [3, 2, 1]
    assert ColdStart(later).order(news, rows[:0], DAY).shape == (0,)


def test_scores_are_the_places_of_the_order_of_each_list() -> None:
    known = known_answer(np.random.default_rng(0))
    ranker = ColdStart(ClickLog.of(popular_log(known)))
    scores = known.impressions.candidates.like(ranker.score(known.impressions, known.features))
    for i, rows in enumerate(known.impressions.candidates):
        order = ranker.order(known.news, rows, known.impressions.time[i])
        assert np.array_equal(np.argsort(-scores[i]), order)


def test_the_fallback_serves_exactly_the_readers_whose_history_cannot_be_read() -> None:
    known = known_answer(np.random.default_rng(1), empty=0.3)
    present = np.random.default_rng(2).random(len(known.news)) < 0.4
    e = embeddings(known.features.candidates[VIEW].vectors, present=present)
    features = Features(known.news, {VIEW: e}, known.features.candidates)
    ranker = WithFallback(LateFusion(), Random())
    mask = ranker.known(known.impressions, features)
    history = known.impressions.history
    by_hand = [bool(present[history[h]].any()) for h in known.impressions.history_of]
    assert mask.tolist() == by_hand
    assert 0 < mask.sum() < len(mask)
    scores, fused, drawn = (
        r.score(known.impressions, features) for r in (ranker, LateFusion(), Random())
    )
    of_known = mask[known.impressions.candidates.owner()]
    assert np.array_equal(scores, np.where(of_known, fused, drawn))


def test_without_a_view_a_reader_with_any_click_is_known() -> None:
    known = known_answer(np.random.default_rng(1), empty=0.3)
    mask = readable(known.impressions, only_news(known.news), None)
    assert np.array_equal(mask, known.impressions.history.lengths > 0)


def test_a_part_keeps_mixed_histories_aligned() -> None:
    known = known_answer(np.random.default_rng(3), empty=0.2)
    clicked = known.impressions.history.values
    n = len(known.news)
    e = embeddings(np.tile(known.features.candidates[VIEW].vectors, (2, 1)))
    features = replace(
        known.features, history={VIEW: e}, history_rows=np.where(clicked % 3, clicked, clicked + n)
    )
    ranker = WithFallback(LateFusion(), Random())
    whole = ranker.score(known.impressions, features)
    rows = np.random.default_rng(4).permutation(len(known.impressions))[:9]
    some = ranker.score(*part(known.impressions, features, rows))
    assert np.array_equal(some, whole[known.impressions.candidates.positions(rows)])
