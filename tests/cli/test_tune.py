"""`newsrec tune` from the command line: a search that is killed, its files, bad input."""

from __future__ import annotations

import csv
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
import yaml
from typer.testing import CliRunner

from newsrec.cli.app import app
from newsrec.config.space import load_space
from newsrec.errors import ConfigError, DataError, MissingExtra, NewsrecError
from tests.track.recorded import runs_of

SPACE = "learning_rate=1e-4..1e-2 log, query=[4, 8], epochs=2, batch=64"
WORDS = ("--head", "naml", "--space", SPACE, "--no-track")


def _well(*words: str) -> str:
    done = CliRunner().invoke(app, ["tune", *words])
    if done.exception is not None:
        raise done.exception
    return done.output


def _rows(folder: Path) -> list[dict[str, str]]:
    """``trials.csv`` without times."""
    with (folder / "trials.csv").open(encoding="utf-8") as file:
        return [{k: v for k, v in row.items() if k != "seconds"} for row in csv.DictReader(file)]


def test_a_killed_search_ends_as_one_that_was_not(tmp_path: Path) -> None:
    killed, whole = tmp_path / "killed", tmp_path / "whole"
    command = [sys.executable, "-m", "newsrec", "tune", *WORDS, "--trials", "3", "--out"]
    process = subprocess.Popen([*command, str(killed)], stdout=subprocess.DEVNULL)
    while process.poll() is None and not (killed / "trials.csv").exists():
        time.sleep(0.05)
    process.kill()
    assert process.wait() == -signal.SIGKILL
    assert len(_rows(killed)) < 3
    shown = _well(*WORDS, "--trials", "3", "--out", str(killed))
    _well(*WORDS, "--trials", "3", "--out", str(whole))
    assert _rows(killed) == _rows(whole)
    assert (killed / "best.yaml").read_text() == (whole / "best.yaml").read_text()
    for word in ("Best trials by ndcg@10 on validation", "3 trials: 3 done.", f"report: {killed}",
                 f"newsrec train --config {killed / 'best.yaml'}"):  # fmt: skip
        assert word in shown, word


def test_an_interrupted_search_goes_on(tmp_path: Path) -> None:
    out = tmp_path / "out"
    command = [sys.executable, "-m", "newsrec", "tune", *WORDS, "--trials", "9", "--out", str(out)]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    while process.poll() is None and not (out / "trials.csv").exists():
        time.sleep(0.05)
    process.send_signal(signal.SIGTERM)
    assert process.wait() == 128 + signal.SIGTERM
    assert "2 trials: 2 done." in _well(*WORDS, "--trials", "2", "--out", str(out))


def test_the_same_search_goes_on_in_its_own_folder(tmp_path: Path) -> None:
    assert "1 trials: 1 done." in _well(*WORDS, "--trials", "1")
    assert "2 trials: 2 done." in _well(*WORDS, "--trials", "2")
    folders = list((Path(os.environ["NEWSREC_DATA"]) / "tuned").iterdir())
    assert [folder.name[:5] for folder in folders] == ["naml-"]


def test_every_trial_is_a_run_in_mlflow(tmp_path: Path) -> None:
    uri, out = f"sqlite:///{(tmp_path / 'mlflow.db').as_posix()}", tmp_path / "naml"
    words = ("--head", "naml", "--space", SPACE, "--out", str(out), "--tracking-uri", uri)
    _well(*words, "--trials", "1")
    _well(*words, "--trials", "2")
    parent, trials = runs_of(uri, "naml")
    assert [run.info.run_name for run in trials] == ["trial 0", "trial 1"]
    assert {run.info.status for run in (parent, *trials)} == {"FINISHED"}
    rows = _rows(out)
    for run, row in zip(trials, rows, strict=True):
        assert run.data.params == {k: row[k] for k in ("learning_rate", "query")}
        assert run.data.metrics["eng/ndcg_at_10"] == float(row["ndcg@10"])
        assert run.data.metrics["valid_loss"] >= float(row["best_valid_loss"])
    best = max(float(row["ndcg@10"]) for row in rows)
    assert parent.data.metrics["eng/ndcg_at_10"] == best
    assert parent.data.params["space.query"] == "[4, 8]"
    with pytest.raises(ConfigError, match="Did you mean 'query'"):
        _well(*words[:2], "--space", "qery=[1, 2]", *words[4:])
    assert len(runs_of(uri, "naml")[1]) == 2


def test_the_space_is_shown_edited_and_given_back(tmp_path: Path) -> None:
    shown = _well("--head", "mins", "--show-space")
    assert shown.splitlines()[0] == "learning_rate: 1e-05..0.01 log"
    path = tmp_path / "space.yaml"
    path.write_text(shown.replace("dropout: 0..0.5", "dropout: 0.1") + "epochs: 1\n")
    again = _well("--head", "mins", "--space", str(path), "--show-space")
    assert load_space(str(path)).to_yaml() == again
    assert "dropout: 0.1" in again.splitlines()


def test_a_training_file_is_a_start(tmp_path: Path) -> None:
    base = tmp_path / "base.yaml"
    base.write_text("head: naml:query=8\noptions: {learning_rate: 3e-3, epochs: 1}\nseeds: [1, 2]")
    out = tmp_path / "out"
    _well("--config", str(base), "--space", "dropout=0..0.5", "--trials", "1", "--out", str(out),
          "--no-track")  # fmt: skip
    best = yaml.safe_load((out / "best.yaml").read_text())
    assert best["head"]["options"].keys() == {"query", "dropout"}
    assert best["options"] == {"learning_rate": 3e-3, "epochs": 1}
    assert best["seeds"] == [1, 2]


@pytest.mark.parametrize(
    ("words", "kind", "said"),
    [
        (("--head", "nmal"), ConfigError, r"unknown head 'nmal'.*Did you mean 'naml'"),
        ((), ConfigError, "head"),
        (("--head", "naml", "--space", "qery=[1, 2]"), ConfigError, "Did you mean 'query'"),
        (("--head", "naml", "--space", "query=9..1"), ConfigError, "query: the range 9..1 is empt"),
        (("--head", "naml", "--space", "none.yaml"), ConfigError, "none.yaml: cannot be read"),
        (("--head", "naml", "--corpus", "nowhere"), DataError, "nowhere"),
        (("--head", "naml", "--encoder", "./nowhere"), NewsrecError, "nowhere"),
        (("--head", "lfrec"), ConfigError, "no weights of its own"),
        (("--head", "naml", "--metric", "best"), ConfigError, "unknown metric 'best'"),
        (("--head", "naml", "--no-track", "--tracking-uri", "x"), ConfigError, "exclude each"),
        (
            ("--head", "naml", "--timeout-s", "0"),
            DataError,
            r"no trial is done \(0 trials\.\); go on: --out",
        ),
    ],
)
def test_bad_input_is_one_clear_line(
    words: tuple[str, ...], kind: type[NewsrecError], said: str, tmp_path: Path
) -> None:
    with pytest.raises(kind, match=said):
        _well(*words, "--out", str(tmp_path / "out"))
    assert not (tmp_path / "out" / "trials").exists()
    assert (tmp_path / "out").exists() == ("--timeout-s" in words)


def test_without_optuna_it_says_how_to_get_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    missing: Any = None
    monkeypatch.setitem(sys.modules, "optuna", missing)
    with pytest.raises(MissingExtra, match=r"pip install 'newsrec\[tune\]'"):
        _well(*WORDS, "--out", str(tmp_path / "out"))
    assert not (tmp_path / "out").exists()
