"""Clicks of a corpus to a head and an encoder that were trained together."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from newsrec.config import EncoderConfig, HeadConfig, parse_config
from newsrec.corpus import Corpus
from newsrec.encode import EmbeddingStore, Tuning, load_encoder
from newsrec.errors import ConfigError
from newsrec.pipeline.features import make_features
from newsrec.pipeline.finetune import Reading, finetune, word
from newsrec.pipeline.scene import Scene, make_scene
from newsrec.pipeline.stored import getter
from newsrec.rank import FitOptions, NeuralRanker
from tests.contracts.test_rankers import auc
from tests.encode import models
from tests.evaluate import shelves

VIEW = "title+abstract"
WORDS = [*(f"t{t}" for t in range(4)), *(f"n{i}" for i in range(48)), "eng", "fin", "jpn"]
OPTIONS = FitOptions(batch=16, micro_batch=16, epochs=12, learning_rate=1e-2, seed=3)


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Corpus:
    return shelves.write(tmp_path_factory.mktemp("corpus") / "shelves")


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("model") / "small"
    return models.bert(
        folder, words=WORDS, initializer_range=0.05, hidden_dropout_prob=0.0,
        attention_probs_dropout_prob=0.0,
    )  # fmt: skip


def scene(corpus: Corpus, split: str, shelf: str, history: str | None = None) -> Scene:
    return make_scene(corpus, parse_config({"split": split, "history_lang": history}), shelf)


def scored(ranker: NeuralRanker, corpus: Corpus, shown: Scene, encoder: str) -> float:
    """AUC over vectors from the store, as any evaluation has them."""
    get = getter(corpus, load_encoder(encoder), VIEW, EmbeddingStore())
    features = make_features(
        corpus.news, shown.shelf, shown.history, shown.history_rows, {VIEW: get}
    )
    used = np.flatnonzero(shown.readable.history_lengths > 0)
    part = shown.readable.take(used)
    if features.history_rows is not None:
        of = np.unique(shown.readable.history_of[used])
        rows = features.history_rows[shown.readable.history.positions(of)]
        features = replace(features, history_rows=rows)
    return float(np.nanmean(auc(part, ranker.score(part, features))))


@pytest.mark.parametrize(
    ("head", "shelf", "history"),
    [("lfrec-scl", "eng", None), ("naml", "fin", "eng"), ("lfrec-ce", "eng+fin", "own")],
)
def test_a_shelf_is_learnt_and_read_from_the_store(
    corpus: Corpus, model: Path, tmp_path: Path, head: str, shelf: str, history: str | None
) -> None:
    train, test = (scene(corpus, split, shelf, history) for split in ("train", "test"))
    reports: list[float] = []
    ranker = finetune(
        corpus, Reading.of(train), Reading.of(train), head=HeadConfig(name=head),
        encoder=EncoderConfig(name=str(model), options={"normalize": True}),
        folder=tmp_path, options=OPTIONS, on_epoch=lambda r: reports.append(r.train_loss),
        made={"corpus": corpus.name},
    )  # fmt: skip
    assert min(reports) < 0.8 * reports[0]
    found = scored(ranker, corpus, test, str(tmp_path / "best" / "encoder"))
    assert found > 0.85
    assert ranker.made["corpus"] == "shelves"
    with pytest.raises(ConfigError, match="trained on vectors of 'small-last4'"):
        scored(ranker, corpus, test, str(model))


def test_only_texts_that_impressions_name_are_numbered_each_once(
    corpus: Corpus, model: Path
) -> None:
    spec = load_encoder(str(model)).spec
    train = scene(corpus, "train", "eng+fin", "own")
    few = replace(Reading.of(train), impressions=train.readable.take(np.arange(2)))
    few = replace(few, history_rows=None, history=few.shelf)
    numbers: dict[str, int] = {}
    given = word(corpus, few, (VIEW, "title"), spec, numbers)
    rows = np.unique([*few.impressions.candidates.values, *few.impressions.history.values])
    texts = few.shelf.texts(corpus)
    assert sorted(numbers) == sorted(set(texts.view(VIEW, rows)))  # abstracts are empty: titles
    named = given.shelf[:, 0] >= 0
    assert np.array_equal(np.flatnonzero(named), rows)
    assert np.array_equal(given.shelf[:, 0], given.shelf[:, 1])
    for row in rows:
        assert list(numbers)[given.shelf[row, 0]] == texts.view(VIEW, np.array([row]))[0]
    again = word(corpus, few, (VIEW,), spec, numbers)
    assert np.array_equal(again.history[:, 0], given.history[:, 0])
    assert again.features.candidates[VIEW].vectors.strides[0] == 0  # no memory for vectors


def test_the_builtin_encoder_has_no_layers_to_train(corpus: Corpus, tmp_path: Path) -> None:
    reading = Reading.of(scene(corpus, "train", "eng"))
    for policy in ("last4", "lora", "all"):
        with pytest.raises(ConfigError, match=r"'mini'.*no transformer layers.*trainable: none"):
            finetune(
                corpus, reading, None, head=HeadConfig(name="naml"), folder=tmp_path,
                encoder=EncoderConfig(name="mini"), tuning=Tuning(policy),
            )  # fmt: skip
    assert not list(tmp_path.iterdir())
