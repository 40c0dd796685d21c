"""`newsrec evaluate` from the command line, on a small corpus and on the bundled sample."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import typer
from typer.testing import CliRunner, Result

from newsrec.cli.evaluate import evaluate
from newsrec.corpus import Corpus
from newsrec.errors import ConfigError, DataError, NewsrecError
from tests.evaluate.shelves import write
from tests.track.recorded import status_in_time

REPOSITORY = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Corpus:
    return write(tmp_path_factory.mktemp("corpus") / "shelves")


def _call(*words: str) -> Result:
    app = typer.Typer(rich_markup_mode=None, pretty_exceptions_enable=False)
    app.command()(evaluate)
    return CliRunner().invoke(app, list(words))


def _well(*words: str) -> str:
    done = _call(*words)
    if done.exception is not None:
        raise done.exception
    assert done.exit_code == 0, done.output
    return done.output


def _error(*words: str) -> NewsrecError:
    done = _call(*words)
    assert isinstance(done.exception, NewsrecError), done.output
    return done.exception


def _process(*words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "newsrec", "evaluate", *words],
        capture_output=True, text=True, cwd=REPOSITORY, timeout=300, check=False,
    )  # fmt: skip


def test_several_systems_and_languages_in_one_table(corpus: Corpus, tmp_path: Path) -> None:
    shown = _well(
        "--corpus", str(corpus.folder), "--ranker", "tfidf,popularity,random", "--langs",
        "eng,FI,jpn", "--no-track", "--out", str(tmp_path / "out"),
        "--json", str(tmp_path / "found.json"),
    )  # fmt: skip
    for word in (
        "ENG", "AVG", "Δ%", "worst", "Recommendation across languages", "By language",
        "Languages against English", "Systems against the first", "equal scores keep",
        "cold (no history)", "candidates without text", f"report: {tmp_path}",
    ):  # fmt: skip
        assert word in shown, word
    said = json.loads((tmp_path / "found.json").read_text())
    assert set(said) == {"results", "tests", "provenance"}
    rows = {(row["language"], row["ranker"]) for row in said["results"]}
    assert rows == {
        (c, r) for c in ("eng", "fin", "jpn") for r in ("tfidf", "popularity", "random")
    }
    assert said["results"][0]["metrics"]["ndcg@10"]["n"] > 100
    assert (tmp_path / "out" / "report.md").is_file()
    assert (tmp_path / "out" / "figures" / "languages_ndcg_at_10.png").is_file()


def test_rerankers_are_systems_beside_their_rankers(corpus: Corpus, tmp_path: Path) -> None:
    out = tmp_path / "out"
    shown = _well(
        "--corpus", str(corpus.folder), "--langs", "eng,fin,eng+fin", "--no-track", "--out",
        str(out), "--ranker", "fusion,popularity", "--diversity", "0.4", "--rerank",
        "none,mmr,xquad:aspect=topic:relevance_weight=0.2,quota:at_most={theme:2}",
    )  # fmt: skip
    assert "Re-ranked lists against the ranker's own order (paired)" in shown
    said = json.loads((out / "report.json").read_text())
    systems = {(row["encoder"], row["ranker"]) for row in said["results"]}
    ends = ["", "+mmr:relevance_weight=0.6", "+xquad:aspect=topic:relevance_weight=0.2",
            '+quota:at_most={"theme": 2}:relevance_weight=0.6']  # fmt: skip
    assert systems == {("mini", f"fusion{end}") for end in ends} | {
        ("mini" if "mmr" in end else "none", f"popularity{end}") for end in ends
    }
    assert len(said["results"]) == 3 * 8
    first = said["results"][0]["metrics"]
    assert {"theme_coverage@10", "topic_calibration_kl@10", "story_jaccard@10"} - set(first) == {
        "story_jaccard@10"
    }
    tests = [test for test in said["tests"] if test["kind"] == "own order"]
    pairs = {(test["ranker"], test["against"]["ranker"]) for test in tests}
    assert pairs == {(f"{r}{end}", r) for r in ("fusion", "popularity") for end in ends[1:]}
    assert "topic_coverage@10" in {test["metric"] for test in tests}
    assert said["provenance"]["clusters"]["corpus"] == corpus.fingerprint
    assert set(said["provenance"]["clusters"]["clusters"]) == {"theme", "topic", "story"}
    names = {path.name for path in (out / "impressions").iterdir()}
    assert "fin_mini_fusion_mmr_relevance_weight_0.6_42.parquet" in names
    assert len(names) == 24
    assert "auc_pooled: a re-ranked list has places" in (out / "report.md").read_text()


def test_full_relevance_weight_measures_as_no_reranker_does(corpus: Corpus, tmp_path: Path) -> None:
    _well(
        "--corpus", str(corpus.folder), "--langs", "fin", "--no-track", "--out",
        str(tmp_path / "out"), "--rerank", "none,dpp:relevance_weight=1,calibrated", "--diversity",
        "0", "--seeds", "1,2",
    )  # fmt: skip
    said = json.loads((tmp_path / "out" / "report.json").read_text())
    own, *others = (row["metrics"] for row in said["results"])
    for metrics in others:
        assert metrics == {name: x for name, x in own.items() if name != "auc_pooled"}


def test_a_file_of_clusters_gives_aspects_to_metrics(corpus: Corpus, tmp_path: Path) -> None:
    from newsrec.cluster.shelf import ClusteredShelf
    from newsrec.cluster.store import save_clusters
    from newsrec.types.clusters import ClusterTree

    n = np.arange(len(corpus.news), dtype=np.int32)
    labels = np.stack([n % 4, n % 8, n % 16]).astype(np.int32)
    tree = ClusterTree(labels, (8, 8, 8), (0.1, 0.2, 0.3))
    save_clusters(tmp_path / "mine.npz", ClusteredShelf.new(tree, np.asarray(corpus.news.ids)))
    words = ["--corpus", str(corpus.folder), "--langs", "eng", "--no-track", "--ranker", "random"]
    out = tmp_path / "out"
    _well(*words, "--clusters", str(tmp_path / "mine.npz"), "--out", str(out))
    said = json.loads((out / "report.json").read_text())
    metrics = said["results"][0]["metrics"]
    # The themes of this file are the categories, its topics the subcategories.
    assert metrics["theme_coverage@10"] == metrics["category_coverage@10"]
    assert metrics["topic_coverage@10"] == metrics["subcategory_coverage@10"]
    assert metrics["theme_calibration_js@10"] == metrics["calibration_js@10"]
    assert said["provenance"]["clusters"]["file"] == str(tmp_path / "mine.npz")
    shown = _well(*words, "--out", str(out))
    assert "needs clusters of the articles, which were not given (--clusters)" in shown
    foreign = ClusteredShelf.new(tree, np.asarray([f"X{i}" for i in n]))
    save_clusters(tmp_path / "foreign.npz", foreign)
    error = _error(*words, "--clusters", str(tmp_path / "foreign.npz"))
    assert "which has 0 of the 48 articles of 'shelves'" in str(error)


def test_a_submission_may_be_reranked(corpus: Corpus, tmp_path: Path) -> None:
    words = ["--corpus", str(corpus.folder), "--langs", "fin", "--split", "blind"]
    found = []
    for rerank in ("none", "mmr:relevance_weight=1", "mmr:relevance_weight=0"):
        path = tmp_path / "prediction.zip"
        _well(*words, "--submission", str(path), "--rerank", rerank)
        with zipfile.ZipFile(path) as archive:
            found.append(archive.read("prediction.txt"))
    assert found[0] == found[1] != found[2]
    assert "expected one of each" in str(
        _error(*words, "--submission", str(path), "--rerank", "none,mmr")
    )


def test_the_environment_names_the_corpus_and_the_default_folder(
    corpus: Corpus, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NEWSREC_CORPUS", str(corpus.folder))
    shown = _well("--ranker", "random", "--langs", "jpn", "--no-track", "--metrics", "accuracy")
    folder = Path(shown.strip().splitlines()[-1].removeprefix("report: "))
    assert folder.parent == Path(os.environ["NEWSREC_DATA"]) / "runs"
    assert (folder / "report.json").is_file()


def test_a_run_is_tracked_in_sqlite_by_default(corpus: Corpus, tmp_path: Path) -> None:
    from mlflow import MlflowClient

    _well(
        "--corpus", str(corpus.folder), "--ranker", "random", "--langs", "eng,jpn", "--seeds",
        "1,2", "--metrics", "accuracy", "--out", str(tmp_path / "out"),
    )  # fmt: skip
    client = MlflowClient(f"sqlite:///{os.environ['NEWSREC_DATA']}/runs/mlflow.db")
    experiment = client.get_experiment_by_name("newsrec")
    assert experiment is not None
    runs = client.search_runs([experiment.experiment_id])
    parents = [run for run in runs if "mlflow.parentRunId" not in run.data.tags]
    assert len(parents) == 1
    assert len(runs) == 5
    assert {run.info.status for run in runs} == {"FINISHED"}
    names = {x.path for x in client.list_artifacts(parents[0].info.run_id)}
    assert {"report.md", "report.json", "figures"} <= names


def test_a_server_that_is_not_there_costs_a_warning(corpus: Corpus, tmp_path: Path) -> None:
    done = _call(
        "--corpus", str(corpus.folder), "--ranker", "random", "--langs", "eng", "--out",
        str(tmp_path / "out"), "--tracking-uri", "http://127.0.0.1:9",
    )  # fmt: skip
    assert done.exit_code == 0
    assert done.stderr.count("newsrec: tracking stopped, MLflow at http://127.0.0.1:9") == 1
    assert (tmp_path / "out" / "report.json").is_file()


def test_what_failed_is_told_last_and_the_rest_is_written(corpus: Corpus, tmp_path: Path) -> None:
    done = _call(
        "--corpus", str(corpus.folder), "--ranker", "random", "--langs", "eng,swh", "--no-track",
        "--json", str(tmp_path / "found.json"),
    )  # fmt: skip
    assert isinstance(done.exception, DataError)
    assert str(done.exception) == "swh: corpus 'shelves': no article has text in swh"
    assert "By language" in done.output
    said = json.loads((tmp_path / "found.json").read_text())
    assert [row["language"] for row in said["results"]] == ["eng"]


def test_a_config_file_is_read_and_options_win(corpus: Corpus, tmp_path: Path) -> None:
    path = tmp_path / "mine.yaml"
    path.write_text(f"corpus: {corpus.folder}\nrankers: [random]\nlangs: [fin]\nseeds: [7]\n")
    _well(
        "--config", str(path), "--langs", "jpn", "--no-track", "--protocol", "newsreclib",
        "--json", str(tmp_path / "found.json"),
    )  # fmt: skip
    said = json.loads((tmp_path / "found.json").read_text())
    assert [row["language"] for row in said["results"]] == ["jpn"]
    assert said["provenance"]["seeds"] == [7]
    assert said["provenance"]["protocol"] == "newsreclib"
    assert "auc_torchmetrics" in said["results"][0]["metrics"]


def test_a_submission_needs_no_labels(corpus: Corpus, tmp_path: Path) -> None:
    path = tmp_path / "prediction.zip"
    shown = _well(
        "--corpus", str(corpus.folder), "--ranker", "tfidf", "--langs", "eng", "--split", "blind",
        "--submission", str(path),
    )  # fmt: skip
    assert f"wrote {path}: 12 impressions, 108 candidates" in shown
    with zipfile.ZipFile(path) as archive:
        assert archive.namelist() == ["prediction.txt"]


@pytest.mark.parametrize(
    ("words", "kind", "said"),
    [
        (["--ranker", "fuzion"], ConfigError, "unknown ranker 'fuzion'; known: "),
        (["--ranker", "fusion:history_limit=x"], ConfigError, "'history_limit' is 'x', expected"),
        (["--ranker", "fusion:centre=foo"], ConfigError, "unknown centre 'foo'; known: "),
        (["--ranker", "tfidf:history_limit=-3"], ConfigError, "history_limit: -3, expected"),
        (["--rerank", "mrm"], ConfigError, "unknown re-ranker 'mrm'; known: "),
        (["--rerank", "mmr:weight=1"], ConfigError, "option of re-ranker 'mmr' 'weight'"),
        (["--rerank", "mmr:relevance_weight=3"], ConfigError, "relevance_weight: 3, expected"),
        (["--rerank", "xquad:aspect=mood"], ConfigError, "unknown aspect of re-ranker 'xquad:"),
        (["--rerank", "xquad:aspect=topic", "--clusters", "none"], ConfigError, "clusters say it"),
        (["--rerank", ","], ConfigError, "--rerank: ',' names nothing"),
        (["--diversity", "1.1"], ConfigError, "less than or equal to 1, found 1.1"),
        (["--clusters", "nowhere.npz"], DataError, "nowhere.npz: no such file"),
        (["--history-lang", "xx"], ConfigError, "--history-lang: unknown language 'xx'"),
        (["--history-lang", "deu"], ConfigError, "unknown --history-lang of corpus 'shelves'"),
        (["--split", "dev"], ConfigError, "unknown split of corpus 'shelves' 'dev'"),
        (["--ranker", ","], ConfigError, "--ranker: ',' names nothing"),
        (["--encoder", ","], ConfigError, "--encoder: ',' names nothing"),
        (["--langs", ","], ConfigError, "--langs: ',' names nothing"),
        (["--seeds", "-1"], ConfigError, "greater than or equal to 0, found -1"),
        (["--encoder", "gte-multilingual-base"], ConfigError, "--trust-remote-code"),
        (["--seeds", "a"], ConfigError, "--seeds: 'a', expected whole numbers"),
        (["--no-track", "--tracking-uri", "x"], ConfigError, "exclude each other"),
        (["--split", "blind"], DataError, "has no labels"),
        (["--split", "void"], DataError, "is empty"),
        (["--langs", "klingonese"], ConfigError, "nearest known"),
        (["--metrics", "accurracy"], ConfigError, "Did you mean 'accuracy'"),
        (["--config", "/nowhere.yaml"], ConfigError, "/nowhere.yaml: cannot be read"),
        (["--encoder", "no/such/model"], NewsrecError, "no/such/model"),
        (["--submission", "p.zip", "--langs", "eng,fin"], ConfigError, "expected one of each"),
    ],
)
def test_bad_input_is_one_clear_error(
    corpus: Corpus, words: list[str], kind: type[NewsrecError], said: str,
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path,
) -> None:  # fmt: skip
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("NEWSREC_CORPUS", str(corpus.folder))
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    plain = [] if "--tracking-uri" in words else ["--no-track"]
    error = _error(*words, *plain)
    assert isinstance(error, kind)
    assert said in str(error)


def test_a_folder_that_is_no_corpus_is_refused(tmp_path: Path) -> None:
    assert "no corpus.json" in str(_error("--corpus", str(tmp_path), "--no-track"))


def test_a_corpus_without_clicks_says_so(corpus: Corpus, tmp_path: Path) -> None:
    from newsrec.corpus import write_corpus

    write_corpus(
        tmp_path / "out", name="out", news=corpus.news, users=corpus.users[:0],
        texts=[corpus.texts("eng")], splits={},
    )  # fmt: skip
    error = _error("--corpus", str(tmp_path / "out"), "--no-track", "--ranker", "random")
    assert str(error) == "corpus 'out' has news and no clicks: nothing to evaluate"


def test_lists_are_split_outside_of_brackets() -> None:
    from newsrec.cli.words import listed

    assert listed("fusion, tfidf:sizes=[2,3],") == ["fusion", "tfidf:sizes=[2,3]"]


def test_words_and_values_may_stand_side_by_side() -> None:
    from newsrec.cli.words import options_of, plain

    rankers = ["fusion", {"name": "random"}]
    assert plain({"rankers": rankers, "langs": "eng,fin"}) == {
        "rankers": rankers, "langs": ["eng", "fin"],
    }  # fmt: skip
    assert options_of("a=1,b=[2, 3],c=x,d=1e-3", "--set") == {
        "a": 1, "b": [2, 3], "c": "x", "d": 0.001,
    }  # fmt: skip
    with pytest.raises(ConfigError, match="--set: 'a', expected KEY=VALUE"):
        options_of("a", "--set")


def test_help_says_every_option() -> None:
    done = _process("--help")
    assert done.returncode == 0
    for option in (
        "--encoder",
        "--ranker",
        "--history-lang",
        "--submission",
        "--no-track",
        "--trust-remote",
    ):
        assert option in done.stdout


def test_errors_end_in_one_line_and_their_exit_code(corpus: Corpus) -> None:
    usage = _process("--corpus", str(corpus.folder), "--ranker", "x", "--no-track")
    assert (usage.returncode, usage.stdout) == (2, "")
    assert usage.stderr.startswith("newsrec: unknown ranker 'x'")
    assert len(usage.stderr.strip().splitlines()) == 1
    data = _process("--corpus", str(corpus.folder), "--split", "void", "--no-track")
    assert data.returncode == 3


def test_models_in_local_folders_are_systems_beside_baselines(
    corpus: Corpus, tmp_path: Path
) -> None:
    from tests.encode.models import bert

    one, other = bert(tmp_path / "one"), bert(tmp_path / "other", seed=1)
    out = tmp_path / "out"
    words = [
        "--corpus", str(corpus.folder), "--encoder", f"{one},labse={other}", "--ranker",
        "fusion,random", "--langs", "eng,fin,fin+jpn", "--history-lang", "own", "--no-track",
    ]  # fmt: skip
    _well(*words, "--out", str(out))
    said = json.loads((out / "report.json").read_text())
    systems = {(row["encoder"], row["ranker"]) for row in said["results"]}
    assert systems == {(str(one), "fusion"), (f"labse={other}", "fusion"), ("none", "random")}
    assert len(said["results"]) == 9
    assert said["provenance"]["encoder"][f"labse={other}"]["normalized"] is True
    assert {test["kind"] for test in said["tests"]} == {"language", "first", "best baseline"}
    _well(*words, "--out", str(tmp_path / "again"))
    again = json.loads((tmp_path / "again" / "report.json").read_text())
    assert again["results"] == said["results"]
    assert again["tests"] == said["tests"]


def test_the_bundled_sample_with_the_built_in_encoder(tmp_path: Path) -> None:
    path = tmp_path / "found.json"
    done = _process("--langs", "eng,fin", "--no-track", "--json", str(path),
                    "--ranker", "fusion,random")  # fmt: skip
    assert done.returncode == 0, done.stderr
    means = {
        (row["language"], row["ranker"]): row["metrics"]["auc"]["mean"]
        for row in json.loads(path.read_text())["results"]
    }
    for language in ("eng", "fin"):
        assert means[language, "fusion"] > means[language, "random"]


def _killed(
    corpus: Corpus, tmp_path: Path, sign: signal.Signals, rankers: str, langs: str
) -> tuple[dict[str, Any], str]:
    """The report of a run that got a signal as soon as there was one, and its parent's status."""
    out, uri = tmp_path / "out", f"sqlite:///{tmp_path / 'runs.db'}"
    seeds = ",".join(map(str, range(40)))
    process = subprocess.Popen(
        [sys.executable, "-m", "newsrec", "evaluate", "--corpus", str(corpus.folder), "--ranker",
         rankers, "--langs", langs, "--seeds", seeds, "--out", str(out),
         "--tracking-uri", uri, "--metrics", "accuracy"],
        cwd=REPOSITORY, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        # A shell starts what it puts in the background with interrupts ignored: tests, too.
        preexec_fn=lambda: sign == signal.SIGKILL or signal.signal(sign, signal.SIG_DFL),
    )  # fmt: skip
    deadline = time.monotonic() + 240
    while not (out / "report.json").exists() and time.monotonic() < deadline:
        assert process.poll() is None, process.communicate()[1]
        time.sleep(0.05)
    process.send_signal(sign)
    _, errors = process.communicate(timeout=120)
    assert process.returncode == (-sign if sign == signal.SIGKILL else 128 + sign), errors
    return json.loads((out / "report.json").read_text()), status_in_time(uri, "out")


@pytest.mark.parametrize("sign", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_run_that_is_ended_is_failed_and_keeps_its_report(
    corpus: Corpus, tmp_path: Path, sign: signal.Signals
) -> None:
    """Stopped after the first of three languages, while the runs of the others are recorded."""
    said, status = _killed(corpus, tmp_path, sign, "random", "eng,fin,jpn")
    assert said["results"][0]["language"] == "eng"
    assert said["provenance"]["status"].startswith("stopped by ")
    assert status == "FAILED"


def test_a_run_that_is_killed_is_failed_and_keeps_its_report(
    corpus: Corpus, tmp_path: Path
) -> None:
    """After the first of two systems on its only language, while the other is measured."""
    said, status = _killed(corpus, tmp_path, signal.SIGKILL, "popularity,random", "eng")
    assert [row["ranker"] for row in said["results"]] == ["popularity"]
    assert said["provenance"]["status"] == "running"
    assert status == "FAILED"


@pytest.mark.parametrize(
    "words",
    [
        ["--ranker", "fusion:centre=foo"],
        ["--ranker", "tfidf:bits=99"],
        ["--history-lang", "xx"],
        ["--history-lang", "deu"],
        ["--metrics", "ndgc@10"],
        ["--split", "dev"],
        ["--rerank", "xquad:aspect=mood"],
        ["--rerank", "dpp:k=-1"],
        ["--rerank", "mmr", "--diversity", "-1"],
    ],
    ids=" ".join,
)
@pytest.mark.parametrize("more", [[], ["--submission", "prediction.zip"]], ids=["report", "zip"])
def test_wrong_options_are_told_before_anything_is_encoded_or_tracked(
    corpus: Corpus, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, words: list[str],
    more: list[str],
) -> None:  # fmt: skip
    def never(*_: object, **__: object) -> None:
        pytest.fail("the work began")

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("newsrec.build.encoder", never)
    monkeypatch.setattr("newsrec.cli.evaluation.tracking", never)
    if "--metrics" not in words:
        more = [*more, "--metrics", "accuracy"]
    where = ["--corpus", str(corpus.folder), "--langs", "eng"]
    assert isinstance(_error(*where, *words, *more), ConfigError)


@pytest.mark.parametrize("option", ["--out", "--json", "--submission"])
def test_places_that_cannot_be_written_are_told_before_the_work(
    corpus: Corpus, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, option: str
) -> None:
    def never(*_: object, **__: object) -> None:
        pytest.fail("the work began")

    monkeypatch.setattr("newsrec.cli.evaluation.experiment", never)
    monkeypatch.setattr("newsrec.cli.evaluation.submit", never)
    (tmp_path / "file").write_text("x")
    (tmp_path / "folder").mkdir()
    closed = tmp_path / "folder"
    monkeypatch.setattr("os.access", lambda path, mode: mode == os.R_OK or Path(path) != closed)
    words = ["--corpus", str(corpus.folder), "--ranker", "random", "--langs", "eng", "--no-track"]
    wrong = tmp_path / ("file" if option == "--out" else "folder")
    for path, said in (
        (wrong, "expected a f"),
        (tmp_path / "file" / "below", "is a file, expected a folder"),
        (tmp_path / "folder" / "new" / "below", "is not writable"),
    ):
        error = _error(*words, option, str(path))
        assert isinstance(error, DataError)
        assert str(error).startswith(f"{option}: ")
        assert said in str(error)


def test_only_a_folder_of_an_earlier_report_is_written_again(
    corpus: Corpus, tmp_path: Path
) -> None:
    words = ["--corpus", str(corpus.folder), "--ranker", "random", "--langs", "eng", "--no-track",
             "--metrics", "accuracy", "--out"]  # fmt: skip
    out = tmp_path / "out"
    _well(*words, str(out))
    _well(*words, str(out))
    (out / "thesis.tex").write_text("mine")
    assert "holds 'thesis.tex'" in str(_error(*words, str(out)))
    other = tmp_path / "other"
    other.mkdir()
    (other / "report.json").write_text('{"mine": 1}')
    assert "is no newsrec report" in str(_error(*words, str(other)))
    assert (other / "report.json").read_text() == '{"mine": 1}'


def test_measuring_shows_a_bar_and_never_two(
    corpus: Corpus, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shown: list[tuple[str, int, int]] = []
    now: list[str] = []

    @contextmanager
    def seen(what: str, started: float | None = None) -> Iterator[Callable[[int, int], None]]:
        now.append(what)
        assert len(now) == 1
        yield lambda done, total: shown.append((what, done, total))
        now.remove(what)

    from tests.encode.models import bert

    monkeypatch.setattr("newsrec.cli.stages.progress", seen)
    _well(
        "--corpus", str(corpus.folder), "--encoder", str(bert(tmp_path / "one")), "--langs",
        "eng,jpn", "--ranker", "fusion,random", "--no-track", "--out", str(tmp_path / "out"),
    )  # fmt: skip
    assert [step for step in shown if step[0] == "measuring"] == [
        ("measuring", i, 4) for i in range(4)
    ]
    assert {what for what, _, _ in shown} == {"measuring", "encoding"}
    assert now == []


def test_trust_reaches_the_config(corpus: Corpus, tmp_path: Path) -> None:
    _well(
        "--corpus", str(corpus.folder), "--ranker", "random", "--langs", "eng", "--no-track",
        "--metrics", "accuracy", "--out", str(tmp_path / "out"), "--trust-remote-code",
    )  # fmt: skip
    assert json.loads((tmp_path / "out" / "config.json").read_text())["trust_remote_code"] is True
