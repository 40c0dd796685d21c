"""`newsrec prepare`: what it prints, writes and refuses, in process and as a real command."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from newsrec.cli.app import app
from newsrec.corpus import Corpus
from newsrec.errors import DataError, NewsrecError
from tests.corpus import raw

ARTICLES = "id,language,title,published\na,deu,Ein Zug,2026-01-01\nb,zho,下雨,2026-01-02\n"
CLICKS = "user,article,time\nu1,a,2026-01-03\nu1,b,2026-01-04\n"


def _run(*arguments: object) -> str:
    """Output of a run that succeeds; a `NewsrecError` comes through as in `newsrec.cli.main`."""
    done = CliRunner().invoke(app, [str(a) for a in arguments], catch_exceptions=False)
    assert done.exit_code == 0, done.output
    return done.output


def _command(*arguments: object) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "newsrec", *map(str, arguments)],
        capture_output=True, text=True, check=False, cwd=Path(__file__).resolve().parents[2],
    )  # fmt: skip


def test_mind_prints_what_it_found(tmp_path: Path) -> None:
    source = raw.put(raw.mind(tmp_path / "raw"), {"xmind/FIN/news.tsv.gz": raw.FIN})
    lines = _run("prepare", "mind", source, "--out", tmp_path / "small").splitlines()
    assert lines[0] == "small: 5 news, 3 readers"
    # Of N1, N2, N3, N4 and N9, all of which were shown, N9 has no text.
    assert lines[2].split() == ["eng", "English", "4", "80.0%"]
    assert lines[3].split() == ["fin", "Finnish", "2", "40.0%"]
    assert lines[5].startswith(
        "  train               2 (1), 4 candidates, 2 clicks, 2 readers, 2019"
    )
    assert lines[6].startswith("  valid               1 (1), 2 candidates, 1 clicks")
    assert lines[7].startswith("  test                2 (1), 4 candidates, 2 clicks")
    assert lines[8].startswith("note: 1 ids in behaviors (20.0%")
    corpus = Corpus.open(tmp_path / "small")
    assert lines[-1] == f"wrote {tmp_path / 'small'} ({corpus.fingerprint})"


def test_what_was_done_is_recorded(tmp_path: Path) -> None:
    source = raw.mind(tmp_path / "raw")
    _run("prepare", "mind", source, "--out", tmp_path / "c", "--protocol", "newsreclib",
         "--valid-from", "2019-11-13T12:00:00", "--no-first-shown")  # fmt: skip
    info = Corpus.open(tmp_path / "c").info
    assert info["protocol"] == "newsreclib"
    assert info["history"] == "oldest 50"
    assert info["cold_readers"] == "dropped where labelled"
    assert info["valid_from"] == "2019-11-13T12:00:00"
    assert info["published"] == "unknown"
    assert info["counts"]["dropped"] == {"impressions of readers without a history (newsreclib)": 2}
    assert info["files"][0] == "MINDsmall_train/news.tsv"
    json.dumps(info, allow_nan=False)


def test_options_of_mind_reach_the_reader(tmp_path: Path) -> None:
    files: dict[str, str | bytes] = {"news.tsv": raw.news("N1", "N2"), "behaviors.tsv": raw.TRAIN}
    source = raw.put(tmp_path / "raw", files)
    with pytest.raises(DataError, match="2 of 4 ids"):
        _run("prepare", "mind", source, "--out", tmp_path / "c", "--max-missing", 0.4)
    _run("prepare", "mind", source, "--out", tmp_path / "c", "--split", "may", "--lang", "nb")
    corpus = Corpus.open(tmp_path / "c")
    assert (corpus.splits, corpus.languages) == (("may",), ("nob",))


def test_articles_prints_what_it_found(tmp_path: Path) -> None:
    raw.put(tmp_path, {"a.csv": ARTICLES, "c.csv": CLICKS})
    out = tmp_path / "own"
    cuts = ("--valid-from", "2026-01-04", "--test-from", "2026-01-04")
    files = (tmp_path / "a.csv", "--clicks", tmp_path / "c.csv")
    said = _run("prepare", "articles", *files, "--out", out, *cuts)
    lines = said.splitlines()
    assert lines[0] == "own: 2 news, 1 readers"
    assert [line.split()[0] for line in lines[2:4]] == ["deu", "cmn"]
    assert re.match(r"  train +1 \(0\), 1 candidates, 1 clicks, 1 readers, 2026-01-03", lines[5])
    assert re.match(r"  test +1 \(1\), 1 candidates, 1 clicks", lines[6])
    assert Corpus.open(out).info["test_from"] == "2026-01-04T00:00:00"


def test_a_damaged_corpus_names_the_command_that_makes_it_again(tmp_path: Path) -> None:
    source = raw.mind(tmp_path / "raw")
    done = _command("prepare", "mind", source, "--out", tmp_path / "c")
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    (tmp_path / "c" / "users.npy").write_bytes(b"")
    with pytest.raises(NewsrecError, match=f"newsrec prepare mind {source} --out {tmp_path / 'c'}"):
        Corpus.open(tmp_path / "c")


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["mind", "{}/nowhere", "--out", "{}/c"], 3, "nowhere: no such file or folder"),
        (["mind", "{}/raw", "--out", "{}/c", "--protocol", "x"], 2, "unknown protocol 'x'"),
        (["mind", "{}/raw", "--out", "{}/c", "--valid-from", "soon"], 2, "--valid-from 'soon'"),
        (["mind", "{}/raw", "--out", "{}/c", "--lang", "xx"], 2, "--lang: unknown language 'xx'"),
        (["mind", "{}/raw", "--out", "{}/raw"], 3, "not a newsrec corpus"),
        (["mind", "{}/raw", "--out", "{}/a.csv/c"], 3, "a.csv is a file, expected a folder"),
        (["articles", "{}/raw", "--out", "{}/c"], 3, "raw: a folder, expected a file"),
        (["mind", "{}/raw"], 2, "--out"),
        (["articles", "{}/a.csv", "--clicks", "{}/raw/x.csv", "--out", "{}/c"], 3, "no such file"),
        (["articles", "{}/a.csv", "--clicks", "{}/a.csv", "--out", "{}/c"], 3, "no column 'user'"),
    ],
)
def test_bad_use_is_one_line_and_its_exit_code(
    tmp_path: Path, arguments: list[str], code: int, message: str
) -> None:
    raw.put(raw.mind(tmp_path / "raw").parent, {"a.csv": ARTICLES})
    done = _command("prepare", *(argument.replace("{}", str(tmp_path)) for argument in arguments))
    assert done.returncode == code
    assert message in done.stderr
    assert "Traceback" not in done.stderr
    assert done.stdout == ""
    assert not (tmp_path / "c").exists()


@pytest.mark.parametrize("command", ["mind", "articles"])
def test_help_names_every_option(command: str) -> None:
    said = re.sub(r"\x1b\[[0-9;]*m", "", _run("prepare", command, "--help"))
    for option in ("--out", "--max-missing", "--valid-from", "--keep-first"):
        assert option in said


def test_a_kill_leaves_the_old_corpus(tmp_path: Path) -> None:
    """SIGKILL in the middle of writing: what was there opens and is unchanged."""
    source = raw.mind(tmp_path / "raw")
    _run("prepare", "mind", source, "--out", tmp_path / "c")
    before = Corpus.open(tmp_path / "c").fingerprint
    code = (
        "import os, sys; import newsrec.corpus.folder as f; from newsrec.cli.app import main;"
        "f.write_split = lambda *a: os.kill(os.getpid(), 9);"
        "sys.argv = ['newsrec', 'prepare', 'mind', *sys.argv[1:]]; main()"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, str(source), "--out", str(tmp_path / "c")],
        capture_output=True, check=False, cwd=Path(__file__).resolve().parents[2],
    )  # fmt: skip
    assert done.returncode == -9
    corpus = Corpus.open(tmp_path / "c")
    assert corpus.fingerprint == before
    corpus.verify()
