"""What a training learns from, and what says when to stop."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from newsrec.config import TrainConfig
from newsrec.corpus import Corpus
from newsrec.errors import ConfigError, DataError, unknown_name
from newsrec.pipeline.features import make_features
from newsrec.pipeline.scene import Scene, make_scene
from newsrec.rank.batches import order_of
from newsrec.rank.histories import part, readable
from newsrec.types import Embeddings, Features, Impressions

#: The share of the training impressions that decides when to stop, where no split does.
HELD_OUT = 0.1
#: ``--valid none``: train all epochs.
NOTHING = "none"

Getters = Mapping[str, Callable[[str], Embeddings]]


@dataclass(frozen=True, slots=True, eq=False)
class Lesson:
    """``train`` and ``valid`` (None: all epochs count alike), with what a head may see of each and
    the scenes that they are of.

    ``held_out``: whether the validation impressions are a part of the training split.
    """

    scene: Scene
    train: Impressions
    features: Features
    valid_scene: Scene | None = None
    valid: Impressions | None = None
    valid_features: Features | None = None
    held_out: bool = False

    def usable(self, shots: int) -> NDArray[np.int64]:
        """Rows of the training impressions with a click, a non-click and a history that can be
        read; `DataError` unless there are ``shots`` of them."""
        rows = _usable(self.train, self.features)
        if len(rows) < shots:
            raise DataError(
                f"--shots {shots}: the training split has {len(rows)} usable impressions (a click, "
                "a non-click and a readable history)"
            )
        return rows

    def sample(self, shots: int | None, seed: int) -> tuple[Impressions, Features]:
        """``shots`` training impressions of ``seed`` (None: all), in the log's order; of one seed,
        the fewer are among the more. Only `usable` ones count."""
        if shots is None:
            return self.train, self.features
        usable = self.usable(shots)
        chosen = usable[order_of(seed, len(usable))[:shots]]
        return part(self.train, self.features, np.sort(chosen))


def valid_of(config: TrainConfig, splits: tuple[str, ...]) -> str:
    """What says when to stop: what ``config`` names, else the split ``valid``, where it is neither
    learnt from nor measured on, else a share."""
    if config.valid is not None:
        return config.valid
    free = "valid" in splits and "valid" not in (config.train, config.test)
    return "valid" if free else str(HELD_OUT)


def check_valid(valid: str | None, splits: tuple[str, ...]) -> None:
    """`ConfigError` unless ``valid`` is a split, a share or `NOTHING`."""
    if valid is None or valid == NOTHING or valid in splits:
        return
    share = _share(valid)
    if share is None:
        raise unknown_name("--valid:", valid, (*splits, NOTHING, "a share like 0.1"))
    if not 0 < share < 1:
        raise ConfigError(f"--valid: {valid}, expected a share between 0 and 1, such as 0.1")


def make_lesson(
    corpus: Corpus, config: TrainConfig, language: str, get: Getters, text: bool
) -> Lesson:
    """The lesson of shelf ``language``; ``get``: vectors of each view the head reads, nothing where
    its encoder is trained along; ``text``: whether it reads any. `DataError` as `make_scene`."""
    scene = make_scene(corpus, config.scene_of(config.train, language), language)
    train, features = _seen(corpus, scene, get, text)
    valid = valid_of(config, corpus.splits)
    if valid == NOTHING:
        return Lesson(scene, train, features)
    share = None if valid in corpus.splits else _share(valid)
    if share is None:
        other = make_scene(corpus, config.scene_of(valid, language), language)
        return Lesson(scene, train, features, other, *_seen(corpus, other, get, text))
    order = np.argsort(train.time, kind="stable")
    cut = len(order) - max(1, math.floor(share * len(order)))
    if cut < 1:
        raise DataError(f"split {config.train!r} has {len(order)} impressions: too few to hold out")
    kept, late = (np.sort(rows) for rows in (order[:cut], order[cut:]))
    held_out = part(train, features, late)
    return Lesson(scene, *part(train, features, kept), scene, *held_out, held_out=True)


def _seen(corpus: Corpus, scene: Scene, get: Getters, text: bool) -> tuple[Impressions, Features]:
    """Impressions whose histories are what the head can read, and features."""
    rows = scene.history_rows if text else None
    features = make_features(corpus.news, scene.shelf, scene.history, rows, get)
    return (scene.readable if text else scene.impressions), features


def _usable(impressions: Impressions, features: Features) -> NDArray[np.int64]:
    """Rows of impressions that a head can learn from."""
    assert impressions.clicked is not None  # `make_scene` wants labels
    lengths = impressions.candidates.lengths
    clicks = np.bincount(impressions.candidates.owner(), impressions.clicked, len(impressions))
    view = next(iter(features.history), None)
    known = readable(impressions, features, view)[impressions.history_of]
    return np.flatnonzero((clicks > 0) & (clicks < lengths) & known)


def _share(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None
