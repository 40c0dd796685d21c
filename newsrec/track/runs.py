"""The runs of one MLflow server, whose failures cost nothing but the tracking."""

from __future__ import annotations

import logging
import os
import time
from collections.abc import Callable, Container, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from newsrec.errors import one_line
from newsrec.files import data_root
from newsrec.processes import identity, is_gone
from newsrec.track.metrics import metric_key
from newsrec.track.signals import undisturbed
from newsrec.track.watch import Watch

EXPERIMENT = "newsrec"
OFF = "off"
#: The tag that names the run above a run.
PARENT = "mlflow.parentRunId"

# MLflow retries for minutes by default; what is on disk must not wait for a server. It also reports
# its own use over the network, keeps a lock file of whatever folder it is run in with a model, and
# shows bars, unless told not to.
_MANNERS = {
    "MLFLOW_HTTP_REQUEST_MAX_RETRIES": "1",
    "MLFLOW_HTTP_REQUEST_BACKOFF_FACTOR": "1",
    "MLFLOW_HTTP_REQUEST_TIMEOUT": "10",
    "MLFLOW_DISABLE_TELEMETRY": "true",
    "MLFLOW_UV_AUTO_DETECT": "false",
    "MLFLOW_ENABLE_ARTIFACTS_PROGRESS_BAR": "false",
}
_MAX_VALUE = 500
_PROCESS = "newsrec.process"


def default_uri() -> str:
    """``sqlite:///data/runs/mlflow.db``, under `newsrec.files.data_root`."""
    return f"sqlite:///{(data_root() / 'runs' / 'mlflow.db').as_posix()}"


class Runs:
    """Runs at ``uri``; everything but `guarded`, `mark_lost`, `end`, `close` and `on` belongs
    inside a `guarded` block.

    ``warn`` is told the first failure.
    """

    def __init__(self, uri: str, warn: Callable[[str], None]) -> None:
        self._uri, self._warn = uri, warn
        self._watch: Watch | None = None
        self._left: dict[str, str] = {}
        self.client: Any = None
        self.experiment = ""

    @property
    def on(self) -> bool:
        """Whether anything is sent: connected, and nothing has failed yet."""
        return self.client is not None

    def connect(self) -> None:
        """Open or make the experiment, mark as failed what a killed process of this machine left
        running, and have it done for this one, until `close`."""
        self._open()
        self._mark_lost()
        self._watch = Watch(self._uri)

    def mark_lost(self) -> None:
        """Mark as failed what a killed process of this machine left running: it could not."""
        with self.guarded():
            self._open()
            self._mark_lost()

    def close(self) -> None:
        """Every run has ended; what could not be told how is left to the watch."""
        if self._watch is not None:
            self._watch.end(self._left)
        self._watch = None

    def _open(self) -> None:
        self.client = client_of(self._uri)
        found = self.client.get_experiment_by_name(EXPERIMENT)
        if found is None:
            self.experiment = str(self.client.create_experiment(EXPERIMENT, _artifacts(self._uri)))
        else:
            self.experiment = str(found.experiment_id)

    def _mark_lost(self) -> None:
        for run in self.client.search_runs([self.experiment], "attributes.status = 'RUNNING'"):
            if is_gone(run.data.tags.get(_PROCESS, "")):
                self.client.set_terminated(run.info.run_id, "FAILED")

    def begin(self, name: str, tags: Mapping[str, str]) -> str:
        """A new run; its id."""
        tags = {**tags, _PROCESS: identity()}
        run = self.client.create_run(self.experiment, tags=tags, run_name=name)
        return str(run.info.run_id)

    def resume(self, tags: Mapping[str, str], params: Mapping[str, object]) -> str | None:
        """The newest run with these ``tags`` (of letters and digits) that nobody is at and none of
        whose parameters is another, running again; None without one."""
        wanted = " and ".join(f"tags.`{key}` = '{value}'" for key, value in tags.items())
        newest = ["attributes.start_time DESC"]
        told = _told(params)
        for run in self.client.search_runs([self.experiment], wanted, order_by=newest):
            known, number = run.data.params, str(run.info.run_id)
            same = all(known.get(key, value) == value for key, value in told.items())
            if run.info.status != "RUNNING" and same:
                self.reopen(number)
                return number
        return None

    def reopen(self, run: str) -> None:
        """A run that has ended goes on in this process."""
        self.client.set_tag(run, _PROCESS, identity())
        self.client.update_run(run, status="RUNNING")

    def params(self, run: str, params: Mapping[str, object]) -> None:
        """Names and values in the spelling of MLflow, long ones cut."""
        from mlflow.entities import Param

        told = [Param(key, value) for key, value in _told(params).items()]
        for first in range(0, len(told), 100):
            self.client.log_batch(run, params=told[first : first + 100])

    def metrics(self, run: str, values: Mapping[str, float], step: int = 0) -> None:
        """``values`` that are numbers."""
        from mlflow.entities import Metric

        now = int(time.time() * 1000)
        known = [Metric(metric_key(k), v, now, step) for k, v in values.items() if not np.isnan(v)]
        for first in range(0, len(known), 1000):
            self.client.log_batch(run, metrics=known[first : first + 1000])

    def files(self, run: str, folder: Path, left_out: Container[str] = ()) -> None:
        """What lies in ``folder``; nothing in a folder of a name ``left_out``, and no values of
        every impression, which are large and stay on disk."""
        for path in sorted(folder.rglob("*")):
            below = path.parent.relative_to(folder)
            if path.is_file() and path.suffix != ".parquet":
                if any(part in left_out for part in below.parts):
                    continue
                where = below.as_posix() if below.parts else None
                self.client.log_artifact(run, str(path), where)

    def end(self, run: str, status: str) -> None:
        """With a client of its own: a signal may have ended us inside a transaction, which the old
        client's connection still holds. Once tracking has stopped it is left to `close`."""
        if self.on:
            with self.guarded():
                client_of(self._uri).set_terminated(run, status)
        if not self.on:
            self._left[run] = status

    @contextmanager
    def guarded(self) -> Iterator[None]:
        """An error of MLflow ends tracking, not what is tracked; signals wait until it is done."""
        with undisturbed(), self._forgiven():
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
            self.client = None
            reason = one_line(error, 300)
            self._warn(f"tracking stopped, MLflow at {self._uri} failed: {reason}")


def client_of(uri: str) -> Any:
    """An MLflow client; the folder of a SQLite file is made, its migrations are not told."""
    quiet()
    database = _database(uri)
    if database is not None:
        database.parent.mkdir(parents=True, exist_ok=True)
    from mlflow import MlflowClient

    return MlflowClient(tracking_uri=uri)


def quiet() -> None:
    """Short patience and no chatter, before mlflow is loaded; what the caller has set stays."""
    for key, value in _MANNERS.items():
        os.environ.setdefault(key, value)
    for noisy in ("alembic", "mlflow.store.db.utils"):
        logging.getLogger(noisy).setLevel(logging.WARNING)


def _told(params: Mapping[str, object]) -> dict[str, str]:
    return {metric_key(key): str(value)[:_MAX_VALUE] for key, value in params.items()}


def _database(uri: str) -> Path | None:
    return Path(uri.removeprefix("sqlite:///")) if uri.startswith("sqlite:///") else None


def _artifacts(uri: str) -> str | None:
    """Beside a SQLite file; a server chooses its own place (None)."""
    database = _database(uri)
    return None if database is None else (database.parent / "artifacts").resolve().as_uri()
