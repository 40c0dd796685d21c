"""One run of a training: a head on stored vectors, or along with its encoder."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from newsrec import build
from newsrec.config import TrainConfig
from newsrec.corpus import Corpus
from newsrec.errors import NewsrecError, StaleCacheError
from newsrec.pipeline.finetune import Reading, finetune
from newsrec.pipeline.labels import labels_of
from newsrec.pipeline.lessons import Lesson
from newsrec.pipeline.scene import Scene
from newsrec.rank import (
    HEADS,
    AspectEnsemble,
    Inputs,
    NeuralRanker,
    fit,
    fit_aspect,
    load_ranker,
    save_ranker,
)
from newsrec.rank.fit_options import EpochReport, FitOptions
from newsrec.rank.peers import Peers
from newsrec.types import Features, Impressions


@dataclass(frozen=True, slots=True, eq=False)
class Job:
    """``impressions`` and ``features``: those of ``lesson`` that are learnt from; ``made``:
    provenance."""

    folder: Path
    lesson: Lesson
    impressions: Impressions
    features: Features
    options: FitOptions
    told: Callable[[EpochReport], None]
    made: Mapping[str, Any]


def on_vectors(config: TrainConfig, job: Job) -> NeuralRanker:
    """Train the head of ``config`` on what its encoder has made of the articles."""
    views = config.views if HEADS[config.head.name].text else ()
    return fit(
        build.head(config.head, Inputs.of(job.features, views), job.options.seed),
        job.impressions,
        job.lesson.valid,
        job.features,
        job.options,
        valid_features=job.lesson.valid_features,
        folder=job.folder,
        on_epoch=job.told,
        made=job.made,
    )


def with_aspects(config: TrainConfig, corpus: Corpus, job: Job) -> None:
    """Train MANNeR's modules: one on clicks, one on the labels of each aspect, and put them
    together with the weights of ``config`` (`newsrec.rank.ensemble`).

    `StaleCacheError` when the folder holds a ranker that is not this one.
    """
    weights = {aspect: float(weight) for aspect, weight in config.aspects.items()}
    _check_ensemble(job.folder, weights)
    relevance = on_vectors(config, replace(job, folder=job.folder / "relevance"))
    labels = labels_of(
        corpus, config.aspects, None if config.labels is None else Path(config.labels)
    )
    options = replace(job.options, loss=None, temperature=None)  # an A-module has its own
    head = build.head(config.head, Inputs.of(job.features, config.views), options.seed)
    modules = {
        aspect: fit_aspect(
            head, codes, job.lesson.features, options, folder=job.folder / aspect, made=job.made
        )
        for aspect, codes in labels.items()
    }
    if Peers.here().rank == 0:
        save_ranker(job.folder / "best", AspectEnsemble(relevance, modules, weights))


def _check_ensemble(folder: Path, weights: Mapping[str, float]) -> None:
    if (folder / "last").exists():
        raise StaleCacheError(
            f"{folder}: a training without aspects; remove the folder, or name another"
        )
    try:
        found = load_ranker(folder / "best")
    except NewsrecError:  # none yet, or a damaged one, which is written again
        return
    known = found.weights if isinstance(found, AspectEnsemble) else {}
    if dict(known) != dict(weights):
        raise StaleCacheError(
            f"{folder}: aspects {dict(known)}, now {dict(weights)}; remove the folder or name "
            "another; weights can be changed where a ranker is used: FOLDER:weights={…}"
        )


def with_encoder(config: TrainConfig, corpus: Corpus, job: Job) -> None:
    """Train the head and, as far as ``config`` says, its encoder on the texts of ``corpus``."""
    lesson = job.lesson
    valid = None
    if lesson.valid_scene is not None and lesson.valid is not None:
        assert lesson.valid_features is not None
        valid = _reading(lesson.valid_scene, lesson.valid, lesson.valid_features)
    finetune(
        corpus,
        _reading(lesson.scene, job.impressions, job.features),
        valid,
        head=config.head,
        encoder=config.encoder,
        folder=job.folder,
        tuning=build.tuning(config),
        views=config.views,
        options=job.options,
        trust_remote_code=config.trust_remote_code,
        on_epoch=job.told,
        made=job.made,
    )


def _reading(scene: Scene, impressions: Impressions, features: Features) -> Reading:
    return Reading(impressions, scene.shelf, scene.history, features.history_rows)
