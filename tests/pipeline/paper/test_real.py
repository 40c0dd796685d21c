"""`newsrec reproduce` on the real Mandarin clicks, quick: learnt on 9 to 13 November 2019, measured
on the 14th."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest
from typer.testing import CliRunner

from newsrec.cli.app import app
from newsrec.corpus import Corpus, MindOptions, prepare_mind
from tests.pipeline.paper.made import mandarin_raw, small_labse

pytestmark = pytest.mark.shared

OPTIONS = ("--quick", "--lang", "cmn", "--langs", "cmn", "--valid", "0.1", "--test", "valid")


@pytest.fixture(scope="module")
def corpus(shared_data: Path, tmp_path_factory: pytest.TempPathFactory) -> Corpus:
    raw = mandarin_raw(shared_data, tmp_path_factory.mktemp("raw"))
    return prepare_mind(raw, tmp_path_factory.mktemp("corpus") / "clicks", MindOptions())[0]


def well(*words: object) -> str:
    done = CliRunner().invoke(app, ["reproduce", *map(str, words)], catch_exceptions=False)
    assert done.exit_code == 0, done.output
    return done.output


def rows_of(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


@pytest.mark.slow
def test_the_tables_and_figures_run_on_real_clicks(corpus: Corpus, tmp_path: Path) -> None:
    labse = small_labse(tmp_path / "small", corpus, ("cmn",))
    options = (*OPTIONS, "--corpus", corpus.folder, "--encoders", f"mini,LaBSE={labse}",
               "--protocols", "newsreclib", "--out", tmp_path)  # fmt: skip
    chosen = "NAML_CAT,LFRec,LFRec-SCL,NAML:frozen"
    said = well("table2", *options, "--rows", chosen)
    assert "ENG here is cmn" in said
    rows = rows_of(tmp_path / "quick" / "table2.csv")
    assert {(x["model"], x["encoder"], x["training"]) for x in rows} == {
        ("NAML_CAT", "", "none"), ("LFRec", "mini", "frozen"), ("LFRec", "LaBSE", "frozen"),
        ("NAML", "mini", "frozen"), ("NAML", "LaBSE", "frozen"),
        ("LFRec-SCL", "LaBSE", "fine-tuned"),
    }  # fmt: skip
    assert all(x["impressions"] == "48" for x in rows if x["part"] == "ENG")
    assert not any(x["here"] for x in rows if x["part"] == "AVG")
    well("table3", *options, "--rows", "LFRec-SCL,NAML:frozen")
    shots = rows_of(tmp_path / "quick" / "table3.csv")
    assert {(x["encoder"], x["shots"]) for x in shots} == {
        (encoder, n) for encoder in ("mini", "LaBSE") for n in ("10", "50", "100")
    }
    well("figures", *options, "--rows", "LFRec,LFRec-SCL")
    bars = rows_of(tmp_path / "quick" / "figures.csv")
    assert {x["language"] for x in bars} == {"cmn"}
    assert (tmp_path / "quick" / "figure2_newsreclib.png").is_file()


def test_raw_folders_are_prepared_and_counted(shared_data: Path, tmp_path: Path) -> None:
    raw = mandarin_raw(shared_data, tmp_path / "raw")
    said = well("table2", *OPTIONS, "--raw", raw, "--encoders", "mini", "--rows", "LFRec",
                "--out", tmp_path / "out")  # fmt: skip
    assert "2,621 / 124,229  differs" in said
    assert Corpus.open(tmp_path / "out" / "corpus").languages == ("eng", "cmn")
    assert "LFRec" in (tmp_path / "out" / "quick" / "table2.md").read_text("utf-8")
