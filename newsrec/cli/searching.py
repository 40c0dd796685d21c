"""What `newsrec tune` does and prints."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import typer

from newsrec.cli.signals import ended_by_signal
from newsrec.cli.stages import Stages
from newsrec.cli.words import plain
from newsrec.config import TrainConfig, load_training
from newsrec.config.space import Space, load_space
from newsrec.errors import ConfigError, DataError
from newsrec.evaluate.render import text
from newsrec.files import data_root
from newsrec.pipeline.tune.files import BEST
from newsrec.pipeline.tune.params import plan
from newsrec.pipeline.tune.search import tune
from newsrec.pipeline.tune.spaces import default_space
from newsrec.pipeline.tune.tables import best_trials
from newsrec.pipeline.tune.trials import Trial


@dataclass(frozen=True, slots=True)
class Wanted:
    """The options of the command line; ``given`` are those of the training, None = not given."""

    given: Mapping[str, object]
    config: Path | None
    space: str | None
    show_space: bool
    metric: str
    seed: int
    trials: int
    timeout_s: float | None
    out: Path | None
    tracking_uri: str | None
    no_track: bool


def run(wanted: Wanted) -> None:
    """Search, print the best trials and where they are; `DataError` when none has ended."""
    if wanted.no_track and wanted.tracking_uri is not None:
        raise ConfigError("--no-track and --tracking-uri exclude each other")
    config = load_training(wanted.config, plain(wanted.given))
    space = default_space(config) if wanted.space is None else load_space(wanted.space)
    if wanted.show_space:
        plan(config, space)
        typer.echo(space.to_yaml(), nl=False)
        return
    folder = wanted.out or new_folder(config, space, wanted.metric, wanted.seed)
    with Stages() as stages, ended_by_signal():
        trials = stages.of("trials")

        def told(_: Trial, n: int) -> None:
            trials(n, wanted.trials)

        found = tune(
            config, space, folder, trials=wanted.trials, metric=wanted.metric, seed=wanted.seed,
            timeout_s=wanted.timeout_s, on_progress=stages.of("encoding"), on_trial=told,
        )  # fmt: skip
    if found.best is None:
        raise DataError(f"no trial has ended yet; go on with the same command and --out {folder}")
    typer.echo(text(best_trials(found)))
    typer.echo(f"report: {folder}\ntrain with the best: newsrec train --config {folder / BEST}")


def new_folder(config: TrainConfig, space: Space, metric: str, seed: int) -> Path:
    """``data/tuned/naml-1a2b3c``: the same for the same search, which so goes on."""
    told = [config.model_dump(mode="json"), space.to_dict(), metric, seed]
    digest = hashlib.sha256(json.dumps(told).encode()).hexdigest()
    return data_root() / "tuned" / f"{config.head.name}-{digest[:6]}"
