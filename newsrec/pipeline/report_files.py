"""The files of an experiment: written again after every language, so that they survive a death."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np

from newsrec.config import ExperimentConfig
from newsrec.evaluate.figures import draw, file_name
from newsrec.evaluate.render import latex, markdown
from newsrec.evaluate.report import EvalReport
from newsrec.evaluate.results import Results
from newsrec.evaluate.tables import full
from newsrec.files import atomic_file, data_root, write_json


def write_values(report: EvalReport, folder: Path) -> Path:
    """Values of every impression of one run as parquet; `EvalReport.load` reads it."""
    words = [report.language, *report.system, str(report.provenance.seed)]
    path = folder / "impressions" / f"{file_name('_'.join(words))}.parquet"
    report.save(path)
    return path


def write_report(results: Results, config: ExperimentConfig, folder: Path) -> None:
    """``report.json``, ``report.md``, ``report.tex``, ``groups.json`` and ``config.json``."""
    write_json(folder / "config.json", config.model_dump(mode="json"))
    write_json(folder / "report.json", results.to_json())
    write_json(folder / "groups.json", group_means(results))
    if results.reports:
        grids = full(results)
        _write(folder / "report.md", "\n".join(markdown(grid) for grid in grids))
        _write(folder / "report.tex", "\n".join(latex(grid) for grid in grids))


def write_figures(results: Results, folder: Path) -> list[Path]:
    """PNG files in ``figures/``."""
    return draw(results, folder / "figures")


def group_means(results: Results) -> list[dict[str, Any]]:
    """``[{language, encoder, ranker, group, label, n, means}]``; None stands for undefined."""
    found = []
    for report in results.reports:
        for group in report.groups:
            for label, part in report.by(group).items():
                means = {k: None if np.isnan(v) else v for k, v in part.mean().items()}
                found.append(
                    {
                        "language": report.language,
                        "encoder": report.system[0],
                        "ranker": report.system[1],
                        "group": group,
                        "label": label,
                        "n": len(part),
                        "means": means,
                    }
                )
    return found


def _write(path: Path, text: str) -> None:
    with atomic_file(path) as file:
        file.write(text.encode("utf-8"))


def new_folder(config: ExperimentConfig) -> Path:
    """``data/runs/20260320-081500-1a2b3c``."""
    now = datetime.now(UTC).strftime("%Y%m%d-%H%M%S")
    return data_root() / "runs" / f"{now}-{config.hash[:6]}"
