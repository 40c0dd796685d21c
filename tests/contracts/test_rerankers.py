"""What every re-ranker promises. One row per implementation: a new one adds a line to `ROWS`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields, replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from newsrec.errors import ConfigError
from newsrec.protocols import Reranker
from newsrec.rerank import (
    RERANKERS,
    Calibrated,
    Dpp,
    InTurn,
    Manner,
    Mmr,
    Pm2,
    Quota,
    XQuad,
    make_reranker,
)
from newsrec.rerank.table import DEFAULT_DIVERSITY
from newsrec.types import Pool
from tests.rerank.made import drawn, pool_of, pools

#: From a relevance weight to a re-ranker.
Make = Callable[[float], Reranker]
ROWS: dict[str, Make] = {
    **{name: lambda w, name=name: make_reranker(name, relevance_weight=w) for name in RERANKERS},
    "quota of topics": lambda w: Quota(w, {"category": 2}),
    "quota of both": lambda w: Quota(w, {"category": 2, "story": 1}),
    "quota, Finnish first": lambda w: Quota(w, languages=("fin", "eng")),
    "mmr, short head": lambda w: Mmr(w, k=3),
    "dpp, short head": lambda w: Dpp(w, k=3),
    "xquad of the history": lambda w: XQuad(w, exploration=0, satisfaction=1),
    "pm2, only what is due": lambda w: Pm2(w, exploration=1, focus=1),
    "calibrated, js": lambda w: Calibrated(w, divergence="js"),
    "manner of two": lambda w: Manner(w, {"category": 0.5, "mood": -0.8}),
    "in turn": lambda w: InTurn(Mmr(w), Quota(w)),
    "in turn, three": lambda w: InTurn(XQuad(w), Dpp(w), Quota(w, {"category": 3})),
    "in turn, none": lambda w: InTurn(),
}
WEIGHTS = st.sampled_from([0.0, 0.25, 0.5, 0.7, 0.9, 1.0])


@pytest.fixture(params=ROWS)
def make(request: pytest.FixtureRequest) -> Make:
    return ROWS[request.param]


def laws(test: Callable[..., None]) -> Callable[..., None]:
    """Runs a property on drawn pools and weights, for every row."""
    drawn_test = given(pool=pools(), weight=WEIGHTS)(test)
    quiet = settings(max_examples=60, deadline=None)(drawn_test)
    return pytest.mark.parametrize("row", ROWS)(quiet)


def score_order(pool: Pool) -> list[int]:
    """Highest first; equal scores in the order of the candidates."""
    return sorted(range(len(pool)), key=lambda i: -float(pool.scores[i]))


def arranged(pool: Pool, places: np.ndarray) -> Pool:
    """The candidates ``places``, in that order; one may come twice."""

    def at(value: Any) -> Any:
        if isinstance(value, dict):
            return {name: at(part) for name, part in value.items()}
        return value[places]

    names = ("scores", "vectors", "aspects", "affinity", "language")
    return replace(pool, **{name: at(getattr(pool, name)) for name in names})


@laws
def test_a_permutation_of_all_candidates(row: str, pool: Pool, weight: float) -> None:
    reranker = ROWS[row](weight)
    assert isinstance(reranker, Reranker)
    order = reranker(pool)
    assert order.dtype == np.int64
    assert sorted(order.tolist()) == list(range(len(pool)))


@laws
def test_full_relevance_weight_is_score_order(row: str, pool: Pool, weight: float) -> None:
    assert ROWS[row](1.0)(pool).tolist() == score_order(pool)


@laws
def test_ties_keep_candidate_order(row: str, pool: Pool, weight: float) -> None:
    """Candidates that are the same in everything keep their order; so do twins, pair by pair."""
    if len(pool):
        same = arranged(pool, np.zeros(9, np.int64))
        assert ROWS[row](weight)(same).tolist() == list(range(9))
    n = len(pool)
    order = ROWS[row](weight)(arranged(pool, np.concatenate([np.arange(n), np.arange(n)])))
    place = np.argsort(order)
    assert (place[:n] < place[n:]).all()


@pytest.mark.parametrize("row", ROWS)
@settings(max_examples=60, deadline=None)
@given(
    pool=pools(),
    weight=WEIGHTS,
    times=st.sampled_from([0.001, 0.1, 0.5, 3, 7.7, 1e4]),
    plus=st.sampled_from([0, -3, 0.3, 11]),
)
def test_rescaled_scores_change_nothing(
    row: str, pool: Pool, weight: float, times: float, plus: float
) -> None:
    reranker = ROWS[row](weight)
    # In float64, since a map in float32 may make two scores one.
    rescaled = replace(pool, scores=pool.scores.astype(np.float64) * times + plus)
    assert np.array_equal(reranker(rescaled), reranker(pool))


@pytest.mark.parametrize("weight", [0.0, 0.3, 0.7, 1.0])
def test_rescaled_float32_scores_change_nothing(make: Make, weight: float) -> None:
    for seed in range(20):
        pool = drawn(np.random.default_rng(seed))
        rescaled = replace(pool, scores=pool.scores * np.float32(0.37) + np.float32(2.5))
        assert np.array_equal(make(weight)(rescaled), make(weight)(pool))


@pytest.mark.parametrize("weight", [0.3, 0.7, 1.0])
def test_shuffled_candidates_give_the_same_list(make: Make, weight: float) -> None:
    for seed in range(20):
        rng = np.random.default_rng(seed)
        pool = drawn(rng)
        places = rng.permutation(len(pool))
        shuffled = make(weight)(arranged(pool, places))
        assert np.array_equal(places[shuffled], make(weight)(pool))


def test_no_candidate_and_one(make: Make) -> None:
    pool = drawn(np.random.default_rng(0))
    assert make(0.5)(arranged(pool, np.zeros(0, np.int64))).tolist() == []
    assert make(0.5)(arranged(pool, np.array([3]))).tolist() == [0]


def test_nothing_known_of_the_reader_is_fine(make: Make) -> None:
    pool = replace(drawn(np.random.default_rng(0)), history={})
    assert sorted(make(0.5)(pool).tolist()) == list(range(len(pool)))


def test_inputs_stay_as_they_were_and_may_be_read_only(make: Make) -> None:
    pool = drawn(np.random.default_rng(0))
    before = arranged(pool, np.arange(len(pool)))
    for part in fields(pool):
        value = getattr(pool, part.name)
        for array in value.values() if isinstance(value, dict) else (value,):
            if isinstance(array, np.ndarray):
                array.flags.writeable = False
    first = make(0.4)(pool)
    assert np.array_equal(first, make(0.4)(pool))
    assert np.array_equal(first, make(0.4)(before))


@pytest.mark.parametrize("weight", [-0.1, 1.01, float("nan"), float("inf"), "0.5", None, True])
@pytest.mark.parametrize("name", RERANKERS)
def test_a_weight_outside_0_to_1_is_refused(name: str, weight: object) -> None:
    with pytest.raises(ConfigError, match=r"relevance_weight.*expected a number from 0"):
        make_reranker(name, relevance_weight=weight)


@pytest.mark.parametrize("name", RERANKERS)
def test_a_reranker_that_is_told_no_weight_has_its_measured_one(name: str) -> None:
    weight = round(1 - DEFAULT_DIVERSITY[name], 10)
    assert make_reranker(name) == make_reranker(name, relevance_weight=weight)
    assert make_reranker(name, relevance_weight=0.9) != make_reranker(name)


@pytest.mark.parametrize("row", [row for row in ROWS if row != "in turn, none"])
def test_no_relevance_weight_is_another_list(row: str) -> None:
    """Three candidates that are the same but for the score, then one that differs: it comes up.

    The history has both classes, a little more of the one that the three have.
    """
    pool = pool_of(
        [4, 3.9, 3.8, 3.7, 0],
        vectors=[[1.0, 0.0], [1.0, 0.0], [1.0, 0.0], [0.0, 1.0], [1.0, 0.0]],
        aspects={"category": [0, 0, 0, 1, 0], "story": [5, 5, 5, 6, 5]},
        history={"category": [0, 1, 0, 1, 0]},
        affinity={"mood": [0.9, 0.9, 0.9, 0.1, 0.9]},
        language=[0, 0, 0, 0, 0],
        languages=("eng",),
    )
    order = ROWS[row](0.0)(pool).tolist()
    assert order.index(3) <= (2 if row == "quota of topics" else 1)
