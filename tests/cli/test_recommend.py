"""`newsrec recommend` end to end, on the bundled sample."""

from __future__ import annotations

import csv
import io
import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from newsrec.cli.page import table
from newsrec.cluster.shelf import ClusteredShelf
from newsrec.cluster.store import save_clusters
from newsrec.corpus.sample import LANGUAGES, open_sample
from newsrec.pipeline.page import Because, Item, Recommendations
from newsrec.types import Texts
from newsrec.types.clusters import ClusterTree

NEWSREC = str(Path(sys.executable).with_name("newsrec"))


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [NEWSREC, "recommend", *arguments], capture_output=True, text=True, check=False
    )


def page(*arguments: str) -> dict[str, Any]:
    done = run(*arguments, "--format", "json")
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def texts(language: str) -> Texts:
    return open_sample().texts(language)


def test_the_sentence_to_remember() -> None:
    done = run("--user", "U123", "--lang", "fin")
    assert done.returncode == 0, done.stderr
    assert "U123" in done.stdout
    assert "because you read" in done.stdout


def test_json_has_the_promised_shape() -> None:
    found = page("--user", "U123", "--lang", "fin")
    assert list(found) == ["user", "language", "fallback", "items"]
    assert (found["user"], found["language"], found["fallback"]) == ("U123", "fin", None)
    assert len(found["items"]) == 10
    for rank, item in enumerate(found["items"], 1):
        assert list(item) == ["rank", "id", "language", "title", "score", "because"]
        assert list(item["because"]) == ["id", "language", "title", "share"]
        assert (item["rank"], item["language"]) == (rank, "fin")
        assert 0 < item["because"]["share"] <= 1
    scores = [item["score"] for item in found["items"]]
    assert scores == sorted(scores, reverse=True)


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_language_has_a_front_page(language: str) -> None:
    found = page("--user", "U123", "--lang", language, "--k", "3")
    shelf = texts(language)
    titles = {shelf.title[row] for row in shelf.rows}
    assert len(found["items"]) == 3
    assert all(item["title"] in titles for item in found["items"])


def test_what_was_read_is_not_recommended_and_a_story_comes_once() -> None:
    from newsrec.corpus.readers import reading

    corpus = open_sample()
    found = page("--user", "U123", "--lang", "fin", "--k", "72")
    rows = corpus.news.rows([item["id"] for item in found["items"]])
    stories = corpus.news.story[rows].tolist()
    assert len(set(stories)) == len(stories)
    read = reading(corpus, "U123", corpus.news.published.max() + 10**7)
    assert read is not None
    assert not set(corpus.news.story[read.rows].tolist()) & set(stories)


def test_reasons_are_in_the_language_they_were_read_in() -> None:
    found = page("--user", "U123", "--lang", "fin")
    spoken = {item["because"]["language"] for item in found["items"]}
    assert spoken <= {"ron", "tur"}
    for item in found["items"]:
        because = item["because"]
        shelf = texts(because["language"])
        row = open_sample().news.rows([because["id"]])[0]
        assert because["title"] == shelf.title[row]
    forced = page("--user", "U123", "--lang", "fin", "--history-lang", "jpn")
    assert {item["because"]["language"] for item in forced["items"]} == {"jpn"}


def test_mixed_shelves_show_an_article_once_and_more_than_one_language() -> None:
    found = page("--user", "U123", "--lang", "fin,eng", "--k", "20")
    ids = [item["id"] for item in found["items"]]
    assert found["language"] == "fin,eng"
    assert len(set(ids)) == len(ids)
    assert {item["language"] for item in found["items"]} == {"fin", "eng"}


def test_clusters_that_nothing_asks_for_are_said_and_must_be_there(tmp_path: Path) -> None:
    words = ("--user", "U123", "--lang", "eng", "--clusters")
    done = run(*words, str(tmp_path / "none_such.npz"))
    assert (done.returncode, done.stdout) == (3, "")
    assert "none_such.npz" in done.stderr
    shelf = ClusteredShelf.new(
        ClusterTree(np.zeros((1, 1), np.int32), (1,), (0.5,)), np.array(["N1"]), {}
    )
    save_clusters(tmp_path / "some.npz", shelf)
    done = run(*words, str(tmp_path / "some.npz"))
    assert done.returncode == 0, done.stderr
    assert "some.npz is not used" in done.stderr


def test_an_unknown_reader_gets_the_fallback_and_a_note() -> None:
    done = run("--user", "nobody", "--lang", "fin", "--format", "json")
    assert done.returncode == 0
    assert "nobody" in done.stderr
    found = json.loads(done.stdout)
    assert found["fallback"]
    assert len(found["items"]) == 10
    assert all(item["because"] is None for item in found["items"])
    news = open_sample().news
    categories = news.category[news.rows([item["id"] for item in found["items"]])]
    assert len(set(categories.tolist())) == 6


def test_a_fallback_from_several_shelves_takes_them_by_turns() -> None:
    done = run("--user", "nobody", "--lang", "grn,tha,eng", "--k", "9", "--format", "json")
    assert done.returncode == 0
    spoken = [item["language"] for item in json.loads(done.stdout)["items"]]
    assert min(spoken.count(code) for code in ("grn", "tha", "eng")) >= 2
    assert "languages by turns; exposure: " in done.stderr


def test_as_of_and_max_age_bound_the_shelf() -> None:
    found = page(
        "--user", "U123", "--lang", "fin", "--as-of", "2026-03-12T00:00:00", "--max-age", "3d",
        "--k", "72",
    )  # fmt: skip
    news = open_sample().news
    published = news.published[news.rows([item["id"] for item in found["items"]])]
    assert len(published)
    assert str(published.max()) <= "2026-03-12T00:00:00"
    assert str(published.min()) >= "2026-03-09T00:00:00"


def test_before_the_first_click_the_reader_has_no_history() -> None:
    found = page("--user", "U123", "--lang", "fin", "--as-of", "2026-03-03T12:00:00")
    assert found["fallback"]


def test_csv_has_a_header_and_a_line_an_item() -> None:
    done = run("--user", "U123", "--lang", "jpn", "--format", "csv", "--k", "4")
    rows = list(csv.DictReader(io.StringIO(done.stdout)))
    assert [row["rank"] for row in rows] == ["1", "2", "3", "4"]
    assert all(row["because_title"] for row in rows)


def test_the_second_run_gives_the_same_page() -> None:
    assert page("--user", "U123", "--lang", "tam") == page("--user", "U123", "--lang", "tam")


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (["--lang", "fin"], 2, "--user"),
        (["--user", "U123", "--lang", "finn"], 2, "nearest known: fin"),
        (["--user", "U123", "--lang", "deu"], 2, "deu"),
        (["--user", "U123", "--lang", "fin", "--k", "0"], 2, "k"),
        (["--user", "U123", "--lang", "fin", "--as-of", "yesterday"], 2, "yesterday"),
        (["--user", "U123", "--lang", "fin", "--as-of", "9999-12-31T23:59:59-14:00"], 2, "9999"),
        (["--user", "U123", "--lang", "fin", "--max-age", "soon"], 2, "soon"),
        (["--user", "U123", "--lang", "fin", "--corpus", "nowhere"], 3, "nowhere"),
        (["--user", "U123", "--lang", "fin", "--format", "xml"], 2, "xml"),
        (["--user", "U123", "--lang", ","], 2, "lang"),
    ],
)
def test_bad_input_is_one_clear_line(arguments: list[str], code: int, said: str) -> None:
    done = run(*arguments)
    assert done.returncode == code, done.stderr
    assert said in done.stderr
    assert "Traceback" not in done.stderr
    assert done.stdout == ""


def test_a_language_of_a_few_articles_does_not_win_a_mixed_shelf(tmp_path: Path) -> None:
    """Seven articles are too few for a mean of their own; they take that of all shelves."""
    from dataclasses import replace as changed

    import numpy as np

    from newsrec.pipeline.vectors import Vectors

    corpus = open_sample()
    fin = corpus.texts("fin")
    few = np.zeros(len(fin), bool)
    few[:7] = True

    class Few:
        """The sample with seven Finnish articles."""

        news, fingerprint = corpus.news, "few"

        def texts(self, language: str) -> Texts:
            return changed(fin, present=few) if language == "fin" else corpus.texts(language)

    alone = Vectors(Few(), "mini", centre="language").side("fin")  # type: ignore[arg-type]
    mixed = Vectors(Few(), "mini", centre="language", shelves=("eng", "fin"))  # type: ignore[arg-type]
    assert alone.mean is None
    assert mixed.side("fin").mean is not None


def test_control_characters_never_reach_the_terminal() -> None:
    done = run("--user", "\x1b[31mX\x1b]0;pwn\x07", "--lang", "fin")
    assert done.returncode == 0
    assert "\x1b" not in done.stdout
    assert "\x07" not in done.stdout


def test_a_title_without_end_is_cut_in_the_table_and_nowhere_else() -> None:
    long = "x" * 200_000
    because = Because("N2", "eng", long, 0.5)
    item = Item(1, "N1", "eng", long, 0.1, because, {"theme": long, "topic": long})
    found = Recommendations("U1", "eng", None, (item,))
    shown = table(found)
    assert shown.count("x") < 4 * 200
    assert shown.count("…") == 4
    assert found.to_dict()["items"][0]["title"] == long


@pytest.mark.parametrize("form", ["table", "json", "csv"])
def test_files_and_programs_get_utf8_whatever_the_locale_says(form: str) -> None:
    words = ["recommend", "--user", "U123", "--lang", "jpn", "--format", form]
    found = []
    for encoding in ("utf-8", "latin-1"):
        environment = {**os.environ, "PYTHONIOENCODING": encoding, "COLUMNS": "110"}
        done = subprocess.run([NEWSREC, *words], capture_output=True, env=environment, check=False)
        assert (done.returncode, done.stderr) == (0, b"")
        found.append(done.stdout.decode("utf-8"))
    assert found[0] == found[1]


@pytest.mark.skipif(sys.platform == "win32", reason="needs a pseudo-terminal")
def test_a_terminal_of_another_encoding_gets_escapes() -> None:
    import pty

    main, terminal = pty.openpty()
    words = ["--user", "U123", "--lang", "jpn", "--format", "csv", "--k", "1"]
    environment = {**os.environ, "PYTHONIOENCODING": "latin-1"}
    done = subprocess.run(
        [NEWSREC, "recommend", *words], stdout=terminal, stderr=subprocess.PIPE, env=environment,
        check=False,
    )  # fmt: skip
    os.close(terminal)
    shown = os.read(main, 1 << 16)
    os.close(main)
    assert (done.returncode, done.stderr) == (0, b"")
    assert b"\\u" in shown


def test_a_reader_whose_name_is_no_text_is_shown_escaped() -> None:
    words = [NEWSREC, "recommend", "--user", b"\xff", "--lang", "fin", "--format", "json"]
    done = subprocess.run(words, capture_output=True, check=False)
    assert done.returncode == 0, done.stderr
    assert b"\\udcff" in done.stdout


def test_a_folder_that_cannot_be_written_is_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NEWSREC_DATA", "/dev/null/data")
    done = run("--user", "U123", "--lang", "fin")
    assert done.returncode == 3
    assert done.stderr.count("\n") == 1
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("form", ["csv", "json", "table"])
def test_an_empty_list_is_said(form: str) -> None:
    done = run(
        "--user", "U123", "--lang", "fin", "--as-of", "2026-03-20", "--max-age", "1m", "--format",
        form,
    )  # fmt: skip
    assert done.returncode == 0
    said = done.stdout if form == "table" else done.stderr
    assert "no article to recommend" in said


def test_a_mixed_shelf_says_what_was_removed_and_who_was_shown() -> None:
    done = run("--user", "U123", "--lang", "fin,eng")
    assert "mean removed: language; exposure:" in done.stderr


def test_help_names_every_option() -> None:
    done = run("--help")
    assert done.returncode == 0
    for option in ("--user", "--lang", "--corpus", "--encoder", "--k", "--history-lang",
                   "--as-of", "--max-age", "--format"):  # fmt: skip
        assert option in done.stdout
    assert "{theme: -0.3}" in " ".join(re.sub("[│ \n]+", " ", done.stdout).split())


@pytest.mark.skipif(sys.platform == "win32", reason="needs a shell that closes stderr")
def test_a_closed_stderr_costs_nothing() -> None:
    words = [NEWSREC, "recommend", "--user", "nobody", "--lang", "fin", "--format", "json"]
    done = subprocess.run(
        ["sh", "-c", 'exec "$@" 2>&-', "sh", *words], stdout=subprocess.PIPE, check=True
    )
    assert json.loads(done.stdout)["items"]
