"""`newsrec cluster`, as it is called."""

from __future__ import annotations

import csv
import json
import os
import re
import shlex
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from newsrec.cluster import load_clusters, save_clusters
from newsrec.corpus.sample import open_sample

NEWSREC = str(Path(sys.executable).with_name("newsrec"))


def run(*arguments: object) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [NEWSREC, *map(str, arguments)], capture_output=True, text=True, check=False,
        env={**os.environ, "COLUMNS": "110"},
    )  # fmt: skip


def own_corpus(folder: Path, articles: int, **others: int) -> Path:
    """The first English articles of the sample, as a newsroom would bring them; the next ``jpn=8``
    are Japanese."""
    sample = open_sample()
    news = sample.news
    languages = ["eng"] * articles
    for language, n in others.items():
        languages += [language] * n
    with (folder / "articles.csv").open("w", newline="", encoding="utf-8") as file:
        rows = csv.writer(file)
        rows.writerow(["id", "language", "title", "abstract", "published"])
        for row, language in enumerate(languages):
            texts, when = sample.texts(language), str(news.published[row])
            rows.writerow([news.ids[row], language, texts.title[row], texts.abstract[row], when])
    ids = [str(name) for name in news.ids[:articles]]
    clicks = [("u1", ids[0], "2026-03-01T08:00:00"), ("u2", ids[1], "2026-03-02T08:00:00")]
    with (folder / "clicks.csv").open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([("user", "article", "time"), *clicks])
    out = folder / f"corpus{len(languages)}"
    done = run("prepare", "articles", folder / "articles.csv", "--clicks", folder / "clicks.csv",
               "--out", out)  # fmt: skip
    assert done.returncode == 0, done.stderr
    return out


def test_build_keeps_nested_clusters_of_every_article(tmp_path: Path) -> None:
    path = tmp_path / "c.npz"
    done = run("cluster", "build", "--out", path)
    assert done.returncode == 0, done.stderr
    assert "72 articles" in done.stdout
    shelf = load_clusters(path)
    assert shelf.levels == ("theme", "topic", "story")
    assert shelf.articles.tolist() == open_sample().news.ids.tolist()
    assert np.all(shelf.tree.labels >= 0)
    assert shelf.made["encoder"]["name"] == "mini"
    for name, k in zip(shelf.levels, shelf.tree.n_clusters, strict=True):
        line = next(line for line in done.stdout.splitlines() if line.startswith(name))
        assert str(k) in line.split()


def test_build_takes_languages_levels_and_thresholds(tmp_path: Path) -> None:
    path = tmp_path / "c.npz"
    done = run("cluster", "build", "--lang", "fi,eng", "--thresholds", "0.2,0.5",
               "--dims", "64,256", "--linkage", "centroid", "--direction", "merge",
               "--out", path)  # fmt: skip
    assert done.returncode == 0, done.stderr
    shelf = load_clusters(path)
    assert shelf.levels == ("topic", "story")
    assert (shelf.tree.dims, shelf.tree.thresholds) == ((64, 256), (0.2, 0.5))
    assert shelf.made["languages"] == ["fin", "eng"]
    assert shelf.made["direction"] == "merge"


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (["build", "--dims", "3,4,5"], 2, "no level of 3 dimensions; it has 64, 128, 256"),
        (["build", "--thresholds", "0.5,0.4,0.6"], 2, "fall from one level to the next"),
        (["build", "--thresholds", "much"], 2, "--thresholds: 'much'"),
        (["build", "--thresholds", "2"], 2, "expected a cosine"),
        (["build", "--lang", "deu"], 2, "deu"),
        (["build", "--linkage", "ward"], 2, "average, centroid"),
        (["build", "--direction", "up"], 2, "merge, refine"),
        (["build", "--corpus", "nowhere"], 3, "nowhere"),
        (["build", "--out", "."], 3, "--out: . is a folder, expected a file"),
        (["update", "--clusters", "none.npz"], 3, "no such file"),
        (["tune"], 2, "either --pairs FILE"),
        (["tune", "--pairs", "none.tsv"], 3, "none.tsv"),
        (["tune", "--stories", "--dims", "7"], 2, "no level of 7"),
    ],
)
def test_what_cannot_be_done_is_said_in_one_line(
    arguments: list[str], code: int, said: str
) -> None:
    done = run("cluster", *arguments)
    assert done.returncode == code, done.stderr
    assert said in done.stderr
    assert done.stderr.count("\n") == 1
    assert not done.stdout


def test_clusters_are_not_written_over_something_else(tmp_path: Path) -> None:
    table = tmp_path / "one.csv"
    table.write_text("id,title\n1,Ferry\n")
    for arguments in (["build", "--out", table], ["update", "--clusters", table]):
        done = run("cluster", *arguments)
        assert done.returncode == 3
        assert f"{arguments[1]}: {table} holds no clusters and is not written over" in done.stderr
        assert table.read_text() == "id,title\n1,Ferry\n"


@pytest.mark.parametrize("command", ["build", "update", "tune", "show"])
def test_every_command_has_help(command: str) -> None:
    done = run("cluster", command, "--help")
    assert done.returncode == 0
    assert "--encoder" in done.stdout


def test_update_carries_numbers_over_and_says_what_became_of_them(tmp_path: Path) -> None:
    path = tmp_path / "c.npz"
    first, second = own_corpus(tmp_path, 40), own_corpus(tmp_path, 72)
    assert run("cluster", "build", "--corpus", first, "--out", path).returncode == 0
    old = load_clusters(path)
    for extra in ([], ["--rebuild"]):
        out, said = tmp_path / "new.npz", tmp_path / "changes.json"
        done = run("cluster", "update", "--clusters", path, "--corpus", second, "--out", out,
                   "--json", said, *extra)  # fmt: skip
        assert done.returncode == 0, done.stderr
        new, changes = load_clusters(out), json.loads(said.read_text("utf-8"))
        assert len(new.articles) == 72
        assert list(changes) == ["theme", "topic", "story"]
        for level, name in enumerate(new.levels):
            found = changes[name]
            assert found["ids"] == new.numbers[level].tolist()
            assert set(found["births"]) <= set(found["ids"])
            assert min(found["births"], default=10**6) >= old.free[level]
        assert "born" in done.stdout
    assert load_clusters(path).articles.tolist() == old.articles.tolist()


def test_update_looks_at_a_language_that_is_new_unless_languages_were_chosen(
    tmp_path: Path,
) -> None:
    path, out = tmp_path / "c.npz", tmp_path / "new.npz"
    first = own_corpus(tmp_path, 40, fin=10)
    second = own_corpus(tmp_path, 40, fin=10, jpn=12)
    asked: list[tuple[list[str], str]] = [
        ([], "62 articles\n"),
        (["--lang", "eng,fin"], "50 articles, 12 without text in eng, fin\n"),
    ]
    for chosen, said in asked:
        done = run("cluster", "build", "--corpus", first, *chosen, "--out", path)
        assert done.returncode == 0, done.stderr
        for extra in ([], ["--rebuild"]):
            done = run("cluster", "update", "--clusters", path, "--corpus", second, "--out", out,
                       *extra)  # fmt: skip
            assert done.returncode == 0, done.stderr
            assert said in done.stdout


def test_update_refuses_a_corpus_without_a_language_of_the_clusters(tmp_path: Path) -> None:
    path = tmp_path / "c.npz"
    assert run("cluster", "build", "--lang", "fin", "--out", path).returncode == 0
    done = run("cluster", "update", "--clusters", path, "--corpus", own_corpus(tmp_path, 40))
    assert done.returncode == 3
    assert "made of texts in fin, corpus 'corpus40' has only eng" in done.stderr


def test_update_refuses_another_encoder(tmp_path: Path) -> None:
    path = tmp_path / "c.npz"
    assert run("cluster", "build", "--out", path).returncode == 0
    shelf = load_clusters(path)
    other = {**shelf.made, "encoder": {"name": "nase", "revision": "abc"}}
    save_clusters(path, replace(shelf, made=other))
    done = run("cluster", "update", "--clusters", path)
    assert done.returncode == 2
    assert "made with nase abc" in done.stderr


def test_tune_by_the_corpus_draws_a_curve_and_says_how_to_go_on(tmp_path: Path) -> None:
    done = run("cluster", "tune", "--stories", "--out", tmp_path / "tuned")
    assert done.returncode == 0, done.stderr
    rows = json.loads((tmp_path / "tuned" / "curves.json").read_text("utf-8"))
    assert [row["level"] for row in rows] == ["theme", "topic", "story"]
    assert all(0 < row["f1"] <= 1 for row in rows)
    assert (tmp_path / "tuned" / "curves.png").read_bytes().startswith(b"\x89PNG")
    command = done.stdout.splitlines()[-1].split()
    again = run(*command[1:], "--out", tmp_path / "c.npz")
    assert again.returncode == 0, again.stderr
    assert load_clusters(tmp_path / "c.npz").tree.thresholds == tuple(
        round(row["threshold"], 2) for row in rows
    )


def test_tune_ends_in_a_command_for_the_same_corpus_and_cut(tmp_path: Path) -> None:
    folder = tmp_path / "my corpora"
    folder.mkdir()
    corpus, pairs = own_corpus(folder, 20, fin=10), tmp_path / "pairs.tsv"
    ids = open_sample().news.ids
    lines = [f"{ids[a]}\t{ids[a + 1]}\t{a % 2}" for a in range(29)]
    pairs.write_text("\n".join(["id1\tid2\tsame", *lines]), encoding="utf-8")
    done = run("cluster", "tune", "--pairs", pairs, "--corpus", corpus, "--lang", "fi,eng",
               "--dims", "64,256", "--linkage", "centroid")  # fmt: skip
    assert done.returncode == 0, done.stderr
    again = run(*shlex.split(done.stdout.splitlines()[-1])[1:], "--out", tmp_path / "c.npz")
    assert again.returncode == 0, again.stderr
    shelf = load_clusters(tmp_path / "c.npz")
    assert shelf.tree.dims == (64, 256)
    made = {key: shelf.made[key] for key in ("corpus_name", "languages", "linkage")}
    assert made == {
        "corpus_name": corpus.name, "languages": ["fin", "eng"], "linkage": "centroid"
    }  # fmt: skip


def test_tune_by_judged_articles_of_the_corpus(tmp_path: Path) -> None:
    news = open_sample().news
    rng = np.random.default_rng(0)
    lines = ["id1\tid2\tsame"]
    for a, b in rng.choice(72, (400, 2)):
        lines.append(f"{news.ids[a]}\t{news.ids[b]}\t{int(news.category[a] == news.category[b])}")
    pairs = tmp_path / "pairs.tsv"
    pairs.write_text("\n".join(lines), encoding="utf-8")
    done = run("cluster", "tune", "--pairs", pairs, "--dims", "256")
    assert done.returncode == 0, done.stderr
    assert "story" in done.stdout
    pairs.write_text("id1\tid2\tsame\nnobody\tN01\t1\n", encoding="utf-8")
    done = run("cluster", "tune", "--pairs", pairs, "--dims", "256")
    assert done.returncode == 3
    assert "'nobody'" in done.stderr


def test_the_same_build_is_found_again_by_the_next_command(tmp_path: Path) -> None:
    assert run("cluster", "build").returncode == 0
    kept = list((Path(os.environ["NEWSREC_DATA"]) / "clusters").glob("*.npz"))
    assert len(kept) == 1
    written = kept[0].stat().st_mtime_ns
    done = run("recommend", "--user", "U123", "--lang", "fin", "--max-per-topic", "1")
    assert done.returncode == 0, done.stderr
    assert kept[0].stat().st_mtime_ns == written
    assert list((Path(os.environ["NEWSREC_DATA"]) / "clusters").glob("*.npz")) == kept


def test_kept_clusters_that_are_damaged_are_made_again_and_others_not_taken_for_them() -> None:
    assert run("cluster", "build").returncode == 0
    (kept,) = (Path(os.environ["NEWSREC_DATA"]) / "clusters").glob("*.npz")
    whole = load_clusters(kept)
    kept.write_bytes(b"")
    done = run("cluster", "show")
    assert done.returncode == 0, done.stderr
    assert load_clusters(kept).tree.n_clusters == whole.tree.n_clusters
    save_clusters(kept, replace(whole, made={**whole.made, "corpus": "0", "corpus_name": "evil"}))
    other = kept.read_bytes()
    done = run("cluster", "show")
    assert done.returncode == 3
    assert "other clusters (of corpus 'evil'; corpus, corpus_name differ)" in done.stderr
    assert "move the file away or delete it" in done.stderr
    assert kept.read_bytes() == other


def test_show_prints_names_of_every_level() -> None:
    done = run("cluster", "show", "--lang", "fin", "--top", "3")
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert re.fullmatch(r"\d+ themes › \d+ topics › \d+ stories, 72 articles", lines[0])
    assert lines[1][0].isalpha()
    assert lines[2].startswith("  ")
    assert lines[3].startswith("    ")
    titles = set(open_sample().texts("fin").title)
    stories = [line.strip().rsplit(" (", 1)[0] for line in lines if line.startswith("    ")]
    assert stories
    assert all(story in titles or story.startswith("and ") for story in stories)


def test_show_writes_a_page_and_figures(tmp_path: Path) -> None:
    page, figures = tmp_path / "out.html", tmp_path / "figures"
    done = run("cluster", "show", "--lang", "eng", "--html", page, "--png", figures)
    assert done.returncode == 0, done.stderr
    html = page.read_text("utf-8")
    texts = open_sample().texts("eng")
    assert sum(json.dumps(title)[1:-1] in html for title in texts.title) > 60
    data = re.search(r'<script[^>]*type="application/json"[^>]*>(.*?)</script>', html, re.S)
    assert data is not None
    json.loads(data[1])
    for name in ("hierarchy", "stories_over_time", "languages"):
        assert (figures / f"{name}.png").read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (["--lang", "xx9"], 2, "unknown language"),
        (["--summarizer", "oracle", "--html", "x.html"], 2, "oracle"),
        (["--top", "0"], 2, "--top"),
        (["--clusters", "none.npz"], 3, "no such file"),
    ],
)
def test_show_refuses_what_it_cannot_do(arguments: list[str], code: int, said: str) -> None:
    done = run("cluster", "show", *arguments)
    assert done.returncode == code, done.stderr
    assert said in done.stderr
    assert not Path("x.html").exists()


def test_an_endpoint_that_is_not_there_costs_the_summaries_only(tmp_path: Path) -> None:
    page = tmp_path / "out.html"
    done = run("cluster", "show", "--html", page, "--summarizer", "http://127.0.0.1:9/v1#m",
               "--summaries", "5")  # fmt: skip
    assert done.returncode == 3, done.stderr
    assert "127.0.0.1:9" in done.stderr
    assert "3 without a summary" in done.stderr
    assert done.stderr.count("\n") == 1
    assert page.exists()


def test_update_writes_its_changes_neither_over_clusters_nor_into_a_folder(
    tmp_path: Path,
) -> None:
    path, link, other = tmp_path / "c.npz", tmp_path / "link.json", tmp_path / "new.npz"
    assert run("cluster", "build", "--out", path).returncode == 0
    link.symlink_to(path)
    before = path.read_bytes()
    for arguments, code, said in (
        (["--json", path], 2, f"--json: {path} is the file of the clusters"),
        (["--json", link], 2, f"--json: {link} is the file of the clusters"),
        (["--out", other, "--json", path], 2, f"--json: {path} is the file of the clusters"),
        (["--out", other, "--json", other], 2, f"--json: {other} is the file of the clusters"),
        (["--json", tmp_path], 3, f"--json: {tmp_path} is a folder, expected a file"),
    ):
        done = run("cluster", "update", "--clusters", path, *arguments)
        assert done.returncode == code, done.stderr
        assert said in done.stderr
        assert not done.stdout
        assert path.read_bytes() == before
        assert not other.exists()


def test_update_refuses_a_corpus_that_the_clusters_know_nothing_of(tmp_path: Path) -> None:
    path = tmp_path / "c.npz"
    assert run("cluster", "build", "--out", path).returncode == 0
    shelf = load_clusters(path)
    names = np.array([f"X{i}" for i in range(len(shelf.articles))])
    save_clusters(path, replace(shelf, articles=names))
    before = path.read_bytes()
    done = run("cluster", "update", "--clusters", path)
    assert done.returncode == 3
    assert "none of its 72 articles" in done.stderr
    assert path.read_bytes() == before


def test_places_that_cannot_be_written_are_told_before_anything_slow(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    for option, place in (("--html", tmp_path), ("--png", tmp_path / "file")):
        done = run("cluster", "show", option, place)
        assert done.returncode == 3
        assert option in done.stderr


def test_a_shelf_of_one_text_is_one_story(tmp_path: Path) -> None:
    with (tmp_path / "articles.csv").open("w", newline="", encoding="utf-8") as file:
        rows = csv.writer(file)
        rows.writerow(["id", "language", "title", "abstract"])
        rows.writerows([f"A{i}", "eng", "Ferry runs again", "It left on time."] for i in range(30))
        rows.writerow(["A30", "eng", "", "…"])
    (tmp_path / "clicks.csv").write_text("user,article,time\nu,A0,2026-03-01T08:00:00\n")
    done = run("prepare", "articles", tmp_path / "articles.csv", "--clicks",
               tmp_path / "clicks.csv", "--out", tmp_path / "corpus")  # fmt: skip
    assert done.returncode == 0, done.stderr
    done = run("cluster", "build", "--corpus", tmp_path / "corpus", "--out", tmp_path / "c.npz")
    assert done.returncode == 0, done.stderr
    assert "30 articles, 1 without text" in done.stdout
    tree = load_clusters(tmp_path / "c.npz").tree
    assert (tree.labels[:, :30] == 0).all()
