"""Tracking against a real MLflow server on loopback."""

from __future__ import annotations

import os
import signal
import sqlite3
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from newsrec.cli.signals import ended_by_signal
from newsrec.evaluate.results import Results
from newsrec.track import (
    OFF,
    NoTracker,
    averages,
    default_uri,
    metric_key,
    tracking,
)
from newsrec.track.runs import Runs
from newsrec.track.signals import undisturbed
from tests.track.recorded import free_port, report, runs_of, status_in_time


def _record(uri: str, name: str, folder: Path) -> list[str]:
    """Log two languages and two seeds; returns the warnings."""
    warnings: list[str] = []
    runs = [report(c, seed, v) for c, v in (("eng", 0.4), ("fin", 0.3)) for seed in (42, 43)]
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
    parent, children = runs_of(server, "whole")
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
    parent, _ = runs_of(server, "files")
    client, run = MlflowClient(server), parent.info.run_id
    assert [x.path for x in client.list_artifacts(run)] == ["figures", "report.md"]
    assert [x.path for x in client.list_artifacts(run, "figures")] == ["figures/bars.png"]


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt, SystemExit])
def test_a_run_that_dies_is_failed(server: str, error: type[BaseException]) -> None:
    name = f"dies of {error.__name__}"

    def die() -> None:
        with tracking(server, name, {}, pytest.fail) as tracker:
            tracker.log(report("eng", 42, 0.4))
            raise error

    with pytest.raises(error):
        die()
    parent, children = runs_of(server, name)
    assert parent.info.status == "FAILED"
    assert len(children) == 1


def test_sqlite_is_the_default_and_keeps_its_artifacts_beside_it(tmp_path: Path) -> None:
    home = Path(os.environ["NEWSREC_DATA"])
    assert default_uri() == f"sqlite:///{home.as_posix()}/runs/mlflow.db"
    assert _record(default_uri(), "local", tmp_path / "out") == []
    parent, children = runs_of(default_uri(), "local")
    assert (parent.info.status, len(children)) == ("FINISHED", 4)
    assert parent.info.artifact_uri.startswith((home / "runs" / "artifacts").resolve().as_uri())
    assert len(list((home / "runs" / "artifacts").rglob("report.md"))) == 1


def test_an_unreachable_server_is_told_once_and_soon(tmp_path: Path) -> None:
    uri = f"http://127.0.0.1:{free_port()}"
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
        tracker.log(report("eng", 42, 0.4))
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
    runs = [report("eng", 42, 0.4), report("fin", 42, 0.2)]
    other = replace(runs[1], labels={**runs[1].labels, "ranker": "random"})
    found = averages(Results.of([*runs, other], {}))
    assert found["mini fusion:centre=none/worst/mrr"] == pytest.approx(0.2)
    assert found["mini random/fin/mrr"] == pytest.approx(0.2)
    assert "avg/mrr" not in found


def test_the_average_of_english_alone_is_english() -> None:
    assert averages(Results.of([report("eng", 42, 0.4)], {}))["avg/mrr"] == pytest.approx(0.4)


@pytest.mark.parametrize("step", ["params", "metrics"])
def test_sigterm_while_a_run_begins_leaves_no_run_running(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    """The signal comes after MLflow made the run, while its parameters or metrics are sent; what is
    being sent is sent whole."""
    uri = f"sqlite:///{tmp_path / 'runs.db'}"
    monkeypatch.setattr(Runs, step, lambda *_: os.kill(os.getpid(), signal.SIGTERM))

    def record() -> None:
        with ended_by_signal(), tracking(uri, "cut", {"a": 1}, pytest.fail) as tracker:
            tracker.log(report("eng", 42, 0.4))

    with pytest.raises(SystemExit):
        record()
    parent, children = runs_of(uri, "cut")
    assert parent.info.status == "FAILED"
    assert [run.info.status for run in children] == ["FINISHED"] * (step == "metrics")


def test_a_run_whose_process_is_killed_is_failed(tmp_path: Path) -> None:
    """Not by this process, nor by another run: by the one that watched."""
    uri = f"sqlite:///{tmp_path / 'runs.db'}"
    code = (
        "import os, signal, sys; from newsrec.track import tracking\n"
        "with tracking(sys.argv[1], 'lost', {'a': 1}, print):\n"
        "    os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    killed = subprocess.run([sys.executable, "-c", code, uri], check=False)
    assert killed.returncode == -signal.SIGKILL
    assert status_in_time(uri, "lost") == "FAILED"


def test_a_run_ends_well_though_its_server_was_away_for_a_while(tmp_path: Path) -> None:
    uri, warnings = f"sqlite:///{tmp_path / 'runs.db'}", list[str]()
    with tracking(uri, "alone", {"a": 1}, warnings.append) as tracker:
        other = sqlite3.connect(tmp_path / "runs.db")
        other.execute("BEGIN EXCLUSIVE")
        tracker.log(report("eng", 42, 0.4))
        assert len(warnings) == 1
        other.rollback()
        other.close()
    assert len(warnings) == 1
    assert status_in_time(uri, "alone") == "FINISHED"


def test_what_a_killed_process_left_running_is_failed_by_the_next_start(tmp_path: Path) -> None:
    """Where the watch was killed with it."""
    uri = f"sqlite:///{tmp_path / 'runs.db'}"
    code = (
        "import os, signal, sys; from newsrec.track import runs, tracking\n"
        "runs.Watch = lambda uri: None\n"
        "with tracking(sys.argv[1], 'lost', {'a': 1}, print):\n"
        "    os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    killed = subprocess.run([sys.executable, "-c", code, uri], check=False)
    assert killed.returncode == -signal.SIGKILL
    assert runs_of(uri, "lost")[0].info.status == "RUNNING"
    with tracking(uri, "next", {"a": 1}, pytest.fail):
        assert runs_of(uri, "lost")[0].info.status == "FAILED"
        assert runs_of(uri, "next")[0].info.status == "RUNNING"
    assert runs_of(uri, "next")[0].info.status == "FINISHED"


@pytest.mark.parametrize("sign", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_waits_for_mlflow_and_then_ends_the_run(sign: signal.Signals) -> None:
    """Whatever the library does with exceptions: here it forgives them all."""

    def ended(number: int, frame: object) -> None:
        raise SystemExit(128 + number)

    done = []

    def once() -> None:
        with undisturbed():
            try:
                signal.raise_signal(sign)
                done.append("whole")
            except BaseException:
                done.append("interrupted")

    def twice() -> None:
        with undisturbed():
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
