"""What `newsrec recbole` does and prints."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import typer

from newsrec.cli.evaluation import Wanted
from newsrec.cli.evaluation import run as evaluate
from newsrec.cli.progress import progress
from newsrec.cli.signals import ended_by_signal
from newsrec.cli.words import listed, options_of, plain
from newsrec.config import ExperimentConfig, load_config
from newsrec.pipeline.bench import Bench
from newsrec.pipeline.open import open_corpus
from newsrec.pipeline.report_files import check_outputs
from newsrec.pipeline.scene import labelled
from newsrec.recbole.environment import find_python, versions
from newsrec.recbole.export import checked_languages, export, refuse_foreign, vectors_of
from newsrec.recbole.models import check_models, check_options
from newsrec.recbole.run import Training, trained


def write(
    folder: Path | None, out: Path, split: str | None, encoder: str | None, langs: str,
    view: str, trust: bool,
) -> None:  # fmt: skip
    """Export, and say what was written."""
    refuse_foreign(out)
    corpus, splits = open_corpus(folder), listed(split or "")
    with progress("encoding") as report:
        codes = checked_languages(corpus, listed(langs)) if encoder is not None else ()
        found = vectors_of(corpus, encoder or "", codes, view, trust, report)
        counts = export(corpus, out, splits, found)
    for name, n in counts.items():
        typer.echo(f"{n:9,}  {name}")
    typer.echo(f"wrote {out}, with recbole.yaml for RecBole")


def train(
    wanted: Wanted, model: str, python: Path | None, epochs: int, given: str, train_on: str,
    force: bool,
) -> None:  # fmt: skip
    """Train every model with every seed, then evaluate all of them beside the other rankers."""
    models, options = check_models(listed(model)), check_options(options_of(given, "--set"))
    config = load_config(None, plain(wanted.given))
    if wanted.out is not None or wanted.json is not None:
        check_outputs(wanted.out, {"--json": wanted.json})
    bench = Bench(config)
    bench.check()
    labelled(bench.corpus, config.split)
    splits = tuple(listed(train_on))
    jobs = [Training(x, options, epochs, splits, config.split, config.protocol) for x in models]
    found = _scored(bench, config, jobs, find_python(python), force)
    rankers = [*listed(str(wanted.given["rankers"])), *found]
    evaluate(replace(wanted, given={**wanted.given, "rankers": rankers}))


def _scored(
    bench: Bench, config: ExperimentConfig, jobs: list[Training], python: Path, force: bool
) -> list[dict[str, Any]]:
    """The trained models as rankers of a config."""
    of, found = versions(python), []
    with ended_by_signal():
        for job in jobs:
            for seed in config.seeds:
                done = trained(bench.corpus, job, seed, python, of, force=force)
                typer.echo(done.line())
            options = {"file": done.pattern}
            found.append({"name": "scores", "options": options, "called": job.model})
    return found
