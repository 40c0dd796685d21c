"""What a test of trained rankers finds goes to the MLflow runs that trained them."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from newsrec.evaluate.report import EvalReport
from newsrec.evaluate.results import Results

if TYPE_CHECKING:
    from newsrec.pipeline.school import School


@dataclass(frozen=True)
class Examined:
    """A `Tracker` of the exam: every report goes to the run that trained what it is about."""

    school: School

    def log(self, report: EvalReport) -> None:
        """Nothing for the ranker that nobody trained."""
        school, tracker = self.school, self.school.tracker
        for run in (run for language in school.languages for run in school.runs(language)):
            if (school.called(run.family), run.seed) == (report.system[1], report.provenance.seed):
                tracker.begin(run.name, school.params(run))
                tracker.measured(report)
                tracker.end()

    def finish(self, results: Results, folder: Path) -> None:
        """Averages, the report, and which impressions were learnt from."""
        self.school.tracker.finish(results, self.school.folder)
