"""Trade-off curves of real re-rankers on a corpus whose right answer is known."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import pytest

from newsrec.errors import ConfigError, DataError
from newsrec.evaluate.run import Shown, evaluate
from newsrec.pipeline.pools import pools, reranked, table_aspects
from newsrec.pipeline.tradeoff import trade_off
from newsrec.protocols import Reranker
from newsrec.rank import LateFusion
from newsrec.rerank import RERANKERS, Dpp, Mmr, XQuad, make_reranker
from newsrec.types import Pool
from tests.evaluate.made import PROVENANCE, impressions, news
from tests.synthetic import VIEW, known_answer

METRICS = (
    "ndcg@10", "ndcg@5", "category_coverage@5", "category_jaccard@5", "intra_list_distance@5",
    "diversity",
)  # fmt: skip


def scene(seed: int = 0) -> tuple[np.ndarray, Shown]:
    """Noisy scores of late fusion on 80 impressions."""
    known = known_answer(np.random.default_rng(seed), empty=0.1)
    scores = LateFusion().score(known.impressions, known.features)
    shown = Shown(
        impressions=known.impressions,
        rows=np.arange(len(known.impressions)),
        news=known.news,
        vectors=known.features.candidates[VIEW].vectors,
    )
    return scores, shown


def test_pools_hold_what_is_known_of_each_candidate() -> None:
    table = news([0, 1, 0, 2], subcategory=[0, 1, 1, 2])
    lists = impressions([[3, 0], [], [1, 2, 0]], None, [[], [2, 3]], [1, 0, 1])
    vectors = np.arange(8, dtype=np.float32).reshape(4, 2)
    shown = Shown(lists, np.arange(3), table, vectors, np.array([0, 1, 0, 1]), ("eng", "fin"))
    found = list(pools(np.array([5, 4, 3, 2, 1], np.float32), shown))
    assert [pool.scores.tolist() for pool in found] == [[5, 4], [], [3, 2, 1]]
    last = found[2]
    assert last.vectors is not None
    assert last.language is not None
    assert last.vectors.tolist() == [[2, 3], [4, 5], [0, 1]]
    assert {name: x.tolist() for name, x in last.aspects.items()} == {
        "category": [1, 0, 0],
        "subcategory": [1, 1, 0],
    }
    assert {name: x.tolist() for name, x in last.history.items()} == {
        "category": [0, 2],
        "subcategory": [1, 2],
    }
    assert found[1].history["category"].tolist() == []
    assert last.language.tolist() == [1, 0, 0]
    assert last.languages == ("eng", "fin")


def test_aspects_may_be_given() -> None:
    scores, shown = scene()
    theme = np.arange(len(shown.news)) % 3
    first = next(pools(scores, shown, {"theme": theme}))
    assert list(first.aspects) == list(first.history) == ["theme"]
    assert first.aspects["theme"].tolist() == (shown.impressions.candidates[0] % 3).tolist()
    with pytest.raises(DataError, match=r"aspect 'theme': \(3,\), expected \(240,\)"):
        next(pools(scores, shown, {"theme": theme[:3]}))
    assert list(table_aspects(shown.news)) == ["category", "subcategory"]  # no story is known


def test_places_of_every_reranker() -> None:
    scores, shown = scene()
    rerankers: list[Reranker] = [Mmr(1.0), Mmr(0.3)]
    found = reranked(rerankers, scores, shown)
    lists = shown.impressions.candidates
    for i, pool in enumerate(pools(scores, shown)):
        for places, reranker in zip(found, rerankers, strict=True):
            order = np.argsort(-lists.like(places)[i], kind="stable")
            assert order.tolist() == reranker(pool).tolist()


#: What no relevance weight at all brings, and whether more of it.
BRINGS = {
    "mmr": ("intra_list_distance@5", True),
    "xquad": ("category_coverage@5", True),
    "pm2": ("category_coverage@5", True),
    "dpp": ("intra_list_distance@5", True),
    "calibrated": ("calibration_kl@10", False),
    "manner": ("category_jaccard@5", False),
}


@pytest.mark.parametrize("name", BRINGS)
def test_full_weight_measures_as_the_scores_do_and_none_brings_its_aim(name: str) -> None:
    _, shown = scene()
    scores = np.random.default_rng(1).standard_normal(len(shown.impressions.candidates.values))
    scores = scores.astype(np.float32)
    found = trade_off(
        scores,
        shown,
        lambda w: make_reranker(name, relevance_weight=w),
        PROVENANCE,
        weights=(0.0, 0.5),
        metrics=METRICS,
    )
    assert found.weights.tolist() == [0, 0.5, 1]
    plain = evaluate(scores, shown, PROVENANCE, np.random.default_rng(0), METRICS)
    assert found.reports[-1].mean() == plain.mean()
    assert found.reports[0].skipped == plain.skipped
    metric, more = BRINGS[name]
    none, _, full = found.curve(metric)
    assert (none > full + 0.01) if more else (none < full - 0.01)


def test_variety_costs_accuracy_where_taste_is_narrow() -> None:
    scores, shown = scene()
    found = trade_off(
        scores, shown, Mmr, PROVENANCE, weights=(0, 0.2, 0.4, 0.6, 0.8), metrics=METRICS
    )
    accuracy = found.curve("ndcg@5")
    assert accuracy[0] < 0.9 < accuracy[-1]
    chosen = found.most_diverse(loss=0.02, accuracy="ndcg@5")
    at = found.weights.tolist().index(chosen)
    assert accuracy[at] >= 0.98 * accuracy[-1]
    assert (accuracy[:at] < 0.98 * accuracy[-1]).all()


@pytest.mark.parametrize("weights", [[-0.1], [0.5, 1.5], [float("nan")]])
def test_weights_outside_0_to_1_are_refused(weights: list[float]) -> None:
    scores, shown = scene()
    with pytest.raises(ConfigError, match="expected a number from 0 to 1"):
        trade_off(scores, shown, Mmr, PROVENANCE, weights=weights)


def test_data_that_cannot_be_measured_are_refused() -> None:
    scores, shown = scene()
    with pytest.raises(DataError, match=r"scores: \(3,\), expected"):
        trade_off(scores[:3], shown, Mmr, PROVENANCE)
    blind: Any = replace(shown, impressions=replace(shown.impressions, clicked=None))
    with pytest.raises(DataError, match="no labels"):
        trade_off(scores, blind, Mmr, PROVENANCE)
    bad = scores.copy()
    bad[shown.impressions.candidates.offsets[1]] = np.nan
    with pytest.raises(DataError, match=r"impression 'I1': Pool\.scores: nan for cand"):
        trade_off(bad, shown, Mmr, PROVENANCE)
    with pytest.raises(DataError, match="no vectors"):
        trade_off(scores, replace(shown, vectors=None), Mmr, PROVENANCE)


def test_a_reranker_may_be_anything_that_gives_an_order() -> None:
    scores, shown = scene()

    def backwards(weight: float) -> Reranker:
        def call(pool: Pool) -> np.ndarray:
            order = np.argsort(-pool.scores, kind="stable")
            return order if weight == 1 else order[::-1].copy()

        return call

    found = trade_off(scores, shown, backwards, PROVENANCE, weights=(0,))
    accuracy = found.curve("ndcg@10")
    assert accuracy[0] < accuracy[1]


def test_a_reranker_that_loses_candidates_is_refused() -> None:
    scores, shown = scene()

    class Short:
        def __repr__(self) -> str:
            return "Short"

        def __call__(self, pool: Pool) -> np.ndarray:
            return np.argsort(-pool.scores)[:4]

    lost = int(np.maximum(shown.impressions.candidates.lengths - 4, 0).sum())
    with pytest.raises(DataError, match=rf"Short: lost {lost} of {len(scores)} candidates"):
        reranked([Mmr(), Short()], scores, shown)


@pytest.mark.parametrize("name", RERANKERS)
def test_many_weights_asked_at_once_give_the_lists_of_each_alone(name: str) -> None:
    """In any order, twice, and among re-rankers of other kinds."""
    scores, shown = scene(3)
    weights = [0.5, 0.0, 1.0, 0.9, 0.5, 0.25]
    aspects = {**table_aspects(shown.news), "story": np.arange(len(shown.news)) // 3}
    mixed: list[Reranker] = [Mmr(0.4)]
    for weight in weights:
        mixed += [make_reranker(name, relevance_weight=weight), Dpp(weight, k=3)]
    found = reranked(mixed, scores, shown, aspects)
    for row, reranker in zip(found, mixed, strict=True):
        assert np.array_equal(row, reranked([reranker], scores, shown, aspects)[0])


def test_levels_of_a_tree_are_aspects_of_lists_and_of_metrics() -> None:
    scores, shown = scene()
    topic = np.asarray(shown.news.subcategory, np.int64)
    tree = replace(shown, aspects={"topic": topic})
    made = partial(XQuad, aspect="topic")
    names = ["ndcg@10", "topic_coverage@5"]
    found = trade_off(scores, tree, made, PROVENANCE, weights=(0.0,), metrics=names)
    assert found.curve("topic_coverage@5")[0] > found.curve("topic_coverage@5")[1]
    with pytest.raises(DataError, match="no aspect 'topic'; they have: category, subcategory"):
        trade_off(scores, shown, made, PROVENANCE, weights=(0.0,))
