"""Heads learn rules that are known, from a random start, on readers they have not seen."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np
import pytest

from newsrec.errors import ConfigError, DataError
from newsrec.rank import FitOptions, Inputs, LateFusion, NeuralRanker, fit, fit_aspect, make_head
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


@pytest.fixture(scope="module")
def styled(known: Known) -> Known:
    """The same readers, but vectors say above all in which of four styles a text is written."""
    rng = np.random.default_rng(8)
    directions, _ = np.linalg.qr(rng.standard_normal((16, 16)))
    n, topic = len(known.news), known.news.category.astype(np.int64)
    style = 4 + rng.integers(0, 4, n)
    vectors = directions[topic] + 2.5 * directions[style] + 0.05 * rng.standard_normal((n, 16))
    views = {VIEW: embeddings(vectors)}
    return known._replace(features=Features(known.news, views, views))


@pytest.mark.parametrize("name", LEARNING)
def test_a_head_learns_what_readers_read(name: str, styled: Known) -> None:
    head = make_head(name, Inputs.of(styled.features), seed=3, **SMALL[name])
    start = NeuralRanker(head.eval()).score(styled.impressions, styled.features)
    ranker = trained(name, styled, epochs=10, learning_rate=2e-2)
    scores = ranker.score(styled.impressions, styled.features)
    assert auc(styled.impressions, scores).mean() >= 0.95
    if name != "naml-cat":  # like categories are alike from the start
        assert auc(styled.impressions, start).mean() < 0.9


@pytest.mark.parametrize("loss", ["ce", "scl"])
def test_both_losses_teach(loss: str, known: Known) -> None:
    scores = trained("naml", known, loss=loss).score(known.impressions, known.features)
    assert auc(known.impressions, scores).mean() >= 0.95


@pytest.mark.parametrize("name", ["mins", "caum"])
def test_who_reads_the_order_learns_a_rule_of_order(name: str, known: Known) -> None:
    rng = np.random.default_rng(1)
    train, test = (last_click_decides(rng, known.news, n) for n in (400, 100))
    ranker = learnt(name, train, known.features, replace(QUICK, epochs=12), dropout=0.0)
    ordered = auc(test, ranker.score(test, known.features)).mean()
    pooled = auc(test, LateFusion().score(test, known.features)).mean()
    assert ordered >= 0.8
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
    assert all(a <= b for a, b in pairwise(found)), found
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
