"""What `newsrec recbole` does and prints."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

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
from newsrec.recbole.environment import find_python
from newsrec.recbole.export import checked_languages, export, refuse_foreign, vectors_of
from newsrec.recbole.models import check_models, check_options
from newsrec.recbole.run import Training, as_rankers


@dataclass(frozen=True, slots=True)
class Learnt:
    """The options of the command line that say what is trained."""

    model: str
    epochs: int
    options: str
    train_on: str
    measured_readers: bool

    def jobs(self, config: ExperimentConfig) -> list[Training]:
        """One per model; `ConfigError` for a model or an option that there is not."""
        models = check_models(listed(self.model))
        options, train = check_options(options_of(self.options, "--set")), listed(self.train_on)
        return [
            Training(model, options, self.epochs, tuple(train), config.split, config.protocol,
                     self.measured_readers)
            for model in models
        ]  # fmt: skip


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


def train(wanted: Wanted, learnt: Learnt, python: Path | None, force: bool) -> None:
    """Train every model with every seed, then evaluate all of them beside the other rankers."""
    config = load_config(None, plain(wanted.given))
    jobs = learnt.jobs(config)
    check_outputs(wanted.out, {"--json": wanted.json})
    bench = Bench(config)
    bench.check()
    labelled(bench.corpus, config.split)
    with ended_by_signal():
        found = as_rankers(
            bench.corpus, jobs, config.seeds, find_python(python), force=force, say=typer.echo
        )
    rankers = [*listed(str(wanted.given["rankers"])), *found]
    evaluate(replace(wanted, given={**wanted.given, "rankers": rankers}))
