"""Quotas by hand, and a walk down the list written out."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from newsrec.errors import ConfigError, DataError
from newsrec.rerank import InTurn, Mmr, Quota
from newsrec.types import Pool
from tests.rerank.made import drawn, pool_of, pools


def test_one_a_story_and_two_a_topic_by_hand() -> None:
    pool = pool_of(
        [9, 8, 7, 6, 5, 4, 3],
        aspects={"story": [1, 1, 2, -1, -1, 3, 2], "topic": [0, 1, 0, 0, 1, -1, 1]},
    )
    # 1 repeats the story of 0, 6 that of 2; 0 and 2 fill topic 0, so 3 is over. 1 fills nothing,
    # so that 4 is the first of topic 1.
    assert Quota(at_most={"story": 1, "topic": 2})(pool).tolist() == [0, 2, 4, 5, 1, 3, 6]
    assert Quota()(pool).tolist() == [0, 2, 3, 4, 5, 1, 6]
    assert Quota(at_most={"story": 2})(pool).tolist() == [0, 1, 2, 3, 4, 5, 6]
    assert Quota(at_most={})(pool).tolist() == [0, 1, 2, 3, 4, 5, 6]


@settings(max_examples=200, deadline=None)
@given(pool=pools(), most=st.integers(1, 3), topics=st.integers(1, 4))
def test_strict_quotas_hold_until_they_cannot(pool: Pool, most: int, topics: int) -> None:
    """The list begins with as many candidates as quotas allow, in score order; each of the others
    would break one."""
    limits = {"story": most, "category": topics}
    order = Quota(at_most=limits)(pool).tolist()
    by_score = sorted(range(len(pool)), key=lambda i: -float(pool.scores[i]))
    kept: list[int] = []
    for i in by_score:
        own = {a: pool.aspects[a][i] for a in limits}
        if all(
            own[a] < 0 or sum(pool.aspects[a][j] == own[a] for j in kept) < limit
            for a, limit in limits.items()
        ):
            kept.append(i)
    assert order == kept + [i for i in by_score if i not in kept]


def test_a_story_comes_once_in_the_reader_s_best_language() -> None:
    pool = pool_of(
        [9, 8, 7, 6, 5],
        aspects={"story": [1, 2, 1, 2, 1]},
        language=[0, 0, 2, 1, 1],
        languages=("eng", "fin", "tha"),
    )
    # Story 1 is 0 (eng), 2 (tha), 4 (fin); story 2 is 1 (eng), 3 (fin).
    assert Quota(languages=("fin", "eng"))(pool).tolist() == [4, 3, 0, 1, 2]
    assert Quota(languages=("tha", "eng"))(pool).tolist() == [2, 1, 0, 3, 4]
    # Languages that are not named come last, in score order.
    assert Quota(languages=("swh",))(pool).tolist() == [0, 1, 2, 3, 4]
    # A preference without a quota for stories, or a shelf in one language, changes nothing.
    assert Quota(at_most={}, languages=("fin",))(pool).tolist() == [0, 1, 2, 3, 4]
    alone = pool_of([9, 8], aspects={"story": [1, 1]})
    assert Quota(languages=("fin",))(alone).tolist() == [0, 1]


def test_articles_without_a_story_keep_their_places() -> None:
    pool = pool_of(
        [9, 8, 7, 6],
        aspects={"story": [-1, 1, -1, 1]},
        language=[0, 0, 1, 1],
        languages=("eng", "fin"),
    )
    assert Quota(languages=("fin",))(pool).tolist() == [0, 3, 2, 1]


@settings(max_examples=200, deadline=None)
@given(pool=pools(), first=st.permutations(["eng", "fin", "tha"]))
def test_every_story_is_in_the_best_language_that_it_has(pool: Pool, first: list[str]) -> None:
    order = Quota(languages=tuple(first))(pool)
    seen = set()
    for i in order.tolist():
        story = int(pool.aspects["story"][i])
        if story >= 0 and story not in seen:
            seen.add(story)
            versions = pool.language[pool.aspects["story"] == story]  # type: ignore[index]
            best = min(first.index(pool.languages[v]) for v in versions)
            assert first.index(pool.languages[pool.language[i]]) == best  # type: ignore[index]


def test_the_weight_of_relevance_softens_a_quota() -> None:
    # Relevance 1, 0.9, 0.5, 0; the second repeats the story of the first.
    pool = pool_of([10, 9, 5, 0], aspects={"story": [1, 1, 2, 3]})
    assert Quota(0.0)(pool).tolist() == [0, 2, 3, 1]
    assert Quota(0.49)(pool).tolist() == [0, 2, 3, 1]
    # At 0.6 it has 0.54 - 0.4 = 0.14 against 0.3 and 0; at 0.8 0.72 - 0.2 = 0.52 against 0.4.
    assert Quota(0.6)(pool).tolist() == [0, 2, 1, 3]
    assert Quota(0.8)(pool).tolist() == [0, 1, 2, 3]


def test_a_version_in_a_better_language_takes_place_and_relevance() -> None:
    # Relevance 1, 0.6, 0.5, 0. The last is the first's story in the better language.
    pool = pool_of(
        [10, 6, 5, 0],
        aspects={"story": [1, 2, 3, 1]},
        language=[0, 0, 0, 1],
        languages=("eng", "fin"),
    )
    # At 0.55 the version shown is worth 0.55, the next 0.33 and 0.275, the other -0.45.
    assert Quota(0.55, languages=("fin",))(pool).tolist() == [3, 1, 2, 0]


def test_after_another_re_ranker_the_quota_is_strict() -> None:
    for seed in range(20):
        pool = drawn(np.random.default_rng(seed))
        order = InTurn(Mmr(0.7), Quota(at_most={"category": 2}))(pool)
        alone = Mmr(0.7)(pool).tolist()
        kept = order[: sum(min(2, int(np.sum(pool.aspects["category"] == c))) for c in range(4))]
        counts = np.bincount(pool.aspects["category"][kept][pool.aspects["category"][kept] >= 0])
        assert counts.max() <= 2
        places = [alone.index(i) for i in kept.tolist()]
        assert places == sorted(places)


def test_bad_quotas_are_refused() -> None:
    for n in (0, -1, 1.5, True, "2"):
        with pytest.raises(ConfigError, match=r"at_most\['story'\]: .*whole number of 1 or more"):
            Quota(at_most={"story": n})  # type: ignore[dict-item]
    with pytest.raises(ConfigError, match="languages: 'fin', expected a list"):
        Quota(languages="fin")
    with pytest.raises(ConfigError, match=r"languages: unknown language 'finn'.*nearest known"):
        Quota(languages=("finn",))
    assert Quota(languages=["fi", "English"]).languages == ("fin", "eng")
    with pytest.raises(DataError, match="no aspect 'story'; they have: topic"):
        Quota()(pool_of([1], aspects={"topic": [0]}))
