"""What a kind of cell costs on this machine: seconds a row, impression and text, in short runs."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from newsrec import build
from newsrec.corpus import Corpus
from newsrec.pipeline.bench import Bench
from newsrec.pipeline.lessons import NOTHING
from newsrec.pipeline.paper.cells import trained_alone
from newsrec.pipeline.paper.corpora import usable
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
    there is none of. ``kept_mb``: megabytes that a finished cell leaves on disk."""

    row_s: float
    valid_row_s: float
    impression_s: float
    kept_mb: float = 0.0


def cost_of(cell: Cell, setting: Setting, corpus: Corpus, folder: Path) -> Cost:
    """Two epochs on a few impressions of ``corpus``, of which the second is timed, and one shelf
    measured twice, of which the second time counts; ``folder`` is for what is trained, and left
    empty."""
    setting = replace(setting, langs=(setting.source,))
    if not cell.is_trained:
        return Cost(0.0, 0.0, _impression_s(Bench(cell.fusion(setting)), setting.source))
    folder.mkdir(parents=True, exist_ok=True)
    with TemporaryDirectory(dir=folder) as work:
        return _trained_cost(cell, setting, corpus, Path(work))


def _trained_cost(cell: Cell, setting: Setting, corpus: Corpus, work: Path) -> Cost:
    from newsrec.encode import EmbeddingStore
    from newsrec.pipeline.school import School
    from newsrec.pipeline.training import train

    config = cell.training(setting)
    n = impressions_of(corpus, setting)
    shots = min(SHOTS[cell.row.training], n["train"])
    options = {**config.options, "epochs": 2}
    config = config.model_copy(update={"shots": (shots,), "options": options})
    reports: list[EpochReport] = []
    train(config.model_copy(update={"test": None}), work, on_epoch=lambda _, x: reports.append(x))
    last, per_impression = reports[-1], rows_per_impression(cell, corpus, setting)
    trained_s = shots * per_impression / last.rows_per_s
    n_valid = n["valid"] * per_impression
    valid_row_s = max(0.0, last.seconds - trained_s) / n_valid if n_valid else 0.0
    kept = sum(x.stat().st_size for x in work.rglob("best/**/*") if x.is_file())
    bench = Bench(
        trained_alone(School(config, work).exam()), store=EmbeddingStore(work / "vectors")
    )
    impression_s = _impression_s(bench, setting.source)
    return Cost(1 / last.rows_per_s, valid_row_s, impression_s, kept / 1e6)


def texts_per_s(column: Column, protocol: str, setting: Setting, corpus: Corpus) -> float:
    """Texts (title and abstract) that the encoder of ``column`` encodes in a second."""
    encoder = build.encoder(column.encoder(protocol), setting.trust_remote_code)
    texts = corpus.texts(setting.source)
    sample = texts.view("title+abstract", texts.rows[:TEXTS])
    encoder.encode(sample[:16])
    return len(sample) / _seconds(lambda: encoder.encode(sample))


def impressions_of(corpus: Corpus, setting: Setting) -> dict[str, int]:
    """Usable impressions to learn from, to stop by and to measure, also where a share is held
    out."""
    valid = setting.valid or ""
    n, test = (len(usable(corpus, x, setting.source)) for x in (setting.train, setting.test))
    if valid in corpus.splits:
        return {"train": n, "valid": len(usable(corpus, valid, setting.source)), "test": test}
    held = 0 if valid in ("", NOTHING) else max(1, int(float(valid) * n))
    return {"train": n - held, "valid": held, "test": test}


def rows_per_impression(cell: Cell, corpus: Corpus, setting: Setting) -> float:
    """Rows that a usable training impression has for a cell: one a shown click for cross-entropy,
    one for the contrastive loss."""
    from newsrec.rank import HEADS

    if HEADS[MODELS[cell.row.model].head].loss == "scl":
        return 1.0
    rows = usable(corpus, setting.train, setting.source)
    impressions = corpus.impressions(setting.train).take(rows)
    assert impressions.clicked is not None  # `usable` wants clicks
    shown = corpus.texts(setting.source).present[impressions.candidates.values]
    return int(np.count_nonzero(impressions.clicked & shown)) / max(1, len(impressions))


def _impression_s(bench: Bench, language: str) -> float:
    """Seconds an impression of the last system of ``bench``, whose vectors are there by then."""
    for _ in bench.evaluate(language):
        pass
    started, found = time.perf_counter(), 0.0
    for runs in bench.evaluate(language):
        now = time.perf_counter()
        started, found = now, (now - started) / sum(map(len, runs))
    return found


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
