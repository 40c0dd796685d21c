"""`newsrec reproduce`, quick, end to end: on the sample, killed and gone on with, refused."""

from __future__ import annotations

import csv
import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from newsrec.cli.app import app
from newsrec.errors import NewsrecError
from newsrec.pipeline.open import open_corpus
from tests.conftest import REPOSITORY
from tests.pipeline.paper.made import small_labse

KILLED = """
import os, signal, sys
from newsrec.rank import loop
from newsrec.cli.app import main
real, saved = loop.save_progress, []
def save(*given):
    real(*given)
    saved.append(1)
    if len(saved) == 3:
        os.kill(os.getpid(), signal.SIGKILL)
loop.save_progress = save
main()
"""


def well(*words: object) -> str:
    done = CliRunner().invoke(app, ["reproduce", *map(str, words)], catch_exceptions=False)
    assert done.exit_code == 0, done.output
    return done.output


def rows_of(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def numbers(folder: Path) -> dict[str, object]:
    """What every cell found, by its file."""
    found = {}
    for path in sorted(folder.glob("cells/*/*/seed*.json")):
        body = json.loads(path.read_text("utf-8"))
        found[path.relative_to(folder).as_posix()] = (body["values"], body["deltas"])
    return found


@pytest.fixture(scope="module")
def labse(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small model with LaBSE's shape and random weights."""
    folder = tmp_path_factory.mktemp("models") / "small"
    before = os.environ.get("NEWSREC_DATA")
    os.environ["NEWSREC_DATA"] = str(tmp_path_factory.mktemp("data"))
    try:
        return small_labse(folder, open_corpus(), ("eng", "fin"))
    finally:
        os.environ.pop("NEWSREC_DATA") if before is None else None
        if before is not None:
            os.environ["NEWSREC_DATA"] = before


@pytest.mark.slow
def test_table_2_frozen_and_fine_tuned_on_the_sample(labse: Path, tmp_path: Path) -> None:
    options = ("--quick", "--encoders", f"mini,LaBSE={labse}", "--out", tmp_path)
    said = well("table2", *options, "--protocols", "newsreclib")
    quick = tmp_path / "quick"
    rows = rows_of(quick / "table2.csv")
    trainings = {(x["model"], x["encoder"], x["training"]) for x in rows}
    frozen = {(m, e, "frozen") for m in ("LFRec", "NAML", "MINS", "CAUM", "MANNeR")
              for e in ("mini", "LaBSE")}  # fmt: skip
    tuned = {(m, "LaBSE", "fine-tuned")
             for m in ("LFRec-CE", "LFRec-SCL", "NAML", "MINS", "CAUM", "MANNeR")}  # fmt: skip
    assert trainings == frozen | tuned | {("NAML_CAT", "", "none")}
    assert len(rows) == 17 * 4 * 3
    measured = [x for x in rows if x["part"] in ("ENG", "AVG")]
    assert all(0 <= float(x["here"]) <= 100 for x in measured)
    printed = [x for x in rows if x["encoder"] == "LaBSE"]
    assert all(x["paper"] and x["difference"] for x in printed)
    assert not any(x["paper"] for x in rows if x["encoder"] == "mini")
    for x in measured:
        if x["paper"]:
            there = float(x["here"]) - float(x["paper"])
            assert float(x["difference"]) == pytest.approx(there, abs=2e-4)
    assert "say nothing about a reproduction" in said
    assert "mini: no layers to fine-tune" in said
    for name in ("table2.md", "table2.tex"):
        assert "LFRec-SCL" in (quick / name).read_text("utf-8")
    assert not list(quick.glob("cells/**/vectors"))
    tuned_runs = list(quick.glob("cells/*/LFRec-SCL_LaBSE_fine-tuned/eng-full/seed42"))
    assert [x.name for run in tuned_runs for x in run.iterdir() if x.name == "last"] == []
    assert all((run / "best" / "manifest.json").is_file() for run in tuned_runs)


def test_both_protocols_stand_beside_the_paper(labse: Path, tmp_path: Path) -> None:
    said = well("table2", "--quick", "--encoders", f"LaBSE={labse}", "--rows", "LFRec,LFRec-SCL",
                "--out", tmp_path)  # fmt: skip
    rows = rows_of(tmp_path / "quick" / "table2.csv")
    assert {x["protocol"] for x in rows} == {"newsreclib", "newsrec"}
    assert all(x["paper"] for x in rows if x["metric"] != "auc")
    assert not any(x["paper"] for x in rows if x["metric"] == "auc")
    for metric in ("AUC (auc_torchmetrics)", "MRR", "nDCG@5", "nDCG@10"):
        assert f"table 2: {metric}, protocol newsreclib" in said
    for metric in ("AUC (own metric)", "MRR", "nDCG@5", "nDCG@10"):
        assert f"table 2: {metric}, protocol newsrec" in said


@pytest.mark.slow
def test_table_3_and_figures_share_their_cells(labse: Path, tmp_path: Path) -> None:
    options = ("--quick", "--encoders", f"mini,LaBSE={labse}", "--protocols", "newsreclib",
               "--out", tmp_path)  # fmt: skip
    well("table3", *options)
    rows = rows_of(tmp_path / "quick" / "table3.csv")
    assert {(x["model"], x["encoder"], x["training"], x["shots"]) for x in rows} == {
        (model, encoder, training, shots)
        for shots in ("10", "50", "100")
        for model, encoder, training in (
            ("LFRec-SCL", "LaBSE", "fine-tuned"), ("NAML", "LaBSE", "fine-tuned"),
            ("NAML", "mini", "frozen"),
        )
    }  # fmt: skip
    before = {
        path: path.stat().st_mtime_ns for path in tmp_path.glob("quick/cells/*/*/seed42.json")
    }
    assert len(before) == 9
    ids = {
        n: set(next(tmp_path.glob(f"quick/cells/*/LFRec-SCL*_{n}-shots/*/*/best/impressions.txt"))
               .read_text("utf-8").split())
        for n in (10, 50, 100)
    }  # fmt: skip
    assert [len(ids[n]) for n in (10, 50, 100)] == [10, 50, 100]
    assert ids[10] < ids[50] < ids[100]
    well("figures", *options)
    assert all(path.stat().st_mtime_ns == written for path, written in before.items())
    bars = rows_of(tmp_path / "quick" / "figures.csv")
    assert {(x["figure"], x["encoder"], x["shots"]) for x in bars} == {
        ("2", "mini", ""), ("2", "LaBSE", ""), ("4", "LaBSE", ""),
        ("5", "LaBSE", "10"), ("5", "LaBSE", "50"), ("5", "LaBSE", "100"),
    }  # fmt: skip
    assert {x["language"] for x in bars} == {"eng", "fin", "average"}
    drawn = sorted(path.name for path in tmp_path.glob("quick/*.png"))
    assert drawn == [f"figure{n}_newsreclib.png" for n in (2, 4, 5)]


def test_several_seeds_have_a_spread(tmp_path: Path) -> None:
    corpus = tmp_path / "data"
    well("table2", "--encoders", "NaSE=mini", "--rows", "NAML:frozen,LFRec", "--seeds", "1,2",
         "--set", "epochs=1,learning_rate=0.01", "--protocols", "newsreclib", "--langs", "eng,fin",
         "--out", corpus)  # fmt: skip
    rows = rows_of(corpus / "table2.csv")
    naml = [x for x in rows if x["model"] == "NAML" and x["part"] == "ENG"]
    assert all(x["seeds"] == "2" and float(x["here_std"]) > 0 for x in naml)
    assert {x["seeds"] for x in rows if x["model"] == "LFRec"} == {"1"}
    assert {x["inside"] for x in naml} <= {"true", "false", ""}


@pytest.mark.slow
def test_a_killed_grid_goes_on_and_ends_the_same(tmp_path: Path) -> None:
    words = ["reproduce", "table2", "--quick", "--encoders", "mini", "--rows",
             "NAML:frozen,MANNeR:frozen", "--protocols", "newsrec", "--set",
             "epochs=2"]  # fmt: skip
    killed = [sys.executable, "-c", KILLED, *words, "--out", str(tmp_path / "killed")]
    done = subprocess.run(killed, capture_output=True, check=False)
    assert done.returncode == -signal.SIGKILL, done.stderr
    cells = tmp_path / "killed" / "quick"
    assert [x.parent.name for x in cells.glob("cells/*/*/seed42.json")] == ["NAML_mini_frozen"]
    assert (cells / "cells/newsrec/MANNeR_mini_frozen/eng-full/seed42/last").is_dir()
    first = (cells / "cells/newsrec/NAML_mini_frozen/seed42.json").read_bytes()
    for out in ("killed", "straight"):
        well(*words[1:], "--out", tmp_path / out)
    assert numbers(cells) == numbers(tmp_path / "straight" / "quick")
    assert (cells / "cells/newsrec/NAML_mini_frozen/seed42.json").read_bytes() == first


def test_another_setting_in_the_same_folder_is_refused(tmp_path: Path) -> None:
    words = ("table2", "--quick", "--encoders", "mini", "--rows", "LFRec", "--out", tmp_path)
    well(*words)
    assert "another --out" in error(*words, "--langs", "eng,tur")


def test_a_plan_says_what_it_was_measured_on(tmp_path: Path) -> None:
    said = well("table2", "--plan", "--encoders", "mini", "--rows", "LFRec,NAML", "--out", tmp_path)
    assert "Measured on CPU; run --plan on the GPU machine" in said
    assert "CPU h MINDsmall" in said
    assert "GPU h" not in said
    assert not list((tmp_path / "plan" / "runs").iterdir())
    assert not (tmp_path / "cells").exists()
    assert "ms/list" in (tmp_path / "plan_table2.md").read_text("utf-8")


def error(*words: object) -> str:
    """The one line of a command that is refused."""
    done = CliRunner().invoke(app, ["reproduce", *map(str, words)])
    assert isinstance(done.exception, NewsrecError), done.output
    said = str(done.exception)
    assert "\n" not in said
    return said


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--encoders", "LaBSE=/no/such"), "no such model folder"),
        (("--encoders", "LaBES=/no/such"), "Did you mean 'LaBSE'"),
        (("--encoders", "mini,no/such-model-at-all"), "no/such-model-at-all"),
        (("--encoders", "mini,mini:precision=fp32"), "named twice"),
        (("--rows", "LFRek"), "Did you mean 'LFRec'"),
        (("--rows", "LFRec-SCL"), "no layers"),
        (("--raw", "/no/such/folder"), "no such folder"),
        (("--corpus", "/no/such/folder"), "no such folder"),
        (("--corpus", "/no/such", "--raw", "/no/such"), "exclude each other"),
        (("--protocols", "newsreclip"), "Did you mean 'newsreclib'"),
        (("--lang", "deu"), "deu"),
        (("--langs", "eng,deu"), "deu"),
        (("--test", "tset"), "Did you mean 'test'"),
        (("--test", "valid"), "decides when to stop"),
        (("--valid", "2"), "between 0 and 1"),
        (("--set", "epoch=3"), "Did you mean 'epochs'"),
        (("--set", "epochs=many"), "expected int"),
        (("--seeds", "one"), "--seeds"),
        (("--seeds", ""), "at least one"),
        (("--trainable", "first4"), "trainable"),
        (("--device", "abacus"), "device 'abacus' cannot be used"),
    ],
    ids=lambda x: " ".join(x) if isinstance(x, tuple) else None,
)
def test_what_is_wrong_is_said_before_anything_is_run(
    words: tuple[str, ...], said: str, tmp_path: Path
) -> None:
    encoders = () if "--encoders" in words else ("--encoders", "mini")
    assert said in error("table2", *encoders, *words, "--out", tmp_path / "out")
    assert not (tmp_path / "out" / "cells").exists()


@pytest.mark.parametrize("what", ["table2", "table3", "figures"])
def test_a_script_is_its_command(what: str, tmp_path: Path) -> None:
    script = REPOSITORY / "scripts" / f"reproduce_{what}"
    rows = {"table2": "LFRec", "table3": "NAML:frozen", "figures": "LFRec"}[what]
    words = ["--quick", "--encoders", "mini", "--rows", rows, "--protocols", "newsrec"]
    env = {**os.environ, "PYTHON": sys.executable, "PYTHONPATH": str(REPOSITORY)}
    done = subprocess.run([str(script), *words, "--out", str(tmp_path)], env=env, check=False,
                          capture_output=True, text=True)  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "quick" / f"{what}.md").is_file()
    told = subprocess.run([str(script)], env=env, check=False, capture_output=True, text=True)
    assert (told.returncode, "--raw RAW" in told.stdout) == (2, True)
