"""An evaluation as MLflow runs: a parent, and a child for each report."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from newsrec.evaluate.report import EvalReport
from newsrec.evaluate.results import Results
from newsrec.plain import flat
from newsrec.protocols import Tracker
from newsrec.track.metrics import averages
from newsrec.track.runs import OFF, PARENT, Runs, default_uri


class NoTracker:
    """Records nothing."""

    def log(self, report: EvalReport) -> None:
        """Nothing."""

    def finish(self, results: Results, folder: Path) -> None:
        """Nothing."""


class MlflowTracker:
    """One parent run; `log` adds a nested child per report, `finish` averages and artifacts.

    A run whose process is killed is marked as failed by another (`newsrec.track.watch`), at the
    latest by the next ``start`` on its machine; ``stop`` ends the parent with a status of MLflow
    (``FINISHED``, ``FAILED``). ``warn`` is told the first failure.
    """

    def __init__(self, uri: str, warn: Callable[[str], None]) -> None:
        self._runs = Runs(uri, warn)
        self._run = self._child = ""

    def start(self, name: str, params: Mapping[str, object]) -> None:
        """Begin the parent run."""
        with self._runs.guarded():
            self._runs.connect()
            # Known from the moment it exists: a signal may end us while its parameters are sent.
            self._run = self._runs.begin(name, {})
            self._runs.params(self._run, params)

    def log(self, report: EvalReport) -> None:
        """A child run: parameters, provenance and means of one system, language and seed."""
        if not self._runs.on:
            return
        with self._runs.guarded():
            seed = report.provenance.seed
            name = " ".join([*report.system, report.language, f"seed {seed}"])
            params = {**report.labels, **flat(report.provenance.to_dict())}
            self._child = self._runs.begin(name, {PARENT: self._run})
            self._runs.params(self._child, params)
            counts = {f"count/{k}": float(v) for k, v in report.counts.items()}
            self._runs.metrics(self._child, report.mean() | counts)
            self._runs.client.set_terminated(self._child, "FINISHED")
            self._child = ""

    def finish(self, results: Results, folder: Path) -> None:
        """Means per language, their average, and the tables and figures in ``folder``."""
        if not self._runs.on:
            return
        with self._runs.guarded():
            self._runs.metrics(self._run, averages(results))
            self._runs.files(self._run, folder)

    def stop(self, status: str) -> None:
        """End the parent run, and a child that was being sent."""
        for run in filter(None, (self._run, self._child)):
            self._runs.end(run, status)
        self._runs.close()


@contextmanager
def tracking(
    uri: str | None, name: str, params: Mapping[str, object], warn: Callable[[str], None]
) -> Iterator[Tracker]:
    """A tracker for one experiment; ``uri``: None for `default_uri`, `OFF` for nothing.

    The run ends as FINISHED, or as FAILED when the block raises, interrupts included.
    """
    if uri == OFF:
        yield NoTracker()
        return
    tracker = MlflowTracker(default_uri() if uri is None else uri, warn)
    status = "FAILED"
    try:
        tracker.start(name, params)
        yield tracker
        status = "FINISHED"
    finally:
        tracker.stop(status)
