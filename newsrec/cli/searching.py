"""What `newsrec tune` does and prints."""

from __future__ import annotations

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
from newsrec.pipeline.tune.files import BEST, new_folder
from newsrec.pipeline.tune.params import plan
from newsrec.pipeline.tune.search import check_search, tune
from newsrec.pipeline.tune.spaces import default_space
from newsrec.pipeline.tune.tables import best_trials
from newsrec.pipeline.tune.trials import Search
from newsrec.plain import flat
from newsrec.track import OFF, tracking_training


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
        return typer.echo(plan(config, space).space.to_yaml(), nl=False)
    folder = wanted.out or new_folder(config, space, wanted.metric, wanted.seed)
    found = _tracked(config, space, wanted, folder)
    if found.best is None:
        raise DataError(f"no trial is done ({best_trials(found).notes[0]}); go on: --out {folder}")
    typer.echo(f"{text(best_trials(found))}\nreport: {folder}")
    typer.echo(f"train with the best: newsrec train --config {folder / BEST}")


def _tracked(config: TrainConfig, space: Space, wanted: Wanted, folder: Path) -> Search:
    stages = Stages()

    def warn(message: str) -> None:
        typer.echo(f"newsrec: {message}; the search is in {folder}", err=True)

    check_search(config, space, wanted.metric, wanted.seed)  # no failed run in MLflow for that
    more = {"space": space.to_dict(), "metric": wanted.metric, "seed": wanted.seed}
    params = flat({**config.model_dump(mode="json"), **more})
    uri = OFF if wanted.no_track else wanted.tracking_uri
    tracking = tracking_training(uri, folder.name, params, warn, folder=folder)
    with stages, ended_by_signal(), tracking as tracker:
        return tune(
            config, space, folder, trials=wanted.trials, metric=wanted.metric, seed=wanted.seed,
            timeout_s=wanted.timeout_s, tracker=tracker, on_progress=stages.of("encoding"),
            on_trial=lambda _, n: stages.of("trials")(n, wanted.trials),
        )  # fmt: skip
