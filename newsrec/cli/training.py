"""What `newsrec train` does and prints."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import typer

from newsrec.cli.signals import ended_by_signal
from newsrec.cli.stages import Stages
from newsrec.cli.words import plain
from newsrec.config import TrainConfig, load_training
from newsrec.errors import ConfigError
from newsrec.evaluate.render import text
from newsrec.evaluate.tables import screen
from newsrec.files import data_root
from newsrec.pipeline.runs import Run
from newsrec.pipeline.training import check, train
from newsrec.plain import flat
from newsrec.rank.fit_options import EpochReport
from newsrec.rank.peers import Peers
from newsrec.track import OFF, tracking_training


@dataclass(frozen=True, slots=True)
class Wanted:
    """The options of the command line; ``given`` are those of the training, None = not given."""

    given: Mapping[str, object]
    config: Path | None
    out: Path | None
    tracking_uri: str | None
    no_track: bool


def run(wanted: Wanted) -> None:
    """Train, measure, say where all is."""
    if wanted.no_track and wanted.tracking_uri:
        raise ConfigError("--no-track and --tracking-uri exclude each other")
    config = load_training(wanted.config, plain(wanted.given))
    folder = wanted.out or new_folder(config)

    def warn(message: str) -> None:
        typer.echo(f"newsrec: {message}; the rankers are in {folder}", err=True)

    with Peers.joined() as peers, Stages() as stages, ended_by_signal():
        check(config, folder)  # a wrong option is no failed run in MLflow
        uri = OFF if wanted.no_track or peers.rank else wanted.tracking_uri
        params = flat(config.model_dump(mode="json"))
        with tracking_training(uri, folder.name, params, warn, folder=folder) as tracker:
            results = train(
                config, folder, tracker=tracker, on_progress=stages.of("encoding"),
                on_epoch=_told, on_measured=stages.of("measuring"),
            )  # fmt: skip
    if peers.rank:
        return
    if results is not None:
        typer.echo("\n".join(text(grid) for grid in screen(results)))
        typer.echo(f"report: {folder / 'test'}")
    first = min(path.parents[1] for path in folder.glob("*/seed*/best"))
    typer.echo(f"rankers: {folder}")
    typer.echo(f"use one: newsrec recommend --ranker {first} --user USER --lang LANG")


def new_folder(config: TrainConfig) -> Path:
    """``data/models/naml-1a2b3c``: the same for the same training, which so goes on."""
    return data_root() / "models" / f"{config.head.name}-{config.hash[:6]}"


def _told(run: Run, report: EpochReport) -> None:
    valid = "" if report.valid_loss is None else f", validation {report.valid_loss:.4f}"
    best = ", best so far" if report.best and report.valid_loss is not None else ""
    typer.echo(
        f"{run.name}: epoch {report.epoch}, loss {report.train_loss:.4f}{valid}, "
        f"{report.rows_per_s:,.0f} rows/s{best}",
        err=True,
    )
