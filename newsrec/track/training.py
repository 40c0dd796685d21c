"""A training as MLflow runs: a parent, and a child for each language, number of shots and seed."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from newsrec.evaluate.report import EvalReport
from newsrec.evaluate.results import Results
from newsrec.plain import digest
from newsrec.protocols import TrainTracker
from newsrec.rank.fit_options import EpochReport
from newsrec.track.metrics import averages
from newsrec.track.model import log_model
from newsrec.track.runs import OFF, PARENT, Runs, default_uri

_WHOSE = "newsrec.training"
# Of a run's folder: its checkpoint, and the model that its child run has.
_NO_RESULTS = ("last", "best")


class NoTrainTracker:
    """Records nothing."""

    def begin(self, name: str, params: Mapping[str, object]) -> None:
        """Nothing."""

    def epoch(self, report: EpochReport) -> None:
        """Nothing."""

    def trained(self, folder: Path) -> None:
        """Nothing."""

    def measured(self, report: EvalReport) -> None:
        """Nothing."""

    def end(self, status: str = "FINISHED") -> None:
        """Nothing."""

    def finish(self, results: Results, folder: Path) -> None:
        """Nothing."""


class MlflowTrainTracker:
    """One parent run; between `begin` and `end` everything belongs to a child run.

    A training that goes on, which is one of the same name (or ``folder``) and parameters, goes on
    in the runs that it had, if they are found and nobody is at them.
    """

    def __init__(self, uri: str, warn: Callable[[str], None]) -> None:
        self._runs = Runs(uri, warn)
        self._run = self._child = self._whose = ""
        self._begun_here: dict[str, str] = {}

    def start(self, name: str, params: Mapping[str, object], folder: Path | None = None) -> None:
        """Begin the parent run, or go on in it."""
        self._whose = name if folder is None else str(folder.resolve())
        with self._runs.guarded():
            self._runs.connect()
            self._run = self._begun(name, {_WHOSE: digest(self._whose)}, params)
            self._runs.params(self._run, params)

    def begin(self, name: str, params: Mapping[str, object]) -> None:
        """A child run: one language, number of shots and seed; one of that name that was begun
        before goes on. Another that has not ended has failed."""
        self.end("FAILED")
        if not self._runs.on:
            return
        with self._runs.guarded():
            self._child = self._begun_here.get(name, "")
            if self._child:
                self._runs.reopen(self._child)
                return
            tags = {PARENT: self._run, _WHOSE: digest(f"{self._whose}\n{name}")}
            self._child = self._begun_here[name] = self._begun(name, tags, params)
            self._runs.params(self._child, params)

    def epoch(self, report: EpochReport) -> None:
        """Losses, rows a second and seconds of an epoch, which is the step."""
        values = {
            "train_loss": report.train_loss,
            "rows_per_s": report.rows_per_s,
            "seconds": report.seconds,
        }
        if report.valid_loss is not None:
            values["valid_loss"] = report.valid_loss
        if self._in_child:
            with self._runs.guarded():
                self._runs.metrics(self._child, values, report.epoch)

    def trained(self, folder: Path) -> None:
        """The folder of the ranker, as an artifact and as an MLflow model."""
        if self._in_child:
            with self._runs.guarded():
                log_model(self._runs, self._child, folder)

    def measured(self, report: EvalReport) -> None:
        """Means of a test in one language: ``fin/ndcg_at_10``."""
        if self._in_child:
            means = {f"{report.language}/{name}": value for name, value in report.mean().items()}
            with self._runs.guarded():
                self._runs.metrics(self._child, means)

    def end(self, status: str = "FINISHED") -> None:
        """End the child run: ``FINISHED`` or ``FAILED``."""
        if self._child:
            self._runs.end(self._child, status)
        self._child = ""

    def finish(self, results: Results, folder: Path) -> None:
        """Means per language, their average, and what lies in ``folder`` but for checkpoints and
        models."""
        if not self._runs.on:
            return
        with self._runs.guarded():
            self._runs.metrics(self._run, averages(results))
            self._runs.files(self._run, folder, _NO_RESULTS)

    def stop(self, status: str) -> None:
        """End the child run, if there is one, and the parent."""
        self.end(status)
        if self._run:
            self._runs.end(self._run, status)
        self._runs.close()

    @property
    def _in_child(self) -> bool:
        return self._runs.on and bool(self._child)

    def _begun(self, name: str, tags: Mapping[str, str], params: Mapping[str, object]) -> str:
        return self._runs.resume(tags, params) or self._runs.begin(name, tags)


@contextmanager
def tracking_training(
    uri: str | None,
    name: str,
    params: Mapping[str, object],
    warn: Callable[[str], None],
    *,
    folder: Path | None = None,
) -> Iterator[TrainTracker]:
    """A tracker for one training experiment; ``uri``: None for `default_uri`, `OFF` for nothing.

    ``folder`` of the experiment: what tells it from another of the same ``name``. The run ends as
    FINISHED, or as FAILED when the block raises, interrupts included.
    """
    if uri == OFF:
        yield NoTrainTracker()
        return
    tracker = MlflowTrainTracker(default_uri() if uri is None else uri, warn)
    status = "FAILED"
    try:
        tracker.start(name, params, folder)
        yield tracker
        status = "FINISHED"
    finally:
        tracker.stop(status)
