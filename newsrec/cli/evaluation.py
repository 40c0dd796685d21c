"""What `newsrec evaluate` does and prints."""

from __future__ import annotations

import re
import signal
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import typer

from newsrec.cli.progress import progress
from newsrec.config import ExperimentConfig, load_config
from newsrec.errors import ConfigError, DataError
from newsrec.evaluate.render import text
from newsrec.evaluate.results import Results
from newsrec.evaluate.tables import screen
from newsrec.files import data_root, write_json
from newsrec.pipeline.bench import OnProgress
from newsrec.pipeline.experiment import experiment
from newsrec.pipeline.open import open_corpus
from newsrec.pipeline.submit import submit
from newsrec.track import OFF, tracking

_LISTS = ("encoders", "rankers", "langs", "metrics", "seeds")


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
    with progress("encoding") as on_progress, _ended_by_term():
        if wanted.submission is not None:
            counts = submit(config, wanted.submission, on_progress=on_progress)
            told = ", ".join(f"{value} {key.replace('_', ' ')}" for key, value in counts.items())
            typer.echo(f"wrote {wanted.submission}: {told}")
            if not _labelled(config):
                return
        folder = wanted.out or _new_folder(config)
        results = _tracked(config, wanted, folder, on_progress)
    typer.echo("\n".join(text(grid) for grid in screen(results)))
    typer.echo(f"report: {folder}")
    if wanted.json is not None:
        write_json(wanted.json, results.to_json())
    if results.failed:
        raise DataError("; ".join(f"{what}: {why}" for what, why in results.failed))


def _tracked(
    config: ExperimentConfig, wanted: Wanted, folder: Path, on_progress: OnProgress | None
) -> Results:
    def warn(message: str) -> None:
        typer.echo(f"newsrec: {message}; the report is in {folder}", err=True)

    def told(language: str, i: int, n: int) -> None:
        if sys.stderr.isatty():
            typer.echo(f"{language} ({i} of {n})", err=True)

    uri = OFF if wanted.no_track else wanted.tracking_uri
    params = config.model_dump(mode="json")
    with tracking(uri, folder.name, params, warn) as tracker:
        return experiment(
            config, folder=folder, tracker=tracker, on_progress=on_progress, on_language=told
        )


def plain(given: Mapping[str, object]) -> dict[str, object]:
    """Options that were given, as a config file would hold them."""
    found: dict[str, object] = {}
    for key, value in given.items():
        if value is None:
            continue
        found[key] = listed(str(value)) if key in _LISTS else value
    if "corpus" in found:
        found["corpus"] = str(found["corpus"])
    if "protocol" in found:
        found["protocol"] = str(found["protocol"])
    if "seeds" in found:
        found["seeds"] = [_seed(word) for word in listed(str(given["seeds"]))]
    return found


def listed(words: str) -> list[str]:
    """Split at commas outside of brackets: ``fusion,tfidf:sizes=[2,3]`` is two."""
    parts = re.split(r",(?![^\[]*\])", words)
    return [part.strip() for part in parts if part.strip()]


def _seed(word: str) -> int:
    try:
        return int(word)
    except ValueError:
        raise ConfigError(f"--seeds: {word!r}, expected whole numbers like 42,43,44") from None


def _labelled(config: ExperimentConfig) -> bool:
    corpus = open_corpus(None if config.corpus is None else Path(config.corpus))
    return corpus.impressions(config.split).clicked is not None


def _new_folder(config: ExperimentConfig) -> Path:
    """``data/runs/20260320-081500-1a2b3c``."""
    now = datetime.now(UTC).strftime("%Y%m%d-%H%M%S")
    return data_root() / "runs" / f"{now}-{config.hash[:6]}"


@contextmanager
def _ended_by_term() -> Iterator[None]:
    """SIGTERM ends the block like an interrupt, so that the run is marked and the report kept."""
    before = signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)
