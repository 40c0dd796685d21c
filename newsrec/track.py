"""Where runs are recorded: MLflow, or nothing; the only mlflow import.

Tracking never costs an evaluation: the first failure is told once through ``warn``, and nothing
more is sent.
"""

from __future__ import annotations

import logging
import os
import re
import signal
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from newsrec.errors import one_line
from newsrec.evaluate.report import EvalReport
from newsrec.evaluate.results import SOURCE, Results
from newsrec.files import data_root
from newsrec.processes import identity, is_gone
from newsrec.protocols import Tracker

EXPERIMENT = "newsrec"
OFF = "off"

# MLflow retries for minutes by default; a report on disk must not wait for a server. It also
# reports its own use over the network unless told not to.
_PATIENCE = {
    "MLFLOW_HTTP_REQUEST_MAX_RETRIES": "1",
    "MLFLOW_HTTP_REQUEST_BACKOFF_FACTOR": "1",
    "MLFLOW_HTTP_REQUEST_TIMEOUT": "10",
    "MLFLOW_DISABLE_TELEMETRY": "true",
}
_MAX_VALUE = 500
#: What ends a run from outside; Windows has no SIGHUP.
_SIGNALS = [getattr(signal, n) for n in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, n)]
_PROCESS = "newsrec.process"


def default_uri() -> str:
    """``sqlite:///data/runs/mlflow.db``, under `newsrec.files.data_root`."""
    return f"sqlite:///{(data_root() / 'runs' / 'mlflow.db').as_posix()}"


class NoTracker:
    """Records nothing."""

    def log(self, report: EvalReport) -> None:
        """Nothing."""

    def finish(self, results: Results, folder: Path) -> None:
        """Nothing."""


class MlflowTracker:
    """One parent run; `log` adds a nested child per report, `finish` averages and artifacts.

    ``start`` also marks as failed what a killed process of this machine left running; ``stop`` ends
    the parent with a status of MLflow (``FINISHED``, ``FAILED``). ``warn`` is told the first
    failure.
    """

    def __init__(self, uri: str, warn: Callable[[str], None]) -> None:
        self._uri, self._warn = uri, warn
        self._client: Any = None
        self._experiment = self._run = self._child = ""

    def start(self, name: str, params: Mapping[str, object]) -> None:
        """Begin the parent run."""
        with self._guarded():
            self._client = _client(self._uri)
            self._experiment = self._experiment_id()
            self._bury()
            # Known from the moment it exists: a signal may end us while its parameters are sent.
            self._run = self._begin(name, {})
            self._params(self._run, params)

    def log(self, report: EvalReport) -> None:
        """A child run: parameters, provenance and means of one system, language and seed."""
        if self._client is None:
            return
        with self._guarded():
            seed = report.provenance.seed
            name = " ".join([*report.system, report.language, f"seed {seed}"])
            params = {**report.labels, **flat(report.provenance.to_dict())}
            self._child = self._begin(name, {"mlflow.parentRunId": self._run})
            self._params(self._child, params)
            counts = {f"count/{k}": float(v) for k, v in report.counts.items()}
            self._metrics(self._child, report.mean() | counts)
            self._client.set_terminated(self._child, "FINISHED")
            self._child = ""

    def finish(self, results: Results, folder: Path) -> None:
        """Means per language, their average, and the tables and figures in ``folder``."""
        if self._client is None:
            return
        with self._guarded():
            self._metrics(self._run, averages(results))
            for path in sorted(folder.rglob("*")):
                # Values of every impression are large, and stay on disk.
                if path.is_file() and path.suffix != ".parquet":
                    below = path.parent.relative_to(folder).as_posix()
                    self._client.log_artifact(self._run, str(path), below if below != "." else None)

    def stop(self, status: str) -> None:
        """End the parent run, and a child that was being sent.

        With a client of its own for each: a signal may have ended us inside a transaction, which
        the old client's connection still holds.
        """
        if self._client is None:
            return
        for run in filter(None, (self._run, self._child)):
            with self._guarded():
                _client(self._uri).set_terminated(run, status)

    def _begin(self, name: str, tags: Mapping[str, str]) -> str:
        tags = {**tags, _PROCESS: identity()}
        run = self._client.create_run(self._experiment, tags=tags, run_name=name)
        return str(run.info.run_id)

    def _bury(self) -> None:
        """Mark runs as failed whose process was killed on this machine: it could not do so."""
        running = self._client.search_runs([self._experiment], "attributes.status = 'RUNNING'")
        for run in running:
            if is_gone(run.data.tags.get(_PROCESS, "")):
                self._client.set_terminated(run.info.run_id, "FAILED")

    def _params(self, run: str, params: Mapping[str, object]) -> None:
        from mlflow.entities import Param

        told = [Param(metric_key(k), str(v)[:_MAX_VALUE]) for k, v in params.items()]
        for first in range(0, len(told), 100):
            self._client.log_batch(run, params=told[first : first + 100])

    def _metrics(self, run: str, values: Mapping[str, float]) -> None:
        from mlflow.entities import Metric

        now = int(time.time() * 1000)
        known = [Metric(metric_key(k), v, now, 0) for k, v in values.items() if not np.isnan(v)]
        for first in range(0, len(known), 1000):
            self._client.log_batch(run, metrics=known[first : first + 1000])

    def _experiment_id(self) -> str:
        found = self._client.get_experiment_by_name(EXPERIMENT)
        if found is not None:
            return str(found.experiment_id)
        return str(self._client.create_experiment(EXPERIMENT, _artifacts(self._uri)))

    @contextmanager
    def _guarded(self) -> Iterator[None]:
        """An error of MLflow ends tracking, not the evaluation; signals wait until it is done."""
        with _undisturbed(), self._forgiven():
            yield

    @contextmanager
    def _forgiven(self) -> Iterator[None]:
        try:
            yield
        except Exception as error:
            # MLflow wraps what interrupts its transactions; an interrupt is still one.
            cause: BaseException | None = error
            while cause is not None:
                if not isinstance(cause, Exception):
                    raise cause from None
                cause = cause.__cause__ or cause.__context__
            self._client = None
            reason = one_line(error, 300)
            self._warn(f"tracking stopped, MLflow at {self._uri} failed: {reason}")


@contextmanager
def _undisturbed() -> Iterator[None]:
    """The first signal waits until the block has ended, a second one does not.

    An exception out of a signal's handler can end inside a transaction, whose lock then stays, or
    where the interpreter can only ignore it.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    waiting: list[tuple[Callable[..., object], int]] = []

    def later(handler: Callable[..., object]) -> Callable[..., None]:
        def handle(number: int, frame: object) -> None:
            waiting.append((handler, number))
            if len(waiting) > 1:
                handler(number, frame)

        return handle

    handlers = {sent: signal.getsignal(sent) for sent in _SIGNALS}
    before = {sent: handler for sent, handler in handlers.items() if callable(handler)}
    for sent, handler in before.items():
        signal.signal(sent, later(handler))
    try:
        yield
    finally:
        for sent, handler in before.items():
            signal.signal(sent, handler)
        for handler, number in waiting[:1]:
            handler(number, None)


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


def metric_key(name: str) -> str:
    """A name that MLflow takes: ``ndcg@10`` becomes ``ndcg_at_10``, other signs ``_``."""
    return re.sub(r"[^/\w.\- ]", "_", name.replace("@", "_at_"))


def averages(results: Results) -> dict[str, float]:
    """``eng/ndcg@10``, ``avg/…``, ``delta/…``, ``worst/…``; with several systems behind theirs."""
    found: dict[str, float] = {}
    for system in results.systems:
        prefix = "" if len(results.systems) == 1 else f"{' '.join(system)}/"
        by_language = results.of_system(system)
        names = dict.fromkeys(name for _, means in by_language.values() for name in means)
        for name in names:
            for language, (_, means) in by_language.items():
                if name in means:
                    found[f"{prefix}{language}/{name}"] = means[name].mean
            summary = results.summary(system, name)
            # Without any other language the average is that of the source itself.
            only = summary["source"] if set(by_language) == {SOURCE} else summary["average"]
            found[f"{prefix}avg/{name}"] = only
            found[f"{prefix}delta/{name}"] = summary["delta"]
            found[f"{prefix}worst/{name}"] = summary["worst"][1]
    return found


def flat(fields: Mapping[str, Any], prefix: str = "") -> dict[str, object]:
    """Nested mappings with keys joined by dots."""
    found: dict[str, object] = {}
    for key, value in fields.items():
        if isinstance(value, Mapping):
            found |= flat(value, f"{prefix}{key}.")
        else:
            found[f"{prefix}{key}"] = value
    return found


def _client(uri: str) -> Any:
    """An MLflow client; the folder of a SQLite file is made, its migrations are not told."""
    for key, value in _PATIENCE.items():
        os.environ.setdefault(key, value)
    database = _database(uri)
    if database is not None:
        database.parent.mkdir(parents=True, exist_ok=True)
    from mlflow import MlflowClient

    for noisy in ("alembic", "mlflow.store.db.utils"):
        logging.getLogger(noisy).setLevel(logging.WARNING)
    return MlflowClient(tracking_uri=uri)


def _database(uri: str) -> Path | None:
    return Path(uri.removeprefix("sqlite:///")) if uri.startswith("sqlite:///") else None


def _artifacts(uri: str) -> str | None:
    """Beside a SQLite file; a server chooses its own place (None)."""
    database = _database(uri)
    return None if database is None else (database.parent / "artifacts").resolve().as_uri()
