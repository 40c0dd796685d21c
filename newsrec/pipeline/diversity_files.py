"""The files of ``newsrec tune-diversity``: a report in a folder, and the diversities kept."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from newsrec.config import ExperimentConfig
from newsrec.evaluate.curves import draw_curves
from newsrec.evaluate.render import csv_text, markdown
from newsrec.evaluate.tuning import Tuning
from newsrec.evaluate.tuning_tables import whole
from newsrec.files import write_json, write_text
from newsrec.pipeline.report_files import check_folder
from newsrec.pipeline.tuned import write_tuned
from newsrec.places import check_file

_OURS = frozenset(("curves.csv", "curves.json", "diversity.json", "tables.md", "figures"))


def check_places(folder: Path, kept: Path) -> None:
    """`DataError` unless the report and the diversities can be written."""
    check_folder(folder, ours=_OURS)
    check_file(kept, "tuned diversity")


def write_tuning(tuning: Tuning, config: ExperimentConfig, folder: Path, kept: Path) -> list[Path]:
    """``tables.md``, ``curves.csv``, ``curves.json``, ``diversity.json`` and PNGs in ``folder``;
    the same diversities under ``kept``, last. Returns the figures."""
    rows = tuning.rows()
    write_json(folder / "curves.json", {"rows": rows, "provenance": tuning.provenance})
    write_text(folder / "curves.csv", csv_text(rows))
    write_text(folder / "tables.md", "\n".join(markdown(grid) for grid in whole(tuning)))
    figures = draw_curves(tuning, folder / "figures")
    found = tuned_fields(tuning, config)
    write_tuned(folder / "diversity.json", found)
    write_tuned(kept, found)
    return figures


def tuned_fields(tuning: Tuning, config: ExperimentConfig) -> dict[str, Any]:
    """What `newsrec.pipeline.tuned` keeps of a tuning by ``config``."""
    provenance = tuning.provenance
    return {
        "corpus": provenance["corpus"],
        "corpus_name": provenance["corpus_name"],
        "split": config.split,
        "loss": tuning.loss,
        "encoder": config.encoders[0].label,
        "ranker": config.rankers[0].label,
        "language": ",".join(tuning.curves),
        "diversity": tuning.diversity,
        "measured": tuning.measured(),
        "clusters": provenance.get("clusters", {}),
        "provenance": provenance,
    }
