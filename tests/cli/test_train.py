"""`newsrec train`, and what it makes, from the command line."""

from __future__ import annotations

import csv
import json
import subprocess
import sys
from pathlib import Path

import pytest
from mlflow import MlflowClient

from tests.encode import models

QUICK = ("--set", "epochs=1", "--no-track")


def newsrec(*words: object) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "newsrec", *map(str, words)],
        capture_output=True, text=True, timeout=300, check=False,
    )  # fmt: skip


def well(*words: object) -> str:
    done = newsrec(*words)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("trained") / "naml"
    said = well(
        "train", "--head", "naml:query=8", "--shots", "6,12", "--seeds", "42,43",
        "--test-langs", "eng,fin", *QUICK, "--out", folder,
    )  # fmt: skip
    assert "naml:query=8 eng-6-shots" in said
    assert f"use one: newsrec recommend --ranker {folder / 'eng-12-shots'}" in said
    return folder


@pytest.fixture(scope="module")
def bare(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A corpus of twelve articles without a category and readers without a history."""
    raw = tmp_path_factory.mktemp("bare")
    with (raw / "articles.csv").open("w", newline="") as file:
        lines = csv.writer(file)
        lines.writerow(["id", "language", "title"])
        lines.writerows([f"A{i}", "eng", f"Ferry number {i} leaves on time"] for i in range(12))
    with (raw / "clicks.csv").open("w", newline="") as file:
        lines = csv.writer(file)
        lines.writerow(["user", "article", "time", "impression", "shown"])
        lines.writerows(
            [f"u{i}", f"A{i}", f"2026-01-{i + 1:02d}T08:00:00", f"I{i}", f"A{i} A{(i + 1) % 12}"]
            for i in range(12)
        )
    well("prepare", "articles", raw / "articles.csv", "--clicks", raw / "clicks.csv",
         "--out", raw / "corpus")  # fmt: skip
    return raw / "corpus"


def test_what_was_trained_is_evaluated_and_recommends(trained: Path) -> None:
    ranker = trained / "eng-12-shots"
    table = well("evaluate", "--ranker", f"fusion,{ranker}:called=mine", "--seeds", "42,43",
                 "--langs", "fin,tha", "--metrics", "ndcg@10", "--no-track")  # fmt: skip
    assert "mine" in table
    page = well("recommend", "--user", "U123", "--lang", "tha", "--ranker", ranker, "--k", "3",
                "--format", "json")  # fmt: skip
    assert page.count('"because"') == 3


def test_options_win_over_a_file_that_says_the_same(trained: Path, tmp_path: Path) -> None:
    file = tmp_path / "naml.yaml"
    file.write_text(
        "head: {name: naml, options: {query: 8}}\nshots: [6]\nseeds: [42]\ntest: none\n"
        "options: {epochs: 3}\n"
    )
    well("train", "--config", file, *QUICK, "--out", tmp_path / "a")
    one, other = (
        (root / "eng-6-shots" / "seed42" / "best" / "weights.safetensors").read_bytes()
        for root in (trained, tmp_path / "a")
    )
    assert one == other


def test_an_encoder_learns_along_and_stays_with_its_head(tmp_path: Path) -> None:
    where = tmp_path / "out" / "eng-6-shots"
    well("train", "--head", "lfrec-scl", "--encoder", models.bert(tmp_path / "tiny"), "--trainable",
         "lora", "--shots", "6", "--seeds", "42", "--test", "none", "--no-track", "--set",
         "epochs=1,rank=2,precision=bf16,checkpointing=true", "--out", where.parent)  # fmt: skip
    best = where / "seed42" / "best"
    made = json.loads((best / "manifest.json").read_text())["made"]
    assert made["tower"]["tuning"] == {"policy": "lora", "rank": 2, "alpha": 32, "dropout": 0.1,
                              "precision": "bf16"}  # fmt: skip
    assert (best / "encoder").is_dir()
    page = well("recommend", "--user", "U123", "--lang", "fin", "--ranker", where, "--k", "3",
                "--format", "json")  # fmt: skip
    assert page.count('"because"') == 3


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("train --head namel", "unknown head 'namel'; known: caum, lfrec,"),
        ("train --head naml-cat --corpus BARE", "head 'naml-cat' reads categories, and the corpus"),
        ("train --head naml --set learning_rate=1e30,clip=null", "training diverged: loss"),
        ("train --head naml --corpus BARE", "no usable impression (impressions 9, without_history"),
        (
            "recommend --user U123 --lang fin --ranker NAML --encoder TINY",
            "the head was trained on vectors of 'mini' (256 dimensions",
        ),
        ("evaluate --langs fin --ranker ./nothing", "nothing: no such folder, expected a trained"),
    ],
)
def test_bad_input_is_one_line_and_exit_3_and_nothing_is_overwritten(
    words: str, said: str, trained: Path, bare: Path, tmp_path: Path
) -> None:
    places: dict[str, object] = {"BARE": bare, "NAML": trained / "eng-6-shots"}
    if "TINY" in words:
        places["TINY"] = models.bert(tmp_path / "tiny")
    before = {path: path.read_bytes() for path in trained.rglob("*") if path.is_file()}
    given = [places.get(word, word) for word in words.split()]
    if given[0] == "train":
        given += ["--test", "none", "--no-track", "--out", tmp_path / "out"]
    done = newsrec(*given)
    assert done.returncode == 3, done.stderr
    told = [line for line in done.stderr.splitlines() if line.startswith("newsrec: ")]
    assert len(told) == 1
    assert said in told[0]
    assert "Traceback" not in done.stderr
    assert not list((tmp_path / "out").glob("*/*/best"))
    assert {path: path.read_bytes() for path in trained.rglob("*") if path.is_file()} == before


def test_what_was_learnt_from_is_in_mlflow_with_the_model(tmp_path: Path) -> None:
    uri = f"sqlite:///{(tmp_path / 'runs.db').as_posix()}"
    well("train", "--head", "naml-cat:width=8", "--shots", "5", "--set", "epochs=1",
         "--test", "none", "--tracking-uri", uri, "--out", tmp_path / "out")  # fmt: skip
    client = MlflowClient(uri)
    experiment = client.get_experiment_by_name("newsrec")
    assert experiment is not None
    runs = client.search_runs([experiment.experiment_id])
    child = next(run for run in runs if run.info.run_name == "eng-5-shots seed 42")
    assert child.data.params["shots"] == "5"
    kept = client.download_artifacts(child.info.run_id, "model/impressions.txt", str(tmp_path))
    assert len(Path(kept).read_text().split()) == 5
