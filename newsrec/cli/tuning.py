"""What `newsrec tune-diversity` does and prints."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import typer

from newsrec.cli.signals import ended_by_signal
from newsrec.cli.stages import Stages
from newsrec.cli.words import numbers, plain
from newsrec.config import load_config
from newsrec.evaluate.render import text
from newsrec.evaluate.tuning_tables import short
from newsrec.pipeline.bench import Bench
from newsrec.pipeline.diversity import ALL, every, tune_diversity
from newsrec.pipeline.diversity_files import check_places, write_tuning
from newsrec.pipeline.report_files import new_folder
from newsrec.pipeline.tradeoff import WEIGHTS
from newsrec.pipeline.tuned import tuned_path


def run(given: Mapping[str, Any], weights: str | None, loss: float, out: Path | None) -> None:
    """Measure, print, write."""
    words = plain(given)
    if words["rerankers"] == [ALL]:
        words["rerankers"] = every(given["clusters"])
    config = load_config(None, words)
    grid = WEIGHTS if weights is None else numbers(weights, "--weights")
    folder = out or new_folder(config)
    kept: list[Path] = []

    def places(bench: Bench) -> None:
        kept.append(tuned_path(bench.corpus))
        check_places(folder, kept[0])

    with Stages() as stages, ended_by_signal():
        found = tune_diversity(
            config, weights=grid, loss=loss, check_places=places,
            on_progress=stages.of("encoding"), on_measured=stages.of("re-ranking"),
        )  # fmt: skip
        write_tuning(found, config, folder, kept[0])
    typer.echo("\n".join(text(grid) for grid in short(found)))
    typer.echo(f"report: {folder}\nkept for recommend: {kept[0]}")
    if config.split == "test":
        typer.echo(
            "newsrec: chosen on the split 'test', so that what this diversity costs is no longer "
            "measured there fairly; --split valid is for choosing",
            err=True,
        )
