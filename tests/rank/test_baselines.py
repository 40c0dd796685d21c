"""Random, popularity, recency and category profiles mean what their names say."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from newsrec.errors import DataError
from newsrec.rank import CategoryProfile, ClickLog, Popularity, Random, Recency, first_shown
from newsrec.types import Features, Impressions, NewsTable, Ragged
from tests.synthetic import DAY, known_answer

HOUR = np.timedelta64(1, "h")
NAT = np.datetime64("NaT", "s")


def shown(
    candidates: list[list[int]],
    times: list[np.datetime64],
    clicked: list[bool] | None = None,
    histories: list[list[int]] | None = None,
) -> Impressions:
    n = len(candidates)
    return Impressions(
        ids=np.array([f"I{i}" for i in range(n)]),
        user=np.zeros(n, np.int32),
        time=np.array(times, "datetime64[s]"),
        history=Ragged.from_lists(histories or [[]] * n),
        history_of=np.arange(n, dtype=np.int32),
        candidates=Ragged.from_lists(candidates),
        clicked=None if clicked is None else np.array(clicked),
    )


def table(published: list[np.datetime64], category: list[int] | None = None) -> NewsTable:
    n = len(published)
    codes = np.array(category if category is not None else [-1] * n, np.int16)
    return NewsTable(
        ids=np.array([f"N{i}" for i in range(n)]),
        category=codes,
        subcategory=np.full(n, -1, np.int16),
        category_names=tuple(f"c{i}" for i in range(int(codes.max(initial=0)) + 1)),
        subcategory_names=(),
        published=np.array(published, "datetime64[s]"),
        story=np.full(n, -1, np.int32),
    )


def only_news(news: NewsTable) -> Features:
    return Features(news, {}, {})


class TestRandom:
    def test_scores_are_uniform_and_seeds_differ(self) -> None:
        known = known_answer(np.random.default_rng(0), n_impressions=3000)
        a, b = (Random(s).score(known.impressions, known.features) for s in (0, 1))
        counts, _ = np.histogram(a, bins=20, range=(0, 1))
        expected = len(a) / 20
        # Chi-square with 19 degrees of freedom: 43.8 is passed once in a thousand.
        assert ((counts - expected) ** 2 / expected).sum() < 43.8
        assert abs(np.corrcoef(a, b)[0, 1]) < 0.03

    def test_one_article_is_scored_anew_in_every_impression(self) -> None:
        impressions = shown([[0]] * 500, [DAY] * 500)
        scores = Random().score(impressions, only_news(table([DAY])))
        assert len(np.unique(scores)) > 495

    def test_scores_belong_to_ids_not_to_rows_or_string_widths(self) -> None:
        news = table([DAY] * 3)
        impressions = shown([[0, 1, 2]], [DAY])
        scores = Random(7).score(impressions, only_news(news))
        turned = replace(news, ids=news.ids[::-1].astype("<U40"))
        again = Random(7).score(
            replace(impressions, ids=impressions.ids.astype("<U9")), only_news(turned)
        )
        assert np.array_equal(again, scores[::-1])


class TestClickLog:
    def test_counts_clicks_strictly_before_a_moment(self) -> None:
        log = ClickLog.of(
            shown([[0, 1], [1, 0], [1]], [DAY, DAY + HOUR, NAT], [True, False, False, True, True])
        )
        rows = np.array([0, 0, 0, 0, 1, 5])
        moments = DAY + np.array([-1, 0, 1, 2, 9, 9]) * HOUR
        assert log.count(rows, moments).tolist() == [0, 0, 1, 2, 0, 0]

    def test_nothing_is_known_to_come_before_an_unknown_time(self) -> None:
        log = ClickLog.of(shown([[0]], [DAY], [True]))
        assert log.count(np.array([0]), np.array([NAT])).tolist() == [0]

    @pytest.mark.parametrize("seed", range(5))
    def test_counts_equal_a_count_by_hand(self, seed: int) -> None:
        rng = np.random.default_rng(seed)
        rows, times = rng.integers(0, 5, 60), rng.integers(0, 20, 60)
        log = ClickLog.of(
            shown([[r] for r in rows], list(DAY + times.astype("timedelta64[s]")), [True] * 60)
        )
        asked, moments = rng.integers(0, 7, 200), rng.integers(-5, 30, 200)
        found = log.count(asked, DAY + moments.astype("timedelta64[s]"))
        by_hand = [int(((rows == r) & (times < t)).sum()) for r, t in zip(asked, moments)]  # noqa: B905
        assert found.tolist() == by_hand

    def test_an_empty_log_and_an_unlabelled_split(self) -> None:
        assert ClickLog.of().count(np.array([3]), np.array([DAY])).tolist() == [0]
        with pytest.raises(DataError, match="unlabelled"):
            ClickLog.of(shown([[0]], [DAY]))

    def test_first_shown_is_the_earliest_known_time(self) -> None:
        first = first_shown(
            4, shown([[0, 1], [1, 2]], [DAY + HOUR, NAT]), shown([[1]], [DAY + 3 * HOUR])
        )
        assert first[:2].tolist() == [DAY + HOUR, DAY + HOUR]
        assert np.isnat(first[2:]).all()


def test_popularity_never_counts_the_impression_itself_or_what_follows() -> None:
    log = shown([[0], [0], [1]], [DAY, DAY + 2 * HOUR, DAY + HOUR], [True, True, True])
    scores = Popularity(ClickLog.of(log)).score(log, only_news(table([DAY] * 2)))
    assert scores.tolist() == [0, 1, 0]


class TestRecency:
    def test_newest_first_and_unknown_last(self) -> None:
        news = table([DAY, DAY + HOUR, NAT, DAY - 20_000 * HOUR])
        impressions = shown([[0, 1, 2, 3]] * 2, [DAY + 2 * HOUR, NAT])
        for scores in Recency().score(impressions, only_news(news)).reshape(2, 4):
            assert np.argsort(-scores).tolist() == [1, 0, 3, 2]
        hours = Recency().score(impressions, only_news(news))[:2]
        assert hours.tolist() == [-2, -1]

    def test_first_seen_stands_in_only_where_publication_is_unknown(self) -> None:
        news = table([DAY, NAT, NAT])
        seen = np.array([DAY + 9 * HOUR, DAY + HOUR, NAT], "datetime64[s]")
        scores = Recency(seen).score(shown([[0, 1, 2]], [DAY + 2 * HOUR]), only_news(news))
        assert scores[:2].tolist() == [-2, -1]
        assert scores[2] < -1e6
        with pytest.raises(DataError, match=r"first_seen: \(2,\), expected \(3,\)"):
            Recency(seen[:2]).score(shown([[0]], [DAY]), only_news(news))


class TestCategoryProfile:
    def test_scores_are_shares_of_the_known_categories_read(self) -> None:
        news = replace(
            table([DAY] * 5, [0, 0, 1, 2, -1]),
            subcategory=np.array([0, 1, 2, -1, -1], np.int16),
            subcategory_names=("a", "b", "c"),
        )
        impressions = shown([[0, 1, 2, 3, 4]], [DAY], histories=[[0, 0, 1, 2, 4]])
        scores = CategoryProfile().score(impressions, only_news(news))
        expected = [3 / 4 + 2 / 4, 3 / 4 + 1 / 4, 1 / 4 + 1 / 4, 0, 0]
        assert np.allclose(scores, expected)

    def test_without_categories_all_candidates_tie(self) -> None:
        impressions = shown([[0, 1]], [DAY], histories=[[0]])
        scores = CategoryProfile().score(impressions, only_news(table([DAY] * 2)))
        assert scores.tolist() == [0, 0]
