"""Trained rankers as folders: read back exactly, refused when they do not fit."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from newsrec.errors import ConfigError, DataError, StaleCacheError
from newsrec.rank import Inputs, NeuralRanker, load_ranker, make_head, save_ranker, untrained
from newsrec.rank.ensemble import AspectEnsemble
from newsrec.rank.trained import sealed
from newsrec.types import Embeddings, Ragged
from tests.rank.heads.trained import SMALL, trained
from tests.synthetic import VIEW, Known, known_answer


@pytest.fixture(scope="module")
def known() -> Known:
    return known_answer(np.random.default_rng(0))


@pytest.mark.parametrize("name", SMALL)
def test_a_saved_ranker_scores_as_before(known: Known, name: str, tmp_path: Path) -> None:
    ranker = trained(name, known)
    save_ranker(tmp_path / "model", ranker)
    back = load_ranker(tmp_path / "model")
    assert isinstance(back, NeuralRanker)
    scores = ranker.score(known.impressions, known.features)
    assert np.array_equal(back.score(known.impressions, known.features), scores)
    assert back.head.name == name
    assert back.head.inputs == ranker.head.inputs
    assert dict(back.made) == json.loads(json.dumps(dict(ranker.made)))


def test_nothing_is_pickled(known: Known, tmp_path: Path) -> None:
    save_ranker(tmp_path / "model", trained("naml", known))
    files = sorted(path.name for path in (tmp_path / "model").iterdir())
    assert files == ["manifest.json", "weights.safetensors"]


def test_an_ensemble_is_folders_in_a_folder(known: Known, tmp_path: Path) -> None:
    relevance, aspect = trained("manner", known), trained("naml", known)
    both = AspectEnsemble(relevance, {"category": aspect}, {"category": -0.5})
    save_ranker(tmp_path / "model", both)
    back = load_ranker(tmp_path / "model")
    assert isinstance(back, AspectEnsemble)
    assert back.weights == {"category": -0.5}
    scores = both.score(known.impressions, known.features)
    assert np.array_equal(back.score(known.impressions, known.features), scores)


def test_damage_is_told(known: Known, tmp_path: Path) -> None:
    folder = tmp_path / "model"
    with pytest.raises(DataError, match="no such folder"):
        load_ranker(folder)
    folder.mkdir()
    with pytest.raises(DataError, match=r"no manifest\.json"):
        load_ranker(folder)
    save_ranker(folder, trained("naml", known))
    weights, manifest = folder / "weights.safetensors", folder / "manifest.json"
    good = weights.read_bytes()
    weights.write_bytes(good[:-4] + b"\0\0\0\1")
    with pytest.raises(StaleCacheError, match="not those that were written"):
        load_ranker(folder)
    weights.write_bytes(good)
    fields = json.loads(manifest.read_text("utf-8"))
    manifest.write_text(json.dumps({**fields, "version": 99}), "utf-8")
    with pytest.raises(StaleCacheError, match="version 99, expected 1"):
        load_ranker(folder)
    manifest.write_text(json.dumps(sealed({**fields, "options": {"query": 7}})), "utf-8")
    with pytest.raises(StaleCacheError, match="does not hold what its manifest says"):
        load_ranker(folder)
    manifest.write_text(json.dumps({**fields, "history_limit": -3}), "utf-8")
    with pytest.raises(StaleCacheError, match="it is not as it was written"):
        load_ranker(folder)
    manifest.write_text("{", "utf-8")
    with pytest.raises(StaleCacheError, match="not readable as JSON"):
        load_ranker(folder)


def test_vectors_of_another_encoder_are_refused_with_both_names(known: Known) -> None:
    ranker, old = trained("naml", known), known.features.candidates[VIEW]
    spec = replace(old.spec, encoder=replace(old.spec.encoder, name="another"))
    other = {VIEW: Embeddings(old.vectors, old.present, spec)}
    with pytest.raises(ConfigError, match=r"trained on vectors of 'synthetic'.*of 'another'"):
        ranker.score(known.impressions, replace(known.features, candidates=other))
    wide = known_answer(np.random.default_rng(0), dim=24)
    with pytest.raises(ConfigError, match=r"16 dimensions.*24 dimensions"):
        ranker.score(wide.impressions, wide.features)
    with pytest.raises(ConfigError, match=r"view 'title\+abstract'; there are: title"):
        ranker.score(known.impressions, replace(known.features, history={"title": old}))


def test_int8_vectors_of_the_same_encoder_are_taken(known: Known) -> None:
    ranker, old = trained("naml", known), known.features.candidates[VIEW]
    spec = replace(old.spec, encoder=replace(old.spec.encoder, precision="int8"))
    same = {VIEW: Embeddings(old.vectors, old.present, spec)}
    scores = ranker.score(known.impressions, replace(known.features, candidates=same))
    assert np.isfinite(scores).all()


def test_categories_are_found_by_name_whatever_their_codes(known: Known) -> None:
    ranker, news = trained("naml-cat", known), known.news
    turned = replace(
        news,
        category=(3 - news.category).astype(np.int16),
        category_names=tuple(reversed(news.category_names)),
    )
    scores = ranker.score(known.impressions, known.features)
    moved = ranker.score(known.impressions, replace(known.features, news=turned))
    assert np.array_equal(moved, scores)


def test_a_head_that_needs_categories_says_so(known: Known) -> None:
    bare = replace(known.news, category=np.full(240, -1, np.int16))
    features = replace(known.features, news=bare)
    with pytest.raises(ConfigError, match="head 'naml-cat' reads categories, and the corpus has n"):
        make_head("naml-cat", Inputs.of(features))
    with pytest.raises(ConfigError, match=r"trained on topic 0, .*no category in common"):
        trained("naml-cat", known).score(known.impressions, features)
    others = trained("naml", known).score(known.impressions, features)
    assert np.isfinite(others).all()


def test_unknown_heads_and_options_are_answered(known: Known) -> None:
    inputs = Inputs.of(known.features)
    with pytest.raises(ConfigError, match=r"unknown head 'nalm'; known: caum, .*'naml'"):
        make_head("nalm", inputs)
    with pytest.raises(ConfigError, match=r"unknown option of head 'naml' 'querry'.*'query'"):
        make_head("naml", inputs, querry=3)
    with pytest.raises(ConfigError, match="'mins' reads an encoder's vectors"):
        make_head("mins", Inputs.of(known.features, views=()))
    with pytest.raises(ConfigError, match="has weights that nothing has trained"):
        untrained(make_head("naml", inputs))


def test_entities_are_those_of_enough_articles_and_found_by_name(known: Known) -> None:
    lists = [[0, 1]] * 3 + [[2], []] + [[1]] * 235
    news = replace(known.news, entities=Ragged.from_lists(lists), entity_names=("Q5", "Q7", "Q9"))
    inputs = Inputs.of(replace(known.features, news=news), min_articles=3, max_entities=2)
    assert inputs.entities == ("Q5", "Q7")
    assert inputs.entity_rows(news)[:6].tolist() == [[1, 2]] * 3 + [[0, 0]] * 2 + [[2, 0]]
    other = replace(news, entity_names=("Q9", "Q5", "Q1"))
    assert inputs.entity_rows(other)[0].tolist() == [1, 0]
