"""An encoder trained behind a head, on the clicks of a corpus: texts numbered, then one call."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from newsrec import build
from newsrec.config import EncoderConfig, HeadConfig
from newsrec.corpus import Corpus
from newsrec.encode.presets import BUILT_IN
from newsrec.encode.tuning import Tuning
from newsrec.pipeline.features import Ints, Stack
from newsrec.pipeline.scene import Scene
from newsrec.protocols import Encoder
from newsrec.rank.fit_options import EpochReport, FitOptions
from newsrec.types import Embeddings, EmbeddingSpec, EncoderSpec, Features, Impressions, Texts

if TYPE_CHECKING:
    from newsrec.rank.neural import NeuralRanker
    from newsrec.rank.tuned import Worded


@dataclass(frozen=True, slots=True, eq=False)
class Reading:
    """Impressions, their histories cut to what can be read, and what both sides read: a scene's
    ``readable``, ``shelf``, ``history`` and ``history_rows``."""

    impressions: Impressions
    shelf: Stack
    history: Stack
    history_rows: Ints | None = None

    @classmethod
    def of(cls, scene: Scene) -> Reading:
        """What ``scene`` shows."""
        return cls(scene.readable, scene.shelf, scene.history, scene.history_rows)


def finetune(
    corpus: Corpus,
    train: Reading,
    valid: Reading | None,
    *,
    head: HeadConfig,
    encoder: EncoderConfig,
    folder: Path,
    tuning: Tuning | None = None,
    views: Sequence[str] = ("title+abstract",),
    options: FitOptions | None = None,
    trust_remote_code: bool = False,
    on_epoch: Callable[[EpochReport], None] | None = None,
    made: Mapping[str, Any] | None = None,
) -> NeuralRanker:
    """The ranker of ``folder/best``: ``head`` with ``encoder`` trained behind it; its encoder is
    ``folder/best/encoder``, for `newsrec.encode.load_encoder`.

    Only texts that the impressions name are tokenized, each once. A run that was cut short goes on
    from ``folder/last``; a finished one is read. Errors as in `newsrec.rank.tuned.fit_tuned` and
    `newsrec.encode.tower.TextTower`.
    """
    from newsrec.encode.tower import TextTower
    from newsrec.rank.inputs import Inputs
    from newsrec.rank.tuned import fit_tuned

    options = FitOptions() if options is None else options
    loaded = whole_weights(encoder, options.device, trust_remote_code)
    numbers: dict[str, int] = {}
    worded = [
        None if part is None else word(corpus, part, views, loaded.spec, numbers)
        for part in (train, valid)
    ]
    assert worded[0] is not None
    inputs = Inputs.of(worded[0].features, tuple(views), centre="none")
    tower = TextTower(loaded, list(numbers), tuning, seed=options.seed)
    return fit_tuned(
        build.head(head, inputs, options.seed), tower, worded[0], worded[1], options,
        folder=folder, on_epoch=on_epoch, made=made,
    )  # fmt: skip


def whole_weights(config: EncoderConfig, device: str, trust_remote_code: bool = False) -> Encoder:
    """The encoder of ``config`` on ``device``, in fp32 unless it says otherwise itself: rounded
    weights cannot be trained."""
    if config.name.partition("=")[0] == BUILT_IN:
        return build.encoder(config)
    options = {"device": device, "precision": "fp32", **config.options}
    return build.encoder(EncoderConfig(name=config.name, options=options), trust_remote_code)


def word(
    corpus: Corpus,
    reading: Reading,
    views: Sequence[str],
    spec: EncoderSpec,
    numbers: dict[str, int],
) -> Worded:
    """``reading`` with the numbers of its texts; texts that ``numbers`` lacks are added to it."""
    from newsrec.rank.tuned import Worded

    shown, clicks = reading.impressions.candidates.values, reading.impressions.history.values
    read = clicks if reading.history_rows is None else reading.history_rows
    shelf, history = reading.shelf, reading.history
    whole = shelf.whole and history.whole and shelf.languages == history.languages
    same = whole or history is shelf
    used = np.concatenate([shown, read]) if same else shown
    shelf_texts = shelf.texts(corpus)
    shelf_numbers = _numbers(shelf_texts, views, used, numbers)
    on_shelf = {view: _blank(shelf_texts, view, spec, corpus) for view in views}
    history_numbers, in_history = shelf_numbers, on_shelf
    if not same:
        history_texts = history.texts(corpus)
        history_numbers = _numbers(history_texts, views, read, numbers)
        in_history = {view: _blank(history_texts, view, spec, corpus) for view in views}
    features = Features(corpus.news, in_history, on_shelf, reading.history_rows)
    return Worded(reading.impressions, features, history_numbers, shelf_numbers)


def _numbers(
    texts: Texts, views: Sequence[str], used: NDArray[np.integer], numbers: dict[str, int]
) -> Ints:
    """``(n, n_views)``: the number of the text of every row of ``used`` in each view, else -1."""
    found = np.full((len(texts), len(views)), -1, np.int64)
    rows = np.unique(used)
    rows = rows[texts.present[rows]]
    for column, view in enumerate(views):
        read = texts.view(view, rows)
        found[rows, column] = [numbers.setdefault(text, len(numbers)) for text in read]
    return found


def _blank(texts: Texts, view: str, spec: EncoderSpec, corpus: Corpus) -> Embeddings:
    """A matrix that says who is present and has no vector yet, nor takes memory."""
    vectors = np.broadcast_to(np.zeros(spec.dim, np.float32), (len(texts), spec.dim))
    said = EmbeddingSpec(spec, texts.language, view, corpus.fingerprint)
    return Embeddings(vectors, texts.present, said)
