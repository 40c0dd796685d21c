"""What `newsrec evaluate` does and prints."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import typer

from newsrec.cli.progress import on_terminal
from newsrec.cli.signals import ended_by_signal
from newsrec.cli.stages import Stages
from newsrec.cli.words import plain
from newsrec.config import ExperimentConfig, load_config
from newsrec.errors import ConfigError, DataError
from newsrec.evaluate.render import text
from newsrec.evaluate.results import Results
from newsrec.evaluate.tables import screen
from newsrec.files import write_json
from newsrec.pipeline.bench import Bench
from newsrec.pipeline.open import open_corpus
from newsrec.pipeline.report_files import check_outputs, new_folder
from newsrec.pipeline.study import experiment
from newsrec.pipeline.submit import submit
from newsrec.track import OFF, tracking


@dataclass(frozen=True, slots=True)
class Wanted:
    """The options of the command line; ``given`` are those of the experiment, None = not given."""

    given: Mapping[str, object]
    config: Path | None
    json: Path | None
    out: Path | None
    submission: Path | None
    tracking_uri: str | None
    no_track: bool


def run(wanted: Wanted) -> None:
    """Evaluate, print, write; raises `DataError` at the end for languages that failed."""
    if wanted.no_track and wanted.tracking_uri is not None:
        raise ConfigError("--no-track and --tracking-uri exclude each other")
    config = load_config(wanted.config, plain(wanted.given))
    folder = wanted.out or new_folder(config)
    asked = wanted.out if wanted.submission is not None else folder
    check_outputs(asked, {"--json": wanted.json, "--submission": wanted.submission})
    with Stages() as stages, ended_by_signal():
        if wanted.submission is not None:
            counts = submit(config, wanted.submission, on_progress=stages.of("encoding")).items()
            said = (f"{value} {key.replace('_', ' ')}" for key, value in counts)
            typer.echo(f"wrote {wanted.submission}: {', '.join(said)}")
            if open_corpus(config.corpus).impressions(config.split).clicked is None:
                return
        results = _tracked(config, wanted, folder, stages)
    typer.echo("\n".join(text(grid) for grid in screen(results)))
    typer.echo(f"report: {folder}")
    if wanted.json is not None:
        write_json(wanted.json, results.to_json())
    if results.failed:
        raise DataError("; ".join(f"{what}: {why}" for what, why in results.failed))


def _tracked(config: ExperimentConfig, wanted: Wanted, folder: Path, stages: Stages) -> Results:
    def warn(message: str) -> None:
        typer.echo(f"newsrec: {message}; the report is in {folder}", err=True)

    def told(language: str, i: int, n: int) -> None:
        if on_terminal():
            typer.echo(f"{language} ({i} of {n})", err=True)

    Bench(config).check()  # a wrong option is no failed run in MLflow
    uri = OFF if wanted.no_track else wanted.tracking_uri
    with tracking(uri, folder.name, config.model_dump(mode="json"), warn) as tracker:
        return experiment(
            config, folder=folder, tracker=tracker, on_language=told,
            on_progress=stages.of("encoding"), on_measured=stages.of("measuring"),
        )  # fmt: skip
