"""Articles given as texts score as the same articles in their corpus."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from newsrec.encode import load_encoder
from newsrec.errors import ConfigError, DataError
from newsrec.pipeline.features import history_stack, make_features, shelf_stack
from newsrec.pipeline.given import FIELDS, GivenArticle
from newsrec.pipeline.scoring import Scorer, score_articles, score_rows
from newsrec.protocols import Encoder
from newsrec.rank import FitOptions, Inputs, fit, make_head, save_ranker, untrained
from newsrec.rank.ensemble import AspectEnsemble
from newsrec.rank.means import LanguageMeans, save_means
from newsrec.types import (
    Embeddings,
    EmbeddingSpec,
    Features,
    Impressions,
    NewsTable,
    Ragged,
    Strings,
    Texts,
)
from tests.encode.models import bert, pipeline
from tests.pipeline.worlds import (
    LANGUAGES,
    VIEW,
    World,
    as_texts,
    sample_world,
    some_of_test,
    trained,
)
from tests.rank.heads.trained import SMALL


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> World:
    """The bundled sample and the built-in encoder."""
    return sample_world(tmp_path_factory.mktemp("data"))


@pytest.mark.parametrize("name", ["naml", "naml-cat", "mins", "caum", "manner", "lfrec"])
@pytest.mark.parametrize(("history", "shelf"), [("eng", "eng"), ("fin", "eng"), ("tam", "fin")])
def test_texts_score_as_in_their_corpus(world: World, name: str, history: str, shelf: str) -> None:
    ranker, impressions = trained(world, name), some_of_test(world)
    wanted = ranker.score(impressions, world.features(history, shelf))
    found = score_rows(
        ranker, world.encoder, as_texts(world, impressions, history, shelf), world.means
    )
    assert [len(x) for x in found] == impressions.candidates.lengths.tolist()
    assert np.concatenate(found).dtype == np.float32
    np.testing.assert_allclose(np.concatenate(found), wanted, atol=1e-5, rtol=1e-5)
    assert len(np.unique(wanted)) > len(wanted) / 4


def test_readers_of_several_languages_score_as_in_the_corpus(world: World) -> None:
    """Each click in a language of its own, in turn."""
    ranker, impressions = trained(world, "naml"), some_of_test(world)
    clicks = impressions.history.values
    codes = [world.corpus.languages.index(x) for x in LANGUAGES]
    spoken = np.array(codes)[np.arange(len(clicks)) % 3]
    stack, rows = history_stack(world.corpus, clicks, spoken)
    shelf = shelf_stack(world.corpus, ["eng"])
    get = {VIEW: lambda code: world.vectors[code]}
    features = make_features(world.corpus.news, shelf, stack, rows, get)
    wanted = ranker.score(impressions, features)
    asked = []
    for reader, candidates in zip(impressions.history_of, impressions.candidates, strict=True):
        places = range(*impressions.history.offsets[reader : reader + 2].tolist())
        read = [world.article(clicks[i], LANGUAGES[i % 3]) for i in places]
        asked.append((read, [world.article(row) for row in candidates.tolist()]))
    found = score_rows(ranker, world.encoder, asked, world.means)
    np.testing.assert_allclose(np.concatenate(found), wanted, atol=1e-5, rtol=1e-5)


def test_an_ensemble_scores_as_in_the_corpus(world: World) -> None:
    impressions = some_of_test(world)
    both = AspectEnsemble(
        trained(world, "manner"), {"category": trained(world, "naml")}, {"category": -0.5}
    )
    wanted = both.score(impressions, world.features())
    found = score_rows(both, world.encoder, as_texts(world, impressions, "eng", "eng"), world.means)
    np.testing.assert_allclose(np.concatenate(found), wanted, atol=1e-5, rtol=1e-5)


def _raw_world(folder: Path) -> tuple[Encoder, NewsTable, Texts, Embeddings]:
    """Forty articles of invented words as a raw transformer sees them."""
    encoder = load_encoder(str(bert(folder / "bert")), pooling="mean", normalize=False)
    rng = np.random.default_rng(3)
    titles = [" ".join(f"w{w}" for w in rng.integers(0, 200, 9)) for _ in range(40)]
    blank, here = Strings.pack([""] * 40), np.ones(40, np.bool_)
    none = np.full(40, -1, np.int16)
    news = NewsTable(
        ids=np.array([f"N{i}" for i in range(40)]), category=none, subcategory=none,
        category_names=(), subcategory_names=(), published=np.full(40, np.datetime64("NaT", "s")),
        story=np.full(40, -1, np.int32),
    )  # fmt: skip
    spec = EmbeddingSpec(encoder.spec, "eng", VIEW, "invented")
    return (
        encoder,
        news,
        Texts("eng", Strings.pack(titles), blank, here),
        Embeddings(encoder.encode(titles), here, spec),
    )


def test_a_raw_encoder_needs_no_means(tmp_path: Path) -> None:
    encoder, news, texts, found = _raw_world(tmp_path)
    assert not encoder.spec.normalized
    features = Features(news, {VIEW: found}, {VIEW: found})
    impressions = Impressions(
        ids=np.array(["a", "b"]), user=np.zeros(2, np.int32),
        time=np.zeros(2, "datetime64[s]"), history=Ragged.from_lists([[1, 2, 3], [7]]),
        history_of=np.array([0, 1], np.int32),
        candidates=Ragged.from_lists([[4, 5, 6, 1], [9, 8]]),
        clicked=np.array([True, False, False, False, True, False]),
    )  # fmt: skip
    head = make_head("naml", Inputs.of(features), seed=5, dropout=0.0)
    ranker = fit(head, impressions, None, features, FitOptions(batch=2, epochs=1))
    wanted = ranker.score(impressions, features)
    rows = [
        ([texts.title[i] for i in impressions.history[k]], [texts.title[i] for i in shown])
        for k, shown in enumerate(impressions.candidates)
    ]
    scores = np.concatenate(score_rows(ranker, encoder, rows))
    np.testing.assert_allclose(scores, wanted, atol=1e-5, rtol=1e-5)
    assert len(np.unique(scores)) == 6


@settings(max_examples=15, deadline=None)
@given(data=st.data())
def test_neither_order_nor_other_rows_change_a_score(world: World, data: st.DataObject) -> None:
    ranker = trained(world, "naml")
    rows = as_texts(world, some_of_test(world, 4), "fin", "eng")
    history, candidates = rows[0]
    alone = score_articles(ranker, world.encoder, history, candidates, world.means)
    order = data.draw(st.permutations(range(len(candidates))))
    others = data.draw(st.lists(st.sampled_from(rows), max_size=3))
    moved = (history, [candidates[i] for i in order])
    found = score_rows(ranker, world.encoder, [*others, moved], world.means)[-1]
    assert np.array_equal(found, alone[np.array(order)])


def test_a_plain_text_is_an_english_title(world: World) -> None:
    ranker = trained(world, "naml")
    scorer = Scorer(ranker, world.encoder, world.means)
    told = [{"title": "Storm closes the harbour", "language": "English"}]
    shown = ["A new bridge over the river", "Ferries stay in the harbour"]
    mappings = [{"title": title, "language": None, "abstract": None} for title in shown]
    plain = scorer.score(["Storm closes the harbour"], shown)
    assert np.array_equal(plain, scorer.score(told, mappings))
    assert np.array_equal(plain, scorer.score(np.array(told), tuple(mappings)))  # type: ignore[arg-type]
    assert len(set(plain.tolist())) == 2


def test_without_history_every_candidate_scores_0(world: World) -> None:
    naml, manner = trained(world, "naml"), trained(world, "manner")
    both = AspectEnsemble(manner, {"category": naml}, {"category": 0.5})
    for ranker in (naml, both):
        for history in ([], [""], [{"title": "  "}]):
            found = score_articles(ranker, world.encoder, history, ["one", "two"], world.means)
            assert found.tolist() == [0, 0]
            assert found.dtype == np.float32


def test_no_candidates_give_no_scores(world: World) -> None:
    scorer = Scorer(trained(world, "naml"), world.encoder, world.means)
    assert scorer.score(["one"], []).shape == (0,)
    assert scorer.score([], []).shape == (0,)
    assert [len(x) for x in scorer.score_rows([(["a"], []), (["a"], ["b"]), ([], ["c"])])] == [
        0, 1, 1,
    ]  # fmt: skip
    assert scorer.score_rows([]) == []


def test_a_head_that_reads_no_text_needs_no_encoder(world: World) -> None:
    ranker, impressions = trained(world, "naml-cat"), some_of_test(world)
    bare = [
        tuple([{"category": one["category"]} for one in part] for part in row)
        for row in as_texts(world, impressions, "eng", "eng")
    ]
    wanted = ranker.score(impressions, world.features())
    np.testing.assert_allclose(np.concatenate(score_rows(ranker, None, bare)), wanted, atol=1e-5)


def test_entities_are_read_by_name(world: World) -> None:
    news = world.corpus.news
    entities = Ragged.from_lists([[row % 5, 5 + row % 3] for row in range(len(news))])
    names = tuple(f"Q{i}" for i in range(10, 18))
    features = world.features()
    features = replace(features, news=replace(news, entities=entities, entity_names=names))
    inputs = Inputs.of(features)
    assert len(inputs.entities) == 8
    train = world.corpus.impressions("train").take(np.arange(30))
    head = make_head("caum", inputs, seed=2, **SMALL["caum"])
    ranker = fit(head, train, None, features, FitOptions(batch=30, epochs=1))
    impressions = some_of_test(world)

    def told(row: int) -> dict[str, Any]:
        return {**world.article(row), "entities": [names[i] for i in entities[row]] + ["Q999"]}

    rows = [
        ([told(i) for i in impressions.history[k].tolist()], [told(i) for i in shown.tolist()])
        for k, shown in zip(impressions.history_of.tolist(), impressions.candidates, strict=True)
    ]
    wanted = ranker.score(impressions, features)
    found = np.concatenate(score_rows(ranker, world.encoder, rows, world.means))
    np.testing.assert_allclose(found, wanted, atol=1e-5, rtol=1e-5)
    without = np.concatenate(
        score_rows(ranker, world.encoder, as_texts(world, impressions, "eng", "eng"), world.means)
    )
    assert not np.allclose(without, wanted, atol=1e-5)


@pytest.mark.parametrize(
    ("history", "candidates", "said"),
    [
        (["a"], [{"title": "b", "language": "klingon"}],
         r"candidates\[0\]: unknown language 'klingon', expected an ISO 639-3 code"),
        (["a"], ["b", 7], r"candidates\[1\]: int, expected an article: its title, or a mapping"),
        ([{"titel": "a"}], ["b"],
         r"history\[0\]: unknown field of an article 'titel'; known: .* Did you mean 'title'"),
        ([{"title": 3.5}], ["b"], r"history\[0\]: title is float, expected text"),
        ([{"title": "a", "entities": "Q5"}], ["b"],
         r"history\[0\]: entities: text 'Q5', expected a list of Wikidata ids"),
        ([{"title": "a", "entities": [5]}], ["b"], r"history\[0\]: entities are not all text"),
        ("a title", ["b"], r"history: text 'a title', expected a list of articles"),
        (None, ["b"], r"history: nothing, expected a list of articles"),
    ],
)  # fmt: skip
def test_articles_that_cannot_be_read_are_named(
    world: World, history: Any, candidates: Any, said: str
) -> None:
    scorer = Scorer(trained(world, "naml"), world.encoder, world.means)
    with pytest.raises(DataError, match=rf"^{said}"):
        scorer.score(history, candidates)
    with pytest.raises(DataError, match=rf"^row 1, {said}"):
        scorer.score_rows([(["a"], ["b"]), (history, candidates)])


def test_every_field_of_an_article_is_told() -> None:
    given = {"title": "a", "abstract": "b", "body": "c", "language": "fi", "category": "d",
             "entities": ("Q1",)}  # fmt: skip
    assert set(given) == set(FIELDS)
    assert GivenArticle.of(given, "") == GivenArticle("a", "b", "c", "fin", "d", ("Q1",))


def test_what_is_missing_is_told(world: World, tmp_path: Path) -> None:
    naml = trained(world, "naml")
    with pytest.raises(ConfigError, match="reads an encoder's vectors of 'title"):
        score_articles(naml, None, ["a"], ["b"], world.means)
    with pytest.raises(ConfigError, match="means of its training are missing"):
        score_articles(naml, world.encoder, ["a"], ["b"])
    other = load_encoder(str(pipeline(tmp_path / "model")))
    with pytest.raises(ConfigError, match=r"trained on vectors of 'mini'.*of 'model'"):
        score_articles(naml, other, ["a"], ["b"], world.means)
    strange = replace(world.means, encoder=replace(world.means.encoder, revision="other"))
    with pytest.raises(ConfigError, match="trained on vectors of 'mini'"):
        score_articles(naml, world.encoder, ["a"], ["b"], strange)
    head = make_head("lfrec", Inputs.of(world.features(), centre="global"))
    with pytest.raises(ConfigError, match="mean of both sides of a corpus"):
        score_articles(untrained(head), world.encoder, ["a"], ["b"], world.means)
    head = make_head("lfrec", Inputs.of(world.features(), centre="none"))
    assert len(score_articles(untrained(head), world.encoder, ["a"], ["b"])) == 1


def test_a_folder_scores_as_its_ranker(world: World, tmp_path: Path) -> None:
    ranker = trained(world, "naml")
    save_ranker(tmp_path / "best", ranker)
    rows = as_texts(world, some_of_test(world, 3), "eng", "fin")
    with pytest.raises(ConfigError, match="means of its training are missing"):
        Scorer.open(tmp_path / "best").score(*rows[0])
    save_means(tmp_path / "best", world.means)
    found = Scorer.open(tmp_path / "best").score_rows(rows)
    wanted = score_rows(ranker, world.encoder, rows, world.means)
    assert all(np.array_equal(a, b) for a, b in zip(found, wanted, strict=True))
    seeds = tmp_path / "eng-full"
    (seeds / "seed42").mkdir(parents=True)
    (tmp_path / "best").rename(seeds / "seed42" / "best")
    for folder, seed in ((seeds, 42), (seeds, None), (seeds / "seed42", None)):
        again = Scorer.open(folder, seed).score_rows(rows)
        assert all(np.array_equal(a, b) for a, b in zip(again, wanted, strict=True))


@pytest.mark.parametrize("normalized", [True, False])
def test_a_tuned_encoder_lies_inside_the_folder(
    world: World, tmp_path: Path, normalized: bool
) -> None:
    """Whatever the encoder is called that it was tuned from, and however that was used."""
    folder = tmp_path / "best"
    pipeline(tmp_path / "tuned", normalize=normalized)
    encoder = load_encoder(str((tmp_path / "tuned").rename(tmp_path / "encoder")))
    words = Strings.pack(" ".join(f"w{(7 * i + k) % 200}" for k in range(6)) for i in range(20))
    spec = EmbeddingSpec(encoder.spec, "eng", VIEW, "invented")
    found = Embeddings(encoder.encode(list(words)), np.ones(20, np.bool_), spec)
    inputs = Inputs.of(Features(world.corpus.news, {VIEW: found}, {VIEW: found}))
    made = {"encoder": {"name": "labse", "options": {"pooling": "cls"}}}
    ranker = untrained(make_head("lfrec", inputs), made=made)
    save_ranker(folder, ranker)
    save_means(folder, LanguageMeans.of({VIEW: {"eng": found}}))
    (tmp_path / "encoder").rename(folder / "encoder")
    scores = Scorer.open(folder).score([words[0]], [words[1], words[2]])
    wanted = score_articles(
        ranker, encoder, [words[0]], [words[1], words[2]], LanguageMeans.of({VIEW: {"eng": found}})
    )
    assert np.array_equal(scores, wanted)
    assert len(set(scores.tolist())) == 2


def test_a_folder_that_names_another_encoder_is_told(world: World, tmp_path: Path) -> None:
    folder = tmp_path / "best"
    made = {"encoder": {"name": str(pipeline(tmp_path / "model")), "options": {}}}
    save_ranker(folder, replace(trained(world, "naml"), made=made))
    with pytest.raises(ConfigError, match=r"trained on vectors of 'mini'.*of 'model'"):
        Scorer.open(folder)


def test_a_manifest_cannot_ask_for_trust(world: World, tmp_path: Path) -> None:
    """Code of a repository is run only for a caller who asks for it."""
    folder, model = tmp_path / "best", bert(tmp_path / "model")
    config = json.loads((model / "config.json").read_text("utf-8"))
    config |= {"model_type": "strange", "auto_map": {"AutoConfig": "c.C", "AutoModel": "c.M"}}
    (model / "config.json").write_text(json.dumps(config), "utf-8")
    (model / "c.py").write_text("raise SystemExit('this code ran')", "utf-8")
    made = {"encoder": {"name": str(model), "options": {"trust_remote_code": True}}}
    save_ranker(folder, replace(trained(world, "naml"), made=made))
    with pytest.raises(ConfigError, match="--trust-remote-code"):
        Scorer.open(folder)
