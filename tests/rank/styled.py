"""Readers of topics, and texts that say in one word what they are about and in ten how."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from newsrec.encode import TextTower, Tuning, load_encoder
from newsrec.protocols import Encoder
from newsrec.rank import Worded
from newsrec.types import Embeddings, EmbeddingSpec, EncoderSpec, Features, Impressions
from tests.encode import models
from tests.synthetic import VIEW, Known, known_answer

#: Models that tests train in seconds; without dropout they learn the rule in few steps.
SMALL: dict[str, Any] = {"num_hidden_layers": 5, "initializer_range": 0.05}
STEADY: dict[str, Any] = {"hidden_dropout_prob": 0.0, "attention_probs_dropout_prob": 0.0}


def readers(n: int = 60, seed: int = 0) -> Known:
    """Readers and lists; what the vectors say does not matter."""
    return known_answer(np.random.default_rng(seed), n_news=80, n_impressions=n)


def texts_of(known: Known, seed: int = 1, style: int = 10) -> list[str]:
    """One of six words of the topic, among ``style`` words of one of five styles."""
    rng = np.random.default_rng(seed)
    found = []
    for topic in known.news.category.tolist():
        words = rng.choice(models.WORDS[100 + 20 * int(rng.integers(5)) :][:20], style).tolist()
        words.insert(int(rng.integers(style)), models.WORDS[10 * topic + int(rng.integers(6))])
        found.append(" ".join(words))
    return found


def encoder(folder: Path, **options: Any) -> Encoder:
    """A BERT with random weights, mean of its tokens; ``steady`` in its folder's name: without
    dropout."""
    if not folder.exists():
        models.bert(folder, **SMALL, **(STEADY if "steady" in folder.name else {}))
    return load_encoder(str(folder), precision="fp32", device="cpu", **options)


def worded(known: Known, spec: EncoderSpec, part: Impressions | None = None) -> Worded:
    """Article ``i`` has text ``i``."""
    n = len(known.news)
    blank = np.broadcast_to(np.zeros(spec.dim, np.float32), (n, spec.dim))
    views = {VIEW: Embeddings(blank, np.ones(n, np.bool_), EmbeddingSpec(spec, "eng", VIEW, "s"))}
    numbers = np.arange(n)[:, None]
    features = Features(known.news, views, views)
    return Worded(part or known.impressions, features, numbers, numbers)


def encoded(known: Known, encoder: Encoder, texts: list[str]) -> Features:
    """Stored vectors, as `newsrec.encode.EmbeddingStore` would have them."""
    vectors = encoder.encode(texts)
    spec = EmbeddingSpec(encoder.spec, "eng", VIEW, "s")
    views = {VIEW: Embeddings(vectors, np.ones(len(texts), np.bool_), spec)}
    return replace(known.features, history=views, candidates=views)


def tower(
    folder: Path, texts: list[str], tuning: Tuning | None = None, **options: Any
) -> TextTower:
    """Over texts with numbers 0, 1, …"""
    return TextTower(encoder(folder, **options), texts, tuning, seed=9)
