"""MANNeR's A-modules: articles of one label near each other (Iana et al. 2023c).

A label is an aspect of an article: its category, or a sentiment that the user brings as a column;
none is made up here. The trained module reads text and entities only, so that it works where the
labels are not known, in any language.
"""

from __future__ import annotations

import copy
import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from torch import Tensor, from_numpy, nn

from newsrec.errors import ConfigError, DataError
from newsrec.rank.articles import Articles, articles_of
from newsrec.rank.batches import order_of
from newsrec.rank.fit_options import FitOptions
from newsrec.rank.heads.head import NewsHead
from newsrec.rank.inputs import Ints
from newsrec.rank.loop import OnEpoch, run
from newsrec.rank.losses import label_contrast
from newsrec.rank.neural import NeuralRanker
from newsrec.rank.news_modules import Items
from newsrec.rank.train import told_of
from newsrec.types import Features, Impressions, Ragged

#: Temperature of the A-modules.
TEMPERATURE = 0.9


def fit_aspect(
    head: NewsHead,
    labels: NDArray[np.integer],
    features: Features,
    options: FitOptions | None = None,
    *,
    valid_share: float = 0.1,
    folder: Path | None = None,
    on_epoch: OnEpoch | None = None,
    made: Mapping[str, Any] | None = None,
) -> NeuralRanker:
    """``head`` trained so that articles of one of ``labels (n_news,)`` (-1 unknown) are alike.

    A ``valid_share`` of the labelled articles decides when to stop. ``made``: provenance, kept with
    the ranker. `DataError` when fewer than two labels, or no label twice, are among the articles
    that have a vector; `ConfigError` for a head without weights.
    """
    options = FitOptions() if options is None else options
    if not head.n_trainable():
        raise ConfigError(f"head {head.name!r} has no weights of its own to train")
    if labels.shape != (len(features.news),):
        raise DataError(f"labels: {labels.shape}, expected ({len(features.news)},), one an article")
    articles = _labelled(labels, features, head, options)
    label = labels[articles.row].astype(np.int64)
    if len(np.unique(label)) < 2 or np.bincount(label).max() < 2:
        raise DataError(
            f"an aspect needs two labels, one of them twice; {len(label)} labelled articles with "
            f"a vector have {len(np.unique(label))}"
        )
    order = order_of(options.seed, len(label))
    n_valid = int(valid_share * len(label))
    temperature = options.temperature or TEMPERATURE
    task = LabelTask(articles, label, order[n_valid:], order[:n_valid], options, temperature)
    module = copy.deepcopy(head).to(options.device)
    trained = run(
        module, task, options, folder=folder, on_epoch=on_epoch, told=told_of(head, features)
    )
    assert isinstance(trained, NewsHead)
    told = {
        "options": options.to_dict() | {"loss": "labels", "temperature": temperature},
        **(made or {}),
    }
    return NeuralRanker(trained, options.history_limit, options.newest, told)


@dataclass(frozen=True, slots=True, eq=False)
class LabelTask:
    """A `newsrec.rank.loop.Task` over articles; ``train`` and ``valid`` number them."""

    articles: Articles
    label: Ints
    train: Ints
    valid: Ints
    options: FitOptions
    temperature: float

    def batches(self, epoch: int) -> list[Ints]:
        """In an order of the epoch's own."""
        order = self.train[order_of(self.options.seed, len(self.train), epoch)]
        return _blocks(order, self.options.batch)

    def valid_batches(self) -> list[Ints]:
        """Always the same."""
        return _blocks(self.valid, self.options.batch)

    def loss(self, module: nn.Module, rows: Ints, epoch: int | None) -> Tensor:
        """``(len(rows),)``."""
        assert isinstance(module, NewsHead)
        device = self.options.device
        vectors = module.news(Items.of(self.articles, rows, device))
        return label_contrast(vectors, from_numpy(self.label[rows]).to(device), self.temperature)

    def told(self) -> Mapping[str, Any]:
        """Numbers that other labels do not share."""
        digest = hashlib.blake2b(self.label.tobytes(), digest_size=8).hexdigest()
        return {"rows": len(self.train), "data": digest, "temperature": self.temperature}


def _labelled(
    labels: NDArray[np.integer], features: Features, head: NewsHead, options: FitOptions
) -> Articles:
    """The shelf's articles with a label and a vector."""
    rows = np.flatnonzero(labels >= 0)
    for view in head.inputs.views:
        rows = (
            rows[features.candidates[view].present[rows]] if view in features.candidates else rows
        )
    if not len(rows):
        raise DataError("no labelled article has a vector: an aspect needs labels to learn from")
    alone = Impressions(
        np.array(["shelf"]), np.zeros(1, np.int32), np.zeros(1, "datetime64[s]"),
        Ragged.from_lists([[]]), np.zeros(1, np.int32),
        Ragged.from_lengths(rows.astype(np.int32), np.array([len(rows)])),
    )  # fmt: skip
    read = replace(
        features, history=features.candidates, history_rows=None,
        history_language=features.shelf_language,
    )  # fmt: skip
    return articles_of(alone, read, head.inputs)


def _blocks(rows: Ints, size: int) -> list[Ints]:
    return [rows[i : i + size] for i in range(0, len(rows), size)]
