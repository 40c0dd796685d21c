"""A cell is run once: trained where there is something to train, measured, kept as JSON."""

from __future__ import annotations

import shutil
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from newsrec.config import ExperimentConfig
from newsrec.corpus import Corpus
from newsrec.evaluate.figures import file_name
from newsrec.evaluate.results import SOURCE, Results
from newsrec.pipeline.paper.grid import METRICS, Cell, Setting
from newsrec.pipeline.paper.measured import Found, delta, read, values_of, write
from newsrec.pipeline.study import experiment

#: Told of ``(cell, i, n)`` before cell ``i`` of ``n``.
OnCell = Callable[[Cell, int, int], None]


def cell_folder(cell: Cell, out: Path) -> Path:
    """Where the runs of a row are, all seeds: ``cells/newsreclib/NAML_NaSE_frozen``."""
    return out / "cells" / cell.protocol / file_name(cell.row.name)


def run_cell(cell: Cell, setting: Setting, corpus: Corpus, out: Path) -> Found:
    """What is stored of the cell, else what `newsrec.pipeline.training.train` finds; a training
    that was cut short goes on. `StaleCacheError` when the folder holds another run."""
    folder = cell_folder(cell, out)
    path, made = folder / f"seed{cell.seed}.json", made_from(cell, setting, corpus)
    stored = read(path, made)
    if stored is not None:
        return stored
    started = time.perf_counter()
    results = _trained(cell, setting, folder) if cell.is_trained else experiment(
        cell.fusion(setting)
    )  # fmt: skip
    found = _found(cell, setting, results, made, time.perf_counter() - started)
    write(found, path)
    if cell.row.training == "fine-tuned":
        _forget(cell, setting, folder)
    return found


def made_from(cell: Cell, setting: Setting, corpus: Corpus) -> dict[str, Any]:
    """What a stored cell must have been made from to count."""
    config: Any = cell.training(setting) if cell.is_trained else cell.fusion(setting)
    plain = config.model_dump(mode="json")
    # A corpus is known by its content, wherever it lies; a device changes no more than last bits.
    plain.pop("corpus")
    plain.get("options", {}).pop("device", None)
    weights = "" if cell.column is None else cell.column.weights
    return {"config": plain, "corpus": corpus.fingerprint, "weights": weights}


def _trained(cell: Cell, setting: Setting, folder: Path) -> Results:
    from newsrec.encode import EmbeddingStore
    from newsrec.pipeline.school import School
    from newsrec.pipeline.training import train

    config = cell.training(setting)
    train(config.model_copy(update={"test": None}), folder)
    store = EmbeddingStore(_vectors(folder)) if cell.row.training == "fine-tuned" else None
    return experiment(trained_alone(School(config, folder).exam()), store=store)


def _vectors(folder: Path) -> Path:
    """Vectors of encoders that one cell alone uses."""
    return folder / "vectors"


def _forget(cell: Cell, setting: Setting, folder: Path) -> None:
    """Remove what a measured cell needs no more: checkpoints with Adam's moments and vectors of the
    tuned encoder are gigabytes each, and a grid has a hundred of them. The ranker stays."""
    from newsrec.pipeline.school import School

    shutil.rmtree(_vectors(folder), ignore_errors=True)
    for run in School(cell.training(setting), folder).runs(setting.source):
        shutil.rmtree(run.folder(folder) / "last", ignore_errors=True)


def trained_alone(exam: ExperimentConfig) -> ExperimentConfig:
    """An exam without what `newsrec train` measures beside what it trained."""
    trained = tuple(ranker for ranker in exam.rankers if ranker.called is not None)
    return exam.model_copy(update={"rankers": trained})


def _found(
    cell: Cell, setting: Setting, results: Results, made: dict[str, Any], seconds: float
) -> Found:
    reports = results.reports
    values = values_of(reports, setting.source, METRICS, cell.seed)
    return Found(
        row=cell.row,
        protocol=cell.protocol,
        seed=cell.seed,
        source=setting.source,
        values=values,
        deltas={metric: _delta(results, values, setting.source, metric) for metric in METRICS},
        impressions={report.language: len(report) for report in reports},
        made=made,
        provenance=results.provenance,
        seconds=seconds,
        failed=results.failed,
    )


def _delta(results: Results, values: Any, source: str, metric: str) -> float:
    """Δ% as newsrec reports it (over lists that both serve), where the source is English."""
    if source == SOURCE:
        return 100 * float(results.summary(results.systems[0], metric)["delta"])
    return delta(values, source, metric)
