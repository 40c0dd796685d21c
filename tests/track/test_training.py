"""Trainings recorded on a real MLflow server on loopback, and gone on with."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from newsrec.cli.signals import ended_by_signal
from newsrec.evaluate.results import Results
from newsrec.protocols import TrainTracker
from newsrec.rank import EpochReport, Inputs, NeuralRanker, make_head, save_ranker
from newsrec.track import OFF, NoTrainTracker, tracking_training
from newsrec.track.runs import Runs
from tests.synthetic import known_answer
from tests.track.recorded import free_port, report, runs_of, status_in_time


def _epoch(number: int, valid: float | None = 0.5) -> EpochReport:
    return EpochReport(number, 1 / number, valid, 2.0, 100.0 * number, True)


def _ranker(folder: Path, seed: int = 0) -> Path:
    """A small ranker in ``folder/best``."""
    known = known_answer(np.random.default_rng(0))
    head = make_head("naml", Inputs.of(known.features), seed=seed)
    save_ranker(folder / "best", NeuralRanker(head.eval()))
    return folder / "best"


def _run(tracker: TrainTracker, name: str, model: Path, epochs: tuple[int, ...] = (1, 2)) -> None:
    """One run of a training, from its begin to its end."""
    tracker.begin(name, {"seed": 42, "shots": name})
    for number in epochs:
        tracker.epoch(_epoch(number))
    tracker.trained(model)
    tracker.measured(report("eng", 42, 0.4))
    tracker.measured(report("fin", 42, 0.3))
    tracker.end()


def _steps(uri: str, run: Any, name: str) -> dict[int, float]:
    from mlflow import MlflowClient

    return {x.step: x.value for x in MlflowClient(uri).get_metric_history(run.info.run_id, name)}


def _listed(uri: str, run: Any, below: str | None = None) -> list[str]:
    from mlflow import MlflowClient

    return [x.path for x in MlflowClient(uri).list_artifacts(run.info.run_id, below)]


def _models(uri: str, run: Any) -> list[Any]:
    from mlflow import MlflowClient

    said = f"source_run_id = '{run.info.run_id}'"
    found = MlflowClient(uri).search_logged_models([run.info.experiment_id], said)
    return list(found)


def test_a_training_is_recorded_with_a_child_for_each_run(server: str, tmp_path: Path) -> None:
    folder, model = tmp_path / "out", _ranker(tmp_path / "out" / "eng-full" / "seed42")
    (folder / "report.md").write_text("table")
    (model.parent / "last").mkdir()
    (model.parent / "last" / "state.safetensors").write_bytes(b"large")
    (model.parent / "impressions.txt").write_text("1\n2\n")
    reports = [report("eng", 42, 0.4), report("fin", 42, 0.3)]
    with tracking_training(server, "whole training", {"head": "naml"}, pytest.fail) as tracker:
        for name in ("eng 10 shots seed 42", "eng full seed 42"):
            _run(tracker, name, model)
        tracker.finish(Results.of(reports, {}), folder)
    parent, children = runs_of(server, "whole training")
    assert (parent.info.status, parent.data.params) == ("FINISHED", {"head": "naml"})
    assert parent.data.metrics["eng/mrr"] == pytest.approx(0.4)
    assert parent.data.metrics["delta/mrr"] == pytest.approx(-0.25)
    assert _listed(server, parent) == ["eng-full", "report.md"]
    assert _listed(server, parent, "eng-full/seed42") == ["eng-full/seed42/impressions.txt"]
    names = [run.info.run_name for run in children]
    assert names == ["eng 10 shots seed 42", "eng full seed 42"]
    child = children[1]
    assert child.info.status == "FINISHED"
    assert child.data.params == {"seed": "42", "shots": "eng full seed 42"}
    assert _steps(server, child, "train_loss") == {1: 1.0, 2: 0.5}
    assert _steps(server, child, "valid_loss") == {1: 0.5, 2: 0.5}
    assert _steps(server, child, "rows_per_s") == {1: 100.0, 2: 200.0}
    assert child.data.metrics["seconds"] == 2.0
    assert child.data.metrics["fin/ndcg_at_10"] == pytest.approx(0.15)
    assert child.data.metrics["eng/mrr"] == pytest.approx(0.4)
    assert child.data.metrics["eng/auc_pooled"] == 0.5
    wanted = ["model/manifest.json", "model/weights.safetensors"]
    assert _listed(server, child, "model") == wanted
    (logged,) = _models(server, child)
    assert (logged.name, logged.status) == ("pyfunc", "READY")


def test_without_validation_there_is_no_validation_loss(server: str) -> None:
    with tracking_training(server, "no valid", {}, pytest.fail) as tracker:
        tracker.begin("run", {})
        tracker.epoch(_epoch(1, None))
        tracker.end()
    child = runs_of(server, "no valid")[1][0]
    assert "valid_loss" not in child.data.metrics
    assert child.data.metrics["train_loss"] == 1.0


def test_a_run_that_fails_costs_the_others_nothing(server: str) -> None:
    with tracking_training(server, "one fails", {}, pytest.fail) as tracker:
        tracker.begin("1 diverges", {})
        tracker.end("FAILED")
        tracker.begin("2 is left open", {})
        tracker.begin("3 ends", {})
        tracker.end()
        tracker.epoch(_epoch(7))
    parent, children = runs_of(server, "one fails")
    assert parent.info.status == "FINISHED"
    assert [run.info.status for run in children] == ["FAILED", "FAILED", "FINISHED"]
    assert not any(run.data.metrics for run in (parent, *children))


def test_what_is_measured_later_goes_to_the_run_that_was_trained(server: str) -> None:
    with tracking_training(server, "later", {}, pytest.fail) as tracker:
        for name in ("a", "b"):
            tracker.begin(name, {"seed": 1})
            tracker.end()
        for name, value in (("a", 0.2), ("b", 0.6)):
            tracker.begin(name, {"seed": 1})
            tracker.measured(report("eng", 1, value))
            tracker.end()
    _, children = runs_of(server, "later")
    assert [run.data.metrics["eng/mrr"] for run in children] == pytest.approx([0.2, 0.6])
    assert [run.info.status for run in children] == ["FINISHED", "FINISHED"]


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt, SystemExit])
def test_a_training_that_dies_is_failed(server: str, error: type[BaseException]) -> None:
    name = f"training dies of {error.__name__}"

    def die() -> None:
        with tracking_training(server, name, {}, pytest.fail) as tracker:
            tracker.begin("run", {})
            raise error

    with pytest.raises(error):
        die()
    parent, children = runs_of(server, name)
    assert [run.info.status for run in (parent, *children)] == ["FAILED", "FAILED"]


def test_a_killed_training_goes_on_in_its_runs(server: str, tmp_path: Path) -> None:
    code = (
        "import os, signal, sys\n"
        "from newsrec.rank import EpochReport\n"
        "from newsrec.track import tracking_training\n"
        "with tracking_training(sys.argv[1], 'goes on', {'head': 'naml'}, print) as tracker:\n"
        "    tracker.begin('first', {'seed': 42, 'shots': 'first'})\n"
        "    tracker.end()\n"
        "    tracker.begin('second', {'seed': 42, 'shots': 'second'})\n"
        "    tracker.epoch(EpochReport(1, 1.0, 0.5, 2.0, 100.0, True))\n"
        "    os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    killed = subprocess.run([sys.executable, "-c", code, server], check=False)
    assert killed.returncode == -signal.SIGKILL
    assert status_in_time(server, "goes on") == "FAILED"
    parent, children = runs_of(server, "goes on")
    assert [x.info.status for x in children] == ["FINISHED", "FAILED"]
    model = _ranker(tmp_path)
    with tracking_training(server, "goes on", {"head": "naml"}, pytest.fail) as tracker:
        again = runs_of(server, "goes on")
        assert [x.info.status for x in (again[0], *again[1])] == ["RUNNING", "FINISHED", "FAILED"]
        _run(tracker, "second", model, (2, 3))
        _run(tracker, "third", model)
    now, runs = runs_of(server, "goes on")
    assert now.info.run_id == parent.info.run_id
    assert [run.info.run_name for run in runs] == ["first", "second", "third"]
    assert [run.info.run_id for run in runs[:2]] == [run.info.run_id for run in children]
    assert {run.info.status for run in (now, *runs)} == {"FINISHED"}
    assert _steps(server, runs[1], "train_loss") == {1: 1.0, 2: 0.5, 3: pytest.approx(1 / 3)}


def _recorded(uri: str, name: str, params: dict[str, object], folder: Path | None = None) -> None:
    with tracking_training(uri, name, params, pytest.fail, folder=folder) as tracker:
        tracker.begin("run", {"seed": 42})
        tracker.end()


def _n_parents(uri: str, name: str) -> int:
    from mlflow import MlflowClient

    found = MlflowClient(uri).search_runs([runs_of(uri, name)[0].info.experiment_id])
    return sum(run.info.run_name == name for run in found)


def test_another_training_has_runs_of_its_own(tmp_path: Path) -> None:
    uri = f"sqlite:///{tmp_path / 'runs.db'}"
    _recorded(uri, "again", {"head": "naml", "long": "x" * 9000})
    _recorded(uri, "again", {"head": "naml", "long": "x" * 9000})
    assert _n_parents(uri, "again") == 1
    _recorded(uri, "again", {"head": "mins", "long": "x" * 9000})
    assert _n_parents(uri, "again") == 2
    for folder in ("a", "b", "a"):
        _recorded(uri, "same name", {}, tmp_path / folder / "o'clock")
    assert _n_parents(uri, "same name") == 2
    with tracking_training(uri, "at once", {}, pytest.fail):
        _recorded(uri, "at once", {})
    assert _n_parents(uri, "at once") == 2


def test_a_model_is_sent_once_and_a_newer_one_replaces_it(server: str, tmp_path: Path) -> None:
    model = _ranker(tmp_path)
    for _ in range(2):
        with tracking_training(server, "twice", {}, pytest.fail) as tracker:
            _run(tracker, "run", model)
        (child,) = runs_of(server, "twice")[1]
        (logged,) = _models(server, child)
    first = logged.model_id
    _ranker(tmp_path, seed=1)
    with tracking_training(server, "twice", {}, pytest.fail) as tracker:
        _run(tracker, "run", model)
    (child,) = runs_of(server, "twice")[1]
    (logged,) = _models(server, child)
    assert logged.model_id != first
    assert logged.status == "READY"


def test_a_server_that_is_not_there_costs_a_warning(tmp_path: Path) -> None:
    uri, warnings, model = f"http://127.0.0.1:{free_port()}", list[str](), _ranker(tmp_path)
    with tracking_training(uri, "nobody", {}, warnings.append) as tracker:
        _run(tracker, "run", model)
        tracker.finish(Results.of([], {}), tmp_path)
    assert len(warnings) == 1
    assert warnings[0].startswith(f"tracking stopped, MLflow at {uri} failed: ")


def test_a_model_that_cannot_be_sent_costs_a_warning(tmp_path: Path) -> None:
    """Where artifacts should lie there is a file."""
    uri, warnings, model = f"sqlite:///{tmp_path / 'runs.db'}", list[str](), _ranker(tmp_path)
    (tmp_path / "artifacts").write_text("no folder")
    with tracking_training(uri, "no room", {}, warnings.append) as tracker:
        _run(tracker, "run", model)
        _run(tracker, "another", model)
    assert len(warnings) == 1
    (child,) = runs_of(uri, "no room")[1]
    assert _steps(uri, child, "train_loss") == {1: 1.0, 2: 0.5}


def test_off_records_nothing(tmp_path: Path) -> None:
    with tracking_training(OFF, "x", {}, pytest.fail) as tracker:
        assert isinstance(tracker, NoTrainTracker)
        _run(tracker, "run", tmp_path)
        tracker.finish(Results.of([], {}), tmp_path)
    assert not Path(os.environ["NEWSREC_DATA"]).exists()


@pytest.mark.parametrize("step", ["params", "metrics"])
def test_sigterm_while_something_is_sent_leaves_no_run_running(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    uri = f"sqlite:///{tmp_path / 'runs.db'}"
    send = getattr(Runs, step)
    sent = []

    def cut(runs: Runs, *given: Any) -> None:
        os.kill(os.getpid(), signal.SIGTERM)
        send(runs, *given)
        sent.append(step)

    monkeypatch.setattr(Runs, step, cut)

    def record() -> None:
        with ended_by_signal(), tracking_training(uri, "cut", {"a": 1}, pytest.fail) as tracker:
            tracker.begin("run", {"b": 2})
            tracker.epoch(_epoch(1))

    with pytest.raises(SystemExit):
        record()
    assert sent == [step]
    parent, children = runs_of(uri, "cut")
    assert parent.info.status == "FAILED"
    assert [run.info.status for run in children] == ["FAILED"] * (step == "metrics")
