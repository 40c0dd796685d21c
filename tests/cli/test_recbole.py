"""`newsrec recbole` from the command line: files for RecBole, and its models in our report."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from newsrec.cli.app import app
from newsrec.corpus import Corpus
from newsrec.errors import ConfigError, DataError, MissingExtra, NewsrecError
from newsrec.recbole.atomic import read_atomic
from tests.evaluate.shelves import write


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Corpus:
    return write(tmp_path_factory.mktemp("corpus") / "shelves")


def _well(*words: object) -> str:
    done = CliRunner().invoke(app, [str(word) for word in words], catch_exceptions=False)
    assert done.exit_code == 0, done.output
    return done.output


def _error(*words: object) -> NewsrecError:
    done = CliRunner().invoke(app, [str(word) for word in words])
    assert isinstance(done.exception, NewsrecError), done.output
    return done.exception


def _means(path: Path) -> dict[tuple[str, str], dict[str, float]]:
    return {
        (row["language"], row["ranker"]): {k: v["mean"] for k, v in row["metrics"].items()}
        for row in json.loads(path.read_text())["results"]
    }


def test_the_sample_is_exported_with_its_vectors(tmp_path: Path) -> None:
    said = _well("recbole", "export", "--out", tmp_path / "s", "--encoder", "mini",
                 "--langs", "fin,jpn")  # fmt: skip
    names = {path.name for path in (tmp_path / "s").iterdir()}
    assert names == {
        "s.train.inter", "s.valid.inter", "s.test.inter", "s.user", "s.item", "s.itememb_fin",
        "s.itememb_jpn", "recbole.yaml", "newsrec.json",
    }  # fmt: skip
    assert re.search(r"^ +72  s\.item$", said, re.M)
    assert said.splitlines()[-1].startswith(f"wrote {tmp_path / 's'}")
    assert len(read_atomic(tmp_path / "s" / "s.itememb_jpn")["iid_jpn:token"]) == 72


@pytest.mark.recbole
@pytest.mark.slow
def test_trained_models_stand_in_one_report_with_ours(
    corpus: Corpus, tmp_path: Path, recbole_python: Path
) -> None:
    from mlflow import MlflowClient

    words = ["--corpus", corpus.folder, "--langs", "eng,fin", "--metrics", "accuracy"]
    said = _well(
        "recbole", "run", "--model", "BPR,SASRec,GRU4Rec", "--python", recbole_python, "--epochs",
        1, "--ranker", "fusion,popularity,random", *words, "--json", tmp_path / "one.json", "--out",
        tmp_path / "one", "--set", "train_batch_size=64",
    )  # fmt: skip
    for model in ("BPR", "SASRec", "GRU4Rec"):
        assert f"{model}, seed 42: trained in" in said
        assert re.search(rf"^{model} − mini fusion +[+-]?\d", said, re.M), "no paired test"
    found = json.loads((tmp_path / "one.json").read_text())
    same = {(r["language"], r["metrics"]["ndcg@10"]["n"]) for r in found["results"]}
    assert len(same) == 2, "every system is measured on the same impressions"
    systems = {row["ranker"] for row in found["results"]}
    assert systems == {"fusion", "popularity", "random", "BPR", "SASRec", "GRU4Rec"}
    assert (tmp_path / "one" / "figures").is_dir()
    client = MlflowClient(f"sqlite:///{os.environ['NEWSREC_DATA']}/runs/mlflow.db")
    experiment = client.get_experiment_by_name("newsrec")
    assert experiment is not None
    runs = client.search_runs([experiment.experiment_id])
    assert {run.info.status for run in runs} == {"FINISHED"}
    assert len(runs) == 1 + 2 * len(systems)

    place = Path(os.environ["NEWSREC_DATA"]) / "recbole" / f"shelves-{corpus.fingerprint}"
    nnz = len(corpus.impressions("test").candidates.values)
    files = {path.parent.name.split("-")[0]: path for path in place.glob("*/scores.npy")}
    assert set(files) == {"BPR", "SASRec", "GRU4Rec"}
    for path in files.values():
        scores = np.load(path)
        assert (scores.shape, scores.dtype) == ((nnz,), np.float32)
        assert sorted(x.name for x in path.parent.iterdir()) == ["scores.json", "scores.npy"]
    ranker = f"scores:file={files['BPR']}:called=ours,fusion"
    _well("evaluate", "--ranker", ranker, *words, "--no-track", "--json", tmp_path / "two.json")
    one, two = _means(tmp_path / "one.json"), _means(tmp_path / "two.json")
    for language in ("eng", "fin"):
        assert two[language, "ours"] == one[language, "BPR"]
        assert two[language, "fusion"] == one[language, "fusion"]


@pytest.mark.recbole
@pytest.mark.slow
def test_all_of_newsrec_runs_where_recbole_is(
    corpus: Corpus, tmp_path: Path, recbole_python: Path
) -> None:
    """The extra brings the whole: numpy 1, pandas 2 and newsrec in one environment."""
    done = subprocess.run(
        [str(recbole_python), "-m", "newsrec", "recbole", "run", "--model", "EASE", "--corpus",
         str(corpus.folder), "--langs", "eng", "--epochs", "1", "--no-track", "--json",
         str(tmp_path / "found.json")],
        cwd=tmp_path, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    found = json.loads((tmp_path / "found.json").read_text())
    assert found["provenance"]["versions"]["numpy"].startswith("1.")
    assert {row["ranker"] for row in found["results"]} == {"fusion", "random", "EASE"}


def _run(*words: object) -> list[object]:
    return ["recbole", "run", "--no-track", *words]


@pytest.mark.parametrize(
    ("words", "kind", "said"),
    [
        (_run("--model", "BPRR"), ConfigError, "unknown RecBole model 'BPRR'; known: ADMMSLIM, "),
        (_run("--model", ","), ConfigError, "no model named"),
        (_run("--model", "BPR", "--epochs", 0), ConfigError, "--epochs: 0, expected at least 1"),
        (_run("--model", "BPR", "--set", "seed=3"), ConfigError, "decided by newsrec"),
        (_run("--model", "BPR", "--set", "seed"), ConfigError, "--set: 'seed', expected KEY=VALUE"),
        (_run("--model", "BPR", "--python", "/no/python"), ConfigError, "/no/python is no program"),
        (_run("--model", "BPR", "--python", sys.executable), MissingExtra, "'recbole==1.2.1'"),
        (_run("--model", "BPR"), MissingExtra, "python3.11 -m venv .venv-recbole"),
        (_run("--model", "BPR", "--split", "dev"), ConfigError, "unknown split of corpus"),
        (_run("--model", "BPR", "--split", "blind"), DataError, "has no labels"),
        (_run("--model", "BPR", "--ranker", "fuson"), ConfigError, "unknown ranker 'fuson'"),
        (["recbole", "export", "--out", "x", "--split", "dev"], ConfigError, "unknown split"),
        (["recbole", "export", "--out", "x", "--split", "blind"], DataError, "unlabelled split"),
        (["recbole", "export", "--out", "x", "--encoder", "mini", "--langs", "deu"], ConfigError,
         "unknown --langs of corpus 'shelves': 'deu'"),
        (["recbole", "export", "--out", "."], DataError, "no RecBole export"),
        (["evaluate", "--no-track", "--ranker", "scores:file=x.npy"], DataError, "x.npy: cannot"),
        (["evaluate", "--no-track", "--ranker", "scores"], ConfigError, "expected file=SCORES.npy"),
        (["evaluate", "--no-track", "--ranker", "random:called=a,recency:called=a"], ConfigError,
         "two rankers are called 'a'"),
    ],
)  # fmt: skip
def test_bad_input_is_one_clear_error_and_nothing_is_written(
    corpus: Corpus, words: list[object], kind: type[NewsrecError], said: str,
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path,
) -> None:  # fmt: skip
    (tmp_path / "here").mkdir()
    (tmp_path / "here" / "mine.txt").write_text("mine")
    monkeypatch.chdir(tmp_path / "here")
    monkeypatch.setenv("NEWSREC_CORPUS", str(corpus.folder))
    error = _error(*words)
    assert isinstance(error, kind)
    assert said in str(error)
    assert "\n" not in str(error)
    assert [path.name for path in (tmp_path / "here").iterdir()] == ["mine.txt"]
    assert not (tmp_path / "newsrec-data").exists()


@pytest.mark.recbole
@pytest.mark.slow
def test_the_measured_split_cannot_be_trained_on(
    corpus: Corpus, monkeypatch: pytest.MonkeyPatch, recbole_python: Path
) -> None:
    monkeypatch.setenv("NEWSREC_CORPUS", str(corpus.folder))
    words = _run("--model", "BPR", "--python", recbole_python)
    error = _error(*words, "--train-on", "train,test")
    assert "'test' is the split that is measured" in str(error)
    error = _error(*words, "--train-on", "test", "--split", "train")
    assert "training would see the future" in str(error)
