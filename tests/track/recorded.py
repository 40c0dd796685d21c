"""Reports to record, and what was recorded."""

from __future__ import annotations

import socket
import time
from typing import Any

import numpy as np

from newsrec.evaluate.report import EvalReport
from newsrec.track import EXPERIMENT
from newsrec.types import Provenance


def free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])


def report(language: str, seed: int, value: float) -> EvalReport:
    return EvalReport(
        names=("mrr", "ndcg@10"),
        values=np.asarray([[value, value, np.nan], [value / 2] * 3]),
        rows=np.arange(3),
        ids=np.asarray(["1", "2", "3"]),
        readers=np.zeros(3, np.int32),
        counts={"impressions": 4, "kept": 3},
        provenance=Provenance("abc", {"a": {"b": 1}}, "h", "fp", {"dim": 8}, "newsrec", seed),
        pooled={"auc_pooled": 0.5, "gini@10": float("nan")},
        labels={"language": language, "encoder": "mini", "ranker": "fusion:centre=none"},
    )


def runs_of(uri: str, name: str) -> tuple[Any, list[Any]]:
    """The parent run called ``name`` and its children."""
    from mlflow import MlflowClient

    client = MlflowClient(uri)
    experiment = client.get_experiment_by_name(EXPERIMENT)
    assert experiment is not None
    found = client.search_runs([experiment.experiment_id])
    parent = next(run for run in found if run.info.run_name == name)
    ours = [run for run in found if run.data.tags.get("mlflow.parentRunId") == parent.info.run_id]
    return parent, sorted(ours, key=lambda run: str(run.info.run_name))


def status_in_time(uri: str, name: str) -> str:
    """The status of the parent run called ``name`` once it and its children have ended, or after a
    minute."""
    until = time.monotonic() + 60
    while True:
        parent, children = runs_of(uri, name)
        running = "RUNNING" in {run.info.status for run in (parent, *children)}
        if not running or time.monotonic() > until:
            return str(parent.info.status)
        time.sleep(0.2)
