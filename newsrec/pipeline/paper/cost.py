"""What a kind of cell costs on this machine: seconds a row, impression and text, in short runs."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from newsrec import build
from newsrec.corpus import Corpus
from newsrec.pipeline.bench import Bench
from newsrec.pipeline.paper.cells import trained_alone
from newsrec.pipeline.paper.grid import Cell, Setting
from newsrec.pipeline.paper.models import MODELS, Column
from newsrec.rank.fit_options import EpochReport

#: Impressions of a short run; those that train an encoder are dear.
SHOTS = {"fine-tuned": 32, "frozen": 256, "none": 256}
#: Texts whose encoding is timed.
TEXTS = 256


@dataclass(frozen=True, slots=True)
class Cost:
    """Seconds for one training row, one validation row, and one impression on one shelf; 0 for what
    there is none of."""

    row_s: float
    valid_row_s: float
    impression_s: float


def cost_of(cell: Cell, setting: Setting, corpus: Corpus, folder: Path) -> Cost:
    """Two epochs on a few impressions of ``corpus``, of which the second is timed, and one shelf
    measured twice, of which the second time counts; files go to ``folder``."""
    setting = replace(setting, langs=(setting.source,))
    if not cell.is_trained:
        bench = Bench(cell.fusion(setting))
        return Cost(0.0, 0.0, _impression_s(bench, setting.source))
    from newsrec.pipeline.training import School, train

    config = cell.training(setting)
    shots = min(SHOTS[cell.row.training], _usable(corpus, setting))
    options = {**config.options, "epochs": 2}
    config = config.model_copy(update={"shots": (shots,), "options": options})
    reports: list[EpochReport] = []
    train(config.model_copy(update={"test": None}), folder, on_epoch=lambda _, x: reports.append(x))
    last = reports[-1]
    row_s = 1 / last.rows_per_s
    n_valid, n_rows = (rows_of(cell, corpus, x) for x in (setting.valid or "", setting.train))
    trained_s = row_s * n_rows * shots / max(1, len(corpus.impressions(setting.train)))
    valid_row_s = max(0.0, last.seconds - trained_s) / n_valid if n_valid else row_s / 3
    bench = Bench(trained_alone(School(config, folder).exam()))
    return Cost(row_s, valid_row_s, _impression_s(bench, setting.source))


def texts_per_s(column: Column, protocol: str, setting: Setting, corpus: Corpus) -> float:
    """Texts (title and abstract) that the encoder of ``column`` encodes in a second."""
    encoder = build.encoder(column.encoder(protocol), setting.trust_remote_code)
    texts = corpus.texts(setting.source)
    sample = texts.view("title+abstract", texts.rows[:TEXTS])
    encoder.encode(sample[:16])
    return len(sample) / _seconds(lambda: encoder.encode(sample))


def rows_of(cell: Cell, corpus: Corpus, split: str) -> int:
    """Rows that a split of ``corpus`` has for a cell: one a click for cross-entropy, one an
    impression for the contrastive loss."""
    if split not in corpus.splits:
        return 0
    from newsrec.rank import HEADS

    impressions = corpus.impressions(split)
    if HEADS[MODELS[cell.row.model].head].loss == "scl" or impressions.clicked is None:
        return len(impressions)
    return int(np.count_nonzero(impressions.clicked))


def _impression_s(bench: Bench, language: str) -> float:
    """Seconds an impression of the last system of ``bench``, whose vectors are there by then."""
    for _ in bench.evaluate(language):
        pass
    started, found = time.perf_counter(), 0.0
    for report in bench.evaluate(language):
        now = time.perf_counter()
        started, found = now, (now - started) / len(report)
    return found


def _usable(corpus: Corpus, setting: Setting) -> int:
    """Training impressions with a click, a non-click and a history: all of a small part."""
    return len(corpus.impressions(setting.train))


def _seconds(work: Callable[[], Any]) -> float:
    started = time.perf_counter()
    work()
    return time.perf_counter() - started


def kinds(cells: Sequence[Cell]) -> dict[tuple[str, str, str], Cell]:
    """One cell of each kind, that of the first protocol, seed and (fewest) shots."""
    found: dict[tuple[str, str, str], Cell] = {}
    for cell in cells:
        found.setdefault(cell.kind, cell)
    return found
