"""The files of an experiment: written again while it runs, so that they survive a death."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np

from newsrec.config import ExperimentConfig
from newsrec.errors import DataError
from newsrec.evaluate.figures import draw, file_name
from newsrec.evaluate.render import latex, markdown
from newsrec.evaluate.report import EvalReport
from newsrec.evaluate.results import Results
from newsrec.evaluate.tables import full
from newsrec.files import data_root, write_json, write_text
from newsrec.places import check_file, check_writable


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
        write_text(folder / "report.md", "\n".join(markdown(grid) for grid in grids))
        write_text(folder / "report.tex", "\n".join(latex(grid) for grid in grids))


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


#: What `write_report`, `write_values` and `write_figures` leave in a folder.
_FILES = ("config.json", "report.json", "groups.json", "report.md", "report.tex")
_OURS = frozenset((*_FILES, "impressions", "figures"))


def check_outputs(folder: Path | None, files: Mapping[str, Path | None]) -> None:
    """`DataError` unless ``folder`` and ``files`` (by option) can be written; None is not asked."""
    if folder is not None:
        check_folder(folder)
    for option, path in files.items():
        if path is not None:
            check_file(path, option)


def check_folder(folder: Path, option: str = "--out", ours: frozenset[str] = _OURS) -> None:
    """`DataError` unless ``folder`` may hold a report: new, empty, or with an earlier one.

    ``ours``: names of the files of a report.
    """
    if folder.exists() and not folder.is_dir():
        raise DataError(f"{option}: {folder} is a file, expected a folder")
    check_writable(folder, option)
    if not folder.exists():
        return
    # What starts with a dot and one of our names is a file that a kill left half written.
    foreign = sorted(
        path.name
        for path in folder.iterdir()
        if path.name not in ours and not path.name.startswith(tuple(f".{x}." for x in ours))
    )
    if foreign:
        raise DataError(
            f"{option}: {folder} holds {foreign[0]!r}, which is no part of a newsrec report; "
            "name a new or an empty folder"
        )
    report = folder / "report.json"
    if report.exists() and not _is_report(report):
        raise DataError(f"{option}: {report} is no newsrec report; name a new or an empty folder")


def _is_report(path: Path) -> bool:
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return False
    return isinstance(found, dict) and {"results", "tests", "provenance"} <= set(found)


def new_folder(config: ExperimentConfig) -> Path:
    """``data/runs/20260320-081500-1a2b3c``."""
    now = datetime.now(UTC).strftime("%Y%m%d-%H%M%S")
    return data_root() / "runs" / f"{now}-{config.hash[:6]}"
