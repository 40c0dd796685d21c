"""Tracking against a real MLflow server on loopback."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from newsrec.cli.signals import ended_by_signal
from newsrec.evaluate.report import EvalReport
from newsrec.evaluate.results import Results
from newsrec.track import (
    EXPERIMENT,
    OFF,
    MlflowTracker,
    NoTracker,
    _undisturbed,
    averages,
    default_uri,
    flat,
    metric_key,
    tracking,
)
from newsrec.types import Provenance


def _free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """`mlflow server` with its own SQLite file; stopped at the end."""
    folder, port = tmp_path_factory.mktemp("mlflow"), _free_port()
    uri = f"http://127.0.0.1:{port}"
    log = (folder / "server.log").open("wb")
    process = subprocess.Popen(
        [
            sys.executable, "-m", "mlflow", "server", "--host", "127.0.0.1", "--port", str(port),
            "--backend-store-uri", f"sqlite:///{folder / 'server.db'}",
            "--artifacts-destination", str(folder / "artifacts"), "--workers", "1",
        ],
        stdout=log, stderr=log, cwd=folder, start_new_session=True,
        env={**os.environ, "MLFLOW_DISABLE_TELEMETRY": "true"},
    )  # fmt: skip
    try:
        for _ in range(600):
            if process.poll() is not None:
                break
            try:
                with urllib.request.urlopen(f"{uri}/health", timeout=5) as answer:
                    if answer.status == 200:
                        yield uri
                        return
            except OSError:
                time.sleep(0.2)
        pytest.fail("mlflow server did not start:\n" + (folder / "server.log").read_text())
    finally:
        os.killpg(process.pid, signal.SIGTERM)
        try:
            process.wait(20)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
        log.close()


def _report(language: str, seed: int, value: float) -> EvalReport:
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


def _runs(uri: str, name: str) -> tuple[Any, list[Any]]:
    """The parent run called ``name`` and its children."""
    from mlflow import MlflowClient

    client = MlflowClient(uri)
    experiment = client.get_experiment_by_name(EXPERIMENT)
    assert experiment is not None
    found = client.search_runs([experiment.experiment_id])
    parent = next(run for run in found if run.info.run_name == name)
    ours = [run for run in found if run.data.tags.get("mlflow.parentRunId") == parent.info.run_id]
    return parent, sorted(ours, key=lambda run: str(run.info.run_name))


def _record(uri: str, name: str, folder: Path) -> list[str]:
    """Log two languages and two seeds; returns the warnings."""
    warnings: list[str] = []
    runs = [_report(c, seed, v) for c, v in (("eng", 0.4), ("fin", 0.3)) for seed in (42, 43)]
    folder.mkdir(exist_ok=True)
    (folder / "figures").mkdir(exist_ok=True)
    (folder / "report.md").write_text("table")
    (folder / "figures" / "bars.png").write_bytes(b"png")
    (folder / "values.parquet").write_bytes(b"large")
    with tracking(uri, name, {"split": "test", "ndcg@10": "x" * 9000}, warnings.append) as tracker:
        for run in runs:
            tracker.log(run)
        tracker.finish(Results.of(runs, {}), folder)
    return warnings


def test_a_run_is_recorded_with_a_child_per_language_and_seed(server: str, tmp_path: Path) -> None:
    assert _record(server, "whole", tmp_path / "out") == []
    parent, children = _runs(server, "whole")
    assert parent.info.status == "FINISHED"
    assert parent.data.params["split"] == "test"
    assert parent.data.metrics["eng/mrr"] == pytest.approx(0.4)
    assert parent.data.metrics["avg/ndcg_at_10"] == pytest.approx(0.15)
    assert parent.data.metrics["delta/mrr"] == pytest.approx(-0.25)
    assert [run.info.run_name for run in children] == [
        f"mini fusion:centre=none {language} seed {seed}"
        for language in ("eng", "fin")
        for seed in (42, 43)
    ]
    first = children[0]
    assert first.info.status == "FINISHED"
    assert first.data.metrics == {
        "mrr": pytest.approx(0.4), "ndcg_at_10": pytest.approx(0.2), "auc_pooled": 0.5,
        "count/impressions": 4, "count/kept": 3,
    }  # fmt: skip
    assert first.data.params["language"] == "eng"
    assert first.data.params["config.a.b"] == "1"
    assert first.data.params["commit"] == "abc"


def test_files_become_artifacts(server: str, tmp_path: Path) -> None:
    from mlflow import MlflowClient

    _record(server, "files", tmp_path / "out")
    parent, _ = _runs(server, "files")
    client, run = MlflowClient(server), parent.info.run_id
    assert [x.path for x in client.list_artifacts(run)] == ["figures", "report.md"]
    assert [x.path for x in client.list_artifacts(run, "figures")] == ["figures/bars.png"]


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt, SystemExit])
def test_a_run_that_dies_is_failed(server: str, error: type[BaseException]) -> None:
    name = f"dies of {error.__name__}"

    def die() -> None:
        with tracking(server, name, {}, pytest.fail) as tracker:
            tracker.log(_report("eng", 42, 0.4))
            raise error

    with pytest.raises(error):
        die()
    parent, children = _runs(server, name)
    assert parent.info.status == "FAILED"
    assert len(children) == 1


def test_sqlite_is_the_default_and_keeps_its_artifacts_beside_it(tmp_path: Path) -> None:
    home = Path(os.environ["NEWSREC_DATA"])
    assert default_uri() == f"sqlite:///{home.as_posix()}/runs/mlflow.db"
    assert _record(default_uri(), "local", tmp_path / "out") == []
    parent, children = _runs(default_uri(), "local")
    assert (parent.info.status, len(children)) == ("FINISHED", 4)
    assert parent.info.artifact_uri.startswith((home / "runs" / "artifacts").resolve().as_uri())
    assert len(list((home / "runs" / "artifacts").rglob("report.md"))) == 1


def test_an_unreachable_server_is_told_once_and_soon(tmp_path: Path) -> None:
    uri = f"http://127.0.0.1:{_free_port()}"
    warnings = _record(uri, "nobody", tmp_path / "out")
    assert len(warnings) == 1
    assert warnings[0].startswith(f"tracking stopped, MLflow at {uri} failed: ")


def test_an_address_that_mlflow_does_not_know_is_told_once(tmp_path: Path) -> None:
    assert len(_record("gopher://nowhere", "x", tmp_path / "out")) == 1


def test_a_database_that_is_none_is_told_once(tmp_path: Path) -> None:
    (tmp_path / "bad.db").write_bytes(b"this is no database, whatever its name says" * 50)
    assert len(_record(f"sqlite:///{tmp_path / 'bad.db'}", "x", tmp_path / "out")) == 1


def test_off_records_nothing(tmp_path: Path) -> None:
    with tracking(OFF, "x", {}, pytest.fail) as tracker:
        assert isinstance(tracker, NoTracker)
        tracker.log(_report("eng", 42, 0.4))
        tracker.finish(Results.of([], {}), tmp_path)
    assert not Path(os.environ["NEWSREC_DATA"]).exists()


@pytest.mark.parametrize(
    ("name", "key"),
    [("ndcg@10", "ndcg_at_10"), ("eng/mrr", "eng/mrr"), ("a:b=c/d e", "a_b_c/d e")],
)
def test_names_become_legal_in_mlflow(name: str, key: str) -> None:
    from mlflow.utils.validation import _validate_metric_name

    assert metric_key(name) == key
    _validate_metric_name(key)


def test_averages_of_several_systems_are_kept_apart() -> None:
    runs = [_report("eng", 42, 0.4), _report("fin", 42, 0.2)]
    other = replace(runs[1], labels={**runs[1].labels, "ranker": "random"})
    found = averages(Results.of([*runs, other], {}))
    assert found["mini fusion:centre=none/worst/mrr"] == pytest.approx(0.2)
    assert found["mini random/fin/mrr"] == pytest.approx(0.2)
    assert "avg/mrr" not in found


def test_the_average_of_english_alone_is_english() -> None:
    assert averages(Results.of([_report("eng", 42, 0.4)], {}))["avg/mrr"] == pytest.approx(0.4)


def test_nested_fields_are_flattened() -> None:
    assert flat({"a": {"b": {"c": 1}}, "d": 2}) == {"a.b.c": 1, "d": 2}


@pytest.mark.parametrize("step", ["_params", "_metrics"])
def test_sigterm_while_a_run_begins_leaves_no_run_running(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    """The signal comes after MLflow made the run, while its parameters or metrics are sent; what is
    being sent is sent whole."""
    uri = f"sqlite:///{tmp_path / 'runs.db'}"
    monkeypatch.setattr(MlflowTracker, step, lambda *_: os.kill(os.getpid(), signal.SIGTERM))

    def record() -> None:
        with ended_by_signal(), tracking(uri, "cut", {"a": 1}, pytest.fail) as tracker:
            tracker.log(_report("eng", 42, 0.4))

    with pytest.raises(SystemExit):
        record()
    parent, children = _runs(uri, "cut")
    assert parent.info.status == "FAILED"
    assert [run.info.status for run in children] == ["FINISHED"] * (step == "_metrics")


def test_what_a_killed_process_left_running_is_failed_by_the_next_start(tmp_path: Path) -> None:
    uri = f"sqlite:///{tmp_path / 'runs.db'}"
    code = (
        "import os, signal, sys; from newsrec.track import tracking\n"
        "with tracking(sys.argv[1], 'lost', {'a': 1}, print):\n"
        "    os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    killed = subprocess.run([sys.executable, "-c", code, uri], check=False)
    assert killed.returncode == -signal.SIGKILL
    assert _runs(uri, "lost")[0].info.status == "RUNNING"
    with tracking(uri, "next", {"a": 1}, pytest.fail):
        assert _runs(uri, "lost")[0].info.status == "FAILED"
        assert _runs(uri, "next")[0].info.status == "RUNNING"
    assert _runs(uri, "next")[0].info.status == "FINISHED"


@pytest.mark.parametrize("sign", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_waits_for_mlflow_and_then_ends_the_run(sign: signal.Signals) -> None:
    """Whatever the library does with exceptions: here it forgives them all."""

    def ended(number: int, frame: object) -> None:
        raise SystemExit(128 + number)

    done = []

    def once() -> None:
        with _undisturbed():
            try:
                signal.raise_signal(sign)
                done.append("whole")
            except BaseException:
                done.append("interrupted")

    def twice() -> None:
        with _undisturbed():
            signal.raise_signal(sign)
            signal.raise_signal(sign)
            done.append("not after the second")

    before = signal.signal(sign, ended)
    try:
        with pytest.raises(SystemExit) as raised:
            once()
        assert raised.value.code == 128 + sign
        assert signal.getsignal(sign) is ended
        with pytest.raises(SystemExit):
            twice()
        assert done == ["whole"]
    finally:
        signal.signal(sign, before)
