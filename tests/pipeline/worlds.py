"""The bundled sample as an encoder sees it, and heads that were trained on it for a moment."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest

from newsrec.corpus import Corpus
from newsrec.corpus.sample import open_sample
from newsrec.encode import EmbeddingStore, load_encoder
from newsrec.protocols import Encoder
from newsrec.rank import FitOptions, Inputs, NeuralRanker, fit, make_head, untrained
from newsrec.rank.means import LanguageMeans
from newsrec.types import Embeddings, Features, Impressions
from tests.rank.heads.trained import SMALL

VIEW = "title+abstract"
LANGUAGES = ("eng", "fin", "tam")


class World(NamedTuple):
    """A corpus, an encoder's vectors of it, and the means of its languages."""

    corpus: Corpus
    encoder: Encoder
    vectors: Mapping[str, Embeddings]
    means: LanguageMeans

    def features(self, history: str = "eng", shelf: str = "eng") -> Features:
        read = {VIEW: self.vectors[history]}
        shown = read if history == shelf else {VIEW: self.vectors[shelf]}
        return Features(self.corpus.news, read, shown)

    def article(self, row: int, language: str = "eng") -> dict[str, Any]:
        """Everything that the corpus knows of an article."""
        texts, news = self.corpus.texts(language), self.corpus.news
        return {
            "title": texts.title[row],
            "abstract": texts.abstract[row],
            "language": language,
            "category": news.category_names[news.category[row]],
        }


def sample_world(folder: Path) -> World:
    """The bundled sample and the built-in encoder, whose vectors have length 1; ``folder`` for what
    is made of them."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("NEWSREC_DATA", str(folder))
        corpus = open_sample()
    encoder, store = load_encoder("mini"), EmbeddingStore(folder / "embeddings")
    found = {x: store.get(encoder, corpus.texts(x), VIEW, corpus.fingerprint) for x in LANGUAGES}
    return World(corpus, encoder, found, LanguageMeans.of({VIEW: found}))


_made: dict[str, NeuralRanker] = {}


def trained(world: World, name: str) -> NeuralRanker:
    """The head trained for one short epoch."""
    if name not in _made:
        features, rows = world.features(), np.arange(60)
        head = make_head(name, Inputs.of(features), seed=5, **SMALL[name])
        if not head.n_trainable():
            return untrained(head)
        train = world.corpus.impressions("train").take(rows)
        options = FitOptions(batch=30, epochs=1, learning_rate=1e-2, seed=1)
        # Where it was trained, which is nowhere here.
        made = {"encoder": {"name": "mini", "options": {"device": "cuda:7"}}}
        _made[name] = fit(head, train, None, features, options, made=made)
    return _made[name]


def some_of_test(world: World, n: int = 12) -> Impressions:
    """Impressions of readers who have read something."""
    every = world.corpus.impressions("test")
    lengths = every.history.lengths[every.history_of]
    return every.take(np.flatnonzero(lengths > 0)[:n])


def as_texts(world: World, impressions: Impressions, history: str, shelf: str) -> list[Any]:
    lists = zip(impressions.history_of.tolist(), impressions.candidates, strict=True)
    return [
        (
            [world.article(row, history) for row in impressions.history[reader].tolist()],
            [world.article(row, shelf) for row in candidates.tolist()],
        )
        for reader, candidates in lists
    ]
