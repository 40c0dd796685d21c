"""Heads learn rules that are known, from a random start, on readers they have not seen."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from newsrec.errors import ConfigError, DataError
from newsrec.rank import FitOptions, Inputs, LateFusion, fit, fit_aspect, make_head
from newsrec.rank.ensemble import AspectEnsemble, standard
from newsrec.types import Features, Impressions, Ragged
from tests.contracts.test_rankers import auc
from tests.rank.heads.trained import QUICK, SMALL, trained
from tests.synthetic import (
    VIEW,
    Known,
    embeddings,
    impressions_of,
    known_answer,
    last_click_decides,
)

LEARNING = ("naml", "naml-cat", "mins", "caum", "manner")


@pytest.fixture(scope="module")
def known() -> Known:
    return known_answer(np.random.default_rng(0))


def learnt(
    name: str, impressions: Impressions, features: Features, options: FitOptions, **more: Any
) -> Any:
    head = make_head(name, Inputs.of(features), seed=4, **{**SMALL[name], **more})
    return fit(head, impressions, None, features, options)


@pytest.mark.parametrize("name", LEARNING)
def test_a_head_learns_what_readers_read(name: str, known: Known) -> None:
    scores = trained(name, known).score(known.impressions, known.features)
    assert auc(known.impressions, scores).mean() >= 0.95


@pytest.mark.parametrize("loss", ["ce", "scl"])
def test_both_losses_teach(loss: str, known: Known) -> None:
    scores = trained("naml", known, loss=loss).score(known.impressions, known.features)
    assert auc(known.impressions, scores).mean() >= 0.95


def test_before_training_manner_knows_nothing(known: Known) -> None:
    from newsrec.rank.neural import NeuralRanker

    means = []
    for seed in range(4):
        head = make_head("manner", Inputs.of(known.features), seed=seed)
        head.news.join.weight.data.normal_()  # type: ignore[union-attr, operator]
        head.news.join.weight.data[:, :8] *= -1  # type: ignore[union-attr, index]
        scores = NeuralRanker(head).score(known.impressions, known.features)
        means.append(auc(known.impressions, scores).mean())
    assert np.mean(means) < 1.0


@pytest.mark.parametrize("name", ["mins", "caum"])
def test_who_reads_the_order_learns_a_rule_of_order(name: str, known: Known) -> None:
    rng = np.random.default_rng(1)
    train, test = (last_click_decides(rng, known.news, n) for n in (400, 100))
    options = replace(QUICK, epochs=12)
    ranker = learnt(name, train, known.features, options)
    ordered = auc(test, ranker.score(test, known.features)).mean()
    pooled = auc(test, LateFusion().score(test, known.features)).mean()
    assert ordered >= 0.95
    assert pooled < 0.65


def test_attention_without_order_cannot_learn_a_rule_of_order(known: Known) -> None:
    rng = np.random.default_rng(1)
    train, test = (last_click_decides(rng, known.news, n) for n in (200, 100))
    ranker = learnt("naml", train, known.features, replace(QUICK, epochs=4))
    assert auc(test, ranker.score(test, known.features)).mean() < 0.65


def test_naml_cat_learns_a_rule_of_category_that_no_text_tells(known: Known) -> None:
    rng = np.random.default_rng(2)
    noise = {VIEW: embeddings(rng.standard_normal((len(known.news), 16)))}
    features = Features(known.news, noise, noise)
    train = impressions_of(rng, known.news.category.astype(np.int64), known.news, 240)
    ranker = learnt("naml-cat", train, features, QUICK)
    by_category = auc(known.impressions, ranker.score(known.impressions, features)).mean()
    by_text = auc(known.impressions, LateFusion().score(known.impressions, features)).mean()
    assert by_category >= 0.95
    assert by_text < 0.65


def test_a_head_trained_in_one_language_serves_another(known: Known) -> None:
    """Zero-shot: the other language has a direction of its own in every vector."""
    rng = np.random.default_rng(3)
    shelf = known.features.candidates[VIEW]
    own = np.zeros(16)
    own[0] = 3.0
    moved = shelf.vectors + 0.02 * rng.standard_normal(shelf.vectors.shape) + own
    other = {VIEW: embeddings(moved, language="fin")}
    ranker = trained("mins", known)
    for features in (
        replace(known.features, candidates=other),
        replace(known.features, history=other),
        replace(known.features, history=other, candidates=other),
    ):
        scores = ranker.score(known.impressions, features)
        assert auc(known.impressions, scores).mean() >= 0.95


def test_readers_of_several_languages_read_stacked_rows(known: Known) -> None:
    shelf = known.features.candidates[VIEW]
    n, rng = len(known.news), np.random.default_rng(4)
    stacked = {VIEW: embeddings(np.concatenate([shelf.vectors, shelf.vectors]), language="mul")}
    rows = known.impressions.history.values + n * rng.integers(
        0, 2, len(known.impressions.history.values)
    )
    features = replace(known.features, history=stacked, history_rows=rows.astype(np.int64))
    for name in ("naml", "caum"):
        scores = trained(name, known).score(known.impressions, features)
        assert auc(known.impressions, scores).mean() >= 0.95


@pytest.fixture(scope="module")
def modules(known: Known) -> AspectEnsemble:
    head = make_head("manner", Inputs.of(known.features), seed=5)
    options = replace(QUICK, batch=64, epochs=15)
    aspect = fit_aspect(head, known.news.category, known.features, options)
    return AspectEnsemble(trained("manner", known), {"category": aspect}, {"category": 0.0})


def crowded(known: Known, n: int = 60) -> Impressions:
    """Lists with six articles of the reader's topic and two of each other."""
    rng = np.random.default_rng(6)
    topic = known.news.category.astype(np.int64)
    read = impressions_of(rng, topic, known.news, n)
    own = topic[read.history.values[read.history.offsets[:-1]]][read.history_of]
    lists = []
    for mine in own:
        parts = [rng.choice(np.flatnonzero(topic == t), 6 if t == mine else 2, replace=False)
                 for t in range(4)]  # fmt: skip
        lists.append(rng.permutation(np.concatenate(parts)).tolist())
    return replace(read, candidates=Ragged.from_lists(lists), clicked=None)


def entropy_at(k: int, impressions: Impressions, scores: np.ndarray, known: Known) -> float:
    found = []
    for rows, s in zip(impressions.candidates, impressions.candidates.like(scores), strict=True):
        top = known.news.category[rows[np.argsort(-s, kind="stable")[:k]]]
        shares = np.bincount(top, minlength=4) / k
        found.append(-(shares[shares > 0] * np.log(shares[shares > 0])).sum() / np.log(4))
    return float(np.mean(found))


def test_a_more_negative_category_weight_brings_more_categories(
    known: Known, modules: AspectEnsemble
) -> None:
    lists = crowded(known)
    found = []
    for weight in (0.5, 0.0, -0.5, -0.8, -1.0, -1.5):
        ranker = replace(modules, weights={"category": weight})
        found.append(entropy_at(5, lists, ranker.score(lists, known.features), known))
    assert all(a <= b for a, b in zip(found, found[1:], strict=False)), found
    assert found[-1] > found[0] + 0.3


def test_an_aspect_module_puts_articles_of_a_label_together(
    known: Known, modules: AspectEnsemble
) -> None:
    scores = modules.modules["category"].score(known.impressions, known.features)
    assert auc(known.impressions, scores).mean() >= 0.95


def test_weight_zero_orders_as_relevance_alone(known: Known, modules: AspectEnsemble) -> None:
    mine = modules.score(known.impressions, known.features)
    plain = modules.relevance.score(known.impressions, known.features)
    lists = known.impressions.candidates
    for a, b in zip(lists.like(mine), lists.like(plain), strict=True):
        assert np.array_equal(np.argsort(-a, kind="stable"), np.argsort(-b, kind="stable"))


def test_standard_scores_are_per_list_and_zero_for_ties() -> None:
    lists = Ragged.from_lists([[0, 0], [], [0, 0, 0], [0]])
    found = standard(np.array([1, 3, 5, 5, 5, 9], np.float32), lists)
    assert found.tolist() == [-1, 1, 0, 0, 0, 0]


def test_aspects_need_labels(known: Known) -> None:
    head, n = make_head("manner", Inputs.of(known.features)), len(known.news)
    with pytest.raises(DataError, match="no labelled article"):
        fit_aspect(head, np.full(n, -1), known.features)
    with pytest.raises(DataError, match="needs two labels"):
        fit_aspect(head, np.zeros(n, np.int64), known.features)
    with pytest.raises(DataError, match=r"labels: \(3,\), expected \(240,\)"):
        fit_aspect(head, np.zeros(3, np.int64), known.features)
    with pytest.raises(ConfigError, match="no weights"):
        fit_aspect(make_head("lfrec", Inputs.of(known.features)), np.zeros(n), known.features)
    relevance = trained("naml", known)
    with pytest.raises(ConfigError, match="unknown aspect 'sentiment'; known: category"):
        AspectEnsemble(relevance, {"category": relevance}, {"sentiment": 1.0})
