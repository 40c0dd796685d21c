"""`newsrec tune-diversity` from the command line: curves, figures, what is kept, bad input."""

from __future__ import annotations

import csv
import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner, Result

from newsrec.cli.app import app
from newsrec.corpus import Corpus
from newsrec.errors import ConfigError, DataError, NewsrecError
from newsrec.pipeline.tuned import tuned_diversity
from tests.evaluate.shelves import write

REPOSITORY = Path(__file__).resolve().parents[2]
PNG = b"\x89PNG\r\n\x1a\n"


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Corpus:
    return write(tmp_path_factory.mktemp("corpus") / "shelves")


def _call(corpus: Corpus, *words: str) -> Result:
    given = ["tune-diversity", "--corpus", str(corpus.folder), *words]
    return CliRunner().invoke(app, given)


def _well(corpus: Corpus, *words: str) -> str:
    done = _call(corpus, *words)
    if done.exception is not None:
        raise done.exception
    return done.output


def test_curves_figures_and_the_kept_diversities(corpus: Corpus, tmp_path: Path) -> None:
    out = tmp_path / "out"
    shown = _well(
        corpus, "--split", "train", "--langs", "eng,fin", "--weights", "0,0.5,0.9", "--out",
        str(out), "--rerank", "mmr,xquad:aspect=topic,quota:at_most={topic:1}", "--loss", "0.1",
    )  # fmt: skip
    assert "chosen on the split" not in shown
    for word in ("What variety costs: eng", "What variety costs: fin", "own order", "On the front",
                 "at most 10 % of nDCG@10", f"report: {out}", "kept for recommend:"):  # fmt: skip
        assert word in shown, word
    labels = ["mmr", "xquad:aspect=topic", 'quota:at_most={"topic": 1}']
    found = json.loads((out / "diversity.json").read_text())
    assert list(found["diversity"]) == labels
    assert (found["corpus"], found["split"], found["loss"]) == (corpus.fingerprint, "train", 0.1)
    assert (found["encoder"], found["ranker"], found["language"]) == ("mini", "fusion", "eng,fin")
    assert found["clusters"]["clusters"]["topic"] >= 1
    kept = Path(os.environ["NEWSREC_DATA"]) / "tuned" / f"diversity-{corpus.fingerprint}.json"
    assert json.loads(kept.read_text()) == found
    for label in labels:
        assert tuned_diversity(corpus, label) == found["diversity"][label]
    rows = list(csv.DictReader((out / "curves.csv").open(encoding="utf-8")))
    points = {(row["language"], row["reranker"], row["relevance_weight"]) for row in rows}
    assert len(points) == 2 * 3 * 4
    assert {"topic_coverage@10", "gini@10", "ndcg@10"} <= {row["metric"] for row in rows}
    own = {row["mean"] for row in rows if row["metric"] == "ndcg@10" and row["language"] == "eng"
           and row["relevance_weight"] == "1.0"}  # fmt: skip
    assert len(own) == 1  # score order, whoever re-ranks
    assert len(json.loads((out / "curves.json").read_text())["rows"]) == len(rows)
    assert "## mmr: fin" in (out / "tables.md").read_text()
    figures = sorted(path.name for path in (out / "figures").iterdir())
    assert "trade_off_eng.png" in figures
    assert "trade_off_fin.png" in figures
    assert all((out / "figures" / name).read_bytes().startswith(PNG) for name in figures)


def test_what_is_kept_keeps_the_accuracy(corpus: Corpus, tmp_path: Path) -> None:
    """The smallest weight whose nDCG@10, mean of the languages, is within the loss."""
    shown = _well(
        corpus, "--split", "test", "--langs", "eng,jpn", "--rerank", "mmr,manner", "--clusters",
        "none", "--metrics", "category_coverage@5", "--loss", "0.03", "--out",
        str(tmp_path / "out"),
    )  # fmt: skip
    assert "newsrec: chosen on the split 'test'" in shown
    rows = json.loads((tmp_path / "out" / "curves.json").read_text())["rows"]
    chosen = json.loads((tmp_path / "out" / "diversity.json").read_text())["diversity"]
    assert {row["metric"] for row in rows} == {"ndcg@10", "category_coverage@5"}
    for name, diversity in chosen.items():
        means: dict[float, list[float]] = {}
        for row in rows:
            if (row["reranker"], row["metric"]) == (name, "ndcg@10"):
                means.setdefault(row["relevance_weight"], []).append(row["mean"])
        mean = {weight: float(np.mean(values)) for weight, values in means.items()}
        allowed = [weight for weight, value in mean.items() if value >= 0.97 * mean[1.0] - 1e-9]
        assert diversity == pytest.approx(1 - min(allowed))


def test_all_means_every_reranker_of_the_table(corpus: Corpus, tmp_path: Path) -> None:
    from newsrec.rerank.table import RERANKERS

    words = ["--split", "train", "--langs", "eng", "--weights", "0", "--clusters", "none"]
    _well(corpus, *words, "--out", str(tmp_path / "out"), "--metrics", "category_coverage@10")
    found = json.loads((tmp_path / "out" / "diversity.json").read_text())
    assert {name.split(":")[0] for name in found["diversity"]} == set(RERANKERS)
    assert found["clusters"] == {}


def test_lists_that_the_cut_off_holds_whole_are_told(corpus: Corpus, tmp_path: Path) -> None:
    """They have nine candidates."""
    words = ["--split", "train", "--langs", "eng", "--weights", "0", "--clusters", "none",
             "--rerank", "mmr", "--out", str(tmp_path / "out"), "--metrics"]  # fmt: skip
    assert "Try a smaller one" in _well(corpus, *words, "intra_list_distance@10")
    assert not list((tmp_path / "out").rglob("*.png"))
    assert "Try a smaller one" not in _well(corpus, *words, "intra_list_distance@5")
    assert len(list((tmp_path / "out").rglob("*.png"))) == 1


def test_the_same_command_gives_the_same_files(corpus: Corpus, tmp_path: Path) -> None:
    words = ["--split", "train", "--langs", "jpn", "--weights", "0.5", "--rerank", "mmr,dpp"]
    for name in ("one", "other"):
        _well(corpus, *words, "--clusters", "none", "--out", str(tmp_path / name))
    for name in ("curves.csv", "tables.md", "diversity.json"):
        assert (tmp_path / "one" / name).read_text() == (tmp_path / "other" / name).read_text()
    # A folder with an earlier report is written again, another one is not touched.
    _well(corpus, *words, "--clusters", "none", "--out", str(tmp_path / "one"))
    (tmp_path / "one" / "thesis.tex").write_text("mine")
    error = _call(corpus, *words, "--out", str(tmp_path / "one")).exception
    assert "holds 'thesis.tex'" in str(error)


@pytest.mark.parametrize(
    ("words", "kind", "said"),
    [
        (["--rerank", "mrm"], ConfigError, "unknown re-ranker 'mrm'"),
        (["--rerank", "none"], ConfigError, "'none' has no diversity to tune"),
        (
            ["--rerank", "mmr:relevance_weight=0.5"],
            ConfigError,
            "relevance_weight is what is tuned",
        ),
        (["--rerank", "xquad:aspect=mood"], ConfigError, "aspect of re-ranker 'xquad:aspect=mood'"),
        (["--rerank", ","], ConfigError, "--rerank: ',' names nothing"),
        (["--weights", "0.5,1.5"], ConfigError, "relevance weight 1.5: expected a number from 0"),
        (["--weights", "-0.1"], ConfigError, "relevance weight -0.1"),
        (["--weights", "nan"], ConfigError, "relevance weight nan"),
        (["--weights", "half"], ConfigError, "--weights: 'half', expected numbers"),
        (["--loss", "-0.1"], ConfigError, "--loss: -0.1, expected a share from 0"),
        (["--loss", "1"], ConfigError, "--loss: 1.0"),
        (["--split", "blind"], DataError, "has no labels"),
        (["--split", "void"], DataError, "is empty"),
        (["--split", "valid"], ConfigError, "unknown split"),
        (["--ranker", "fusion,tfidf"], ConfigError, "one encoder and one ranker"),
        (["--metrics", "ndgc@10"], ConfigError, "unknown metric"),
        (["--clusters", "none", "--rerank", "xquad:aspect=topic"], ConfigError, "--clusters auto"),
        (["--clusters", "nowhere.npz"], DataError, "nowhere.npz: no such file"),
    ],
)
def test_bad_input_is_told_before_anything_is_encoded(
    corpus: Corpus, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, words: list[str],
    kind: type[NewsrecError], said: str,
) -> None:  # fmt: skip
    def never(*_: object, **__: object) -> None:
        pytest.fail("the work began")

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("newsrec.build.encoder", never)
    split = [] if "--split" in words else ["--split", "train"]
    error = _call(corpus, *split, *words).exception
    assert isinstance(error, kind), error
    assert said in str(error)
    assert not any(tmp_path.rglob("diversity*.json"))


def test_help_and_errors_of_the_command(corpus: Corpus) -> None:
    def process(*words: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-m", "newsrec", "tune-diversity", *words],
            capture_output=True, text=True, cwd=REPOSITORY, timeout=300, check=False,
        )  # fmt: skip

    done = process("--help")
    assert done.returncode == 0
    for option in ("--rerank", "--loss", "--weights", "--clusters", "--metrics", "--split"):
        assert option in done.stdout
    wrong = process("--corpus", str(corpus.folder), "--rerank", "x")
    assert (wrong.returncode, wrong.stdout) == (2, "")
    assert wrong.stderr.startswith("newsrec: unknown re-ranker 'x'")
    assert len(wrong.stderr.strip().splitlines()) == 1
