"""Experiments on a corpus whose right answer is known."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import zipfile
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from newsrec.config import ExperimentConfig, parse_config
from newsrec.corpus import Corpus
from newsrec.encode import EmbeddingStore
from newsrec.errors import ConfigError, DataError, NewsrecError
from newsrec.evaluate.report import EvalReport
from newsrec.evaluate.results import Results
from newsrec.pipeline.bench import Bench
from newsrec.pipeline.origin import commit, versions
from newsrec.pipeline.scene import make_scene
from newsrec.pipeline.study import experiment
from newsrec.pipeline.submit import submit
from newsrec.types import Ragged
from tests.evaluate.shelves import N_NEWS, TopicEncoder, write


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Corpus:
    return write(tmp_path_factory.mktemp("corpus") / "shelves")


def _config(corpus: Corpus, **fields: Any) -> ExperimentConfig:
    given = {"encoders": "topics", "metrics": ["accuracy"], "langs": ["eng"], **fields}
    return parse_config({"corpus": str(corpus.folder), **given})


def _run(
    corpus: Corpus, store: EmbeddingStore, folder: Path | None = None, **fields: Any
) -> Results:
    encoders = {"topics": TopicEncoder(), "blunt": TopicEncoder("blunt", 0.2)}
    return experiment(_config(corpus, **fields), store=store, encoders=encoders, folder=folder)


@pytest.fixture
def store(tmp_path: Path) -> EmbeddingStore:
    return EmbeddingStore(tmp_path / "embeddings")


def _mean(found: Results, language: str, ranker: str, metric: str = "ndcg@10") -> float:
    return next(
        report.mean()[metric]
        for report in found.reports
        if (report.language, report.system[1]) == (language, ranker)
    )


def test_an_encoder_that_knows_topics_wins_in_every_language(
    corpus: Corpus, store: EmbeddingStore
) -> None:
    found = _run(corpus, store, langs=["eng", "fin", "jpn"], rankers=["fusion", "tfidf", "random"])
    assert found.systems == (("topics", "fusion"), ("none", "tfidf"), ("none", "random"))
    for language in ("eng", "fin", "jpn"):
        readers = next(r for r in found.reports if r.language == language).by("readers")
        assert readers["with history"].mean()["auc"] > 0.85
        assert _mean(found, language, "fusion") > _mean(found, language, "random") + 0.15
    references = {t.against for t in found.tests if t.kind == "best baseline"}
    assert references == {(language, "none", "tfidf") for language in ("eng", "fin", "jpn")}
    worse = [t for t in found.tests if t.kind == "first" and t.ranker == "random"]
    assert worse
    assert all(t.found.p_holm < 0.01 for t in worse if t.found.metric == "ndcg@10")


def test_candidates_without_text_are_dropped_and_counted(
    corpus: Corpus, store: EmbeddingStore
) -> None:
    found = _run(corpus, store, langs=["fin"])
    counts = found.reports[0].counts
    made = corpus.impressions("test")
    missing = made.candidates.values % 4 == 0
    assert counts["candidates_without_text"] == missing.sum()
    assert counts["kept"] == len(found.reports[0])
    skipped = sum(value for key, value in counts.items() if key.startswith("skipped"))
    assert counts["kept"] + skipped == counts["impressions"] == 150


def test_complete_only_keeps_whole_lists_of_readers_with_history(
    corpus: Corpus, store: EmbeddingStore
) -> None:
    scene = make_scene(corpus, _config(corpus, complete_only=True), "fin")
    assert (scene.impressions.candidates.values % 4 != 0).all()
    assert (scene.readable.history_lengths > 0).all()
    everything = make_scene(corpus, _config(corpus), "fin")
    assert 0 < len(scene.rows) < len(everything.rows)


def test_results_do_not_depend_on_what_else_is_evaluated(
    corpus: Corpus, store: EmbeddingStore
) -> None:
    alone = _run(corpus, store, langs=["fin"], metrics=["accuracy", "diversity", "radio"])
    among = _run(
        corpus, store, langs=["eng", "fin"], rankers=["random", "fusion"],
        metrics=["accuracy", "diversity", "radio"],
    )  # fmt: skip
    other = next(r for r in among.reports if (r.language, r.system[1]) == ("fin", "fusion"))
    np.testing.assert_array_equal(alone.reports[0].values, other.values)


def test_a_language_without_text_costs_the_others_nothing(
    corpus: Corpus, store: EmbeddingStore, tmp_path: Path
) -> None:
    found = _run(corpus, store, tmp_path / "out", langs=["eng", "swh", "tha"])
    assert found.languages == ("eng",)
    (swh, why), (tha, unknown) = found.failed
    assert (swh, tha) == ("swh", "tha")
    assert why == "corpus 'shelves': no article has text in swh"
    assert "unknown language of corpus 'shelves' 'tha'" in unknown
    said = json.loads((tmp_path / "out" / "report.json").read_text())
    assert [pair[0] for pair in said["provenance"]["failed"]] == ["swh", "tha"]
    assert len(said["results"]) == 1


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"langs": ["swh"]}, "no article has text in swh"),
        ({"langs": ["swh", "tha"]}, "no article has text in swh; unknown language"),
        ({"split": "void"}, "split 'void' is empty"),
        ({"split": "blind"}, "split 'blind' has no labels.*--submission"),
        ({"split": "dev"}, "unknown split.*'dev'; known: .*test"),
        ({"langs": ["xx"]}, "--langs: unknown language 'xx'"),
        ({"history_lang": "xx"}, "--history-lang: unknown language 'xx'"),
        ({"encoders": "no such/encoder"}, "no such/encoder"),
        ({"rankers": "fuzion"}, "unknown ranker 'fuzion'"),
        ({"metrics": ["ndgc@10"]}, "unknown metric"),
        ({"view": "body"}, "body"),
    ],
)
def test_what_cannot_be_evaluated_is_said(
    corpus: Corpus, store: EmbeddingStore, fields: dict[str, Any], said: str
) -> None:
    with pytest.raises(NewsrecError, match=said):
        _run(corpus, store, **fields)


def test_nothing_left_to_serve_is_said(corpus: Corpus) -> None:
    scene_of = _config(corpus, complete_only=True, history_lang="swh")
    with pytest.raises(DataError, match=r"shelf eng: no impression of 'test' is left \(.*skipped"):
        make_scene(corpus, scene_of, "eng")


def test_histories_may_be_read_in_another_language_or_in_their_own(
    corpus: Corpus, store: EmbeddingStore
) -> None:
    for history in ("fin", "own"):
        found = _run(corpus, store, history_lang=history)
        assert found.reports[0].labels["history_language"] == history
        assert found.reports[0].by("readers")["with history"].mean()["auc"] > 0.85
    same = _run(corpus, store, history_lang="eng").reports[0]
    np.testing.assert_array_equal(same.values, _run(corpus, store).reports[0].values)


def test_own_histories_are_stacked_row_by_row(corpus: Corpus, store: EmbeddingStore) -> None:
    encoder = TopicEncoder()
    config = _config(corpus, history_lang="own")
    bench = Bench(config, store, encoders={"topics": encoder})
    scene = make_scene(corpus, config, "eng")
    assert scene.history.languages == ("eng", "fin")
    vectors = scene.history.vectors(bench._getter(config.encoders[0])).vectors
    texts = scene.history.texts(corpus)
    assert scene.history_rows is not None
    spoken = corpus.history_language("test")
    assert spoken is not None
    original = corpus.impressions("test")
    used = np.unique(original.history_of[scene.rows])
    codes = spoken[original.history.positions(used)]
    clicks = original.history.values[original.history.positions(used)]
    assert set(codes.tolist()) == {0, 1}
    for row, news, code in zip(scene.history_rows, clicks, codes, strict=True):
        title = corpus.texts(corpus.languages[code]).title[int(news)]
        assert texts.title[int(row)] == title
        np.testing.assert_allclose(vectors[row], encoder.encode([title])[0], rtol=1e-3)


def test_a_log_that_does_not_say_its_languages_cannot_be_read_in_its_own(
    corpus: Corpus, tmp_path: Path, store: EmbeddingStore
) -> None:
    from newsrec.corpus import write_corpus

    silent = write_corpus(
        tmp_path / "silent", name="silent", news=corpus.news, users=corpus.users,
        texts=[corpus.texts("eng")], splits={"test": corpus.impressions("test")},
    )  # fmt: skip
    with pytest.raises(DataError, match=r"does not say in which language.*--history-lang CODE"):
        _run(silent, store, history_lang="own")


def test_a_mixed_shelf_shows_each_article_once_and_reports_exposure(
    corpus: Corpus, store: EmbeddingStore
) -> None:
    found = _run(corpus, store, langs=["fin+eng"], rankers=["fusion", "tfidf"])
    report = found.reports[0]
    assert report.counts["candidates_without_text"] == 0
    finnish = report["language_share_fin@10"]
    np.testing.assert_allclose(finnish + report["language_share_eng@10"], 1)
    made = corpus.impressions("test")
    shares = [np.mean(made.candidates[int(row)] % 4 != 0) for row in report.rows]
    np.testing.assert_allclose(finnish, shares)  # all nine candidates are among the first ten
    assert report.by("readers")["with history"].mean()["auc"] > 0.85


def test_newsreclib_drops_cold_readers_and_shows_its_auc(
    corpus: Corpus, store: EmbeddingStore
) -> None:
    found = _run(corpus, store, protocol="newsreclib")
    report = found.reports[0]
    cold = (corpus.impressions("test").history_lengths == 0).sum()
    assert report.counts["skipped_without_history"] == cold > 0
    assert set(report.groups["readers"]) == {"with history"}
    assert "auc_torchmetrics" in report.pooled
    assert report.provenance.protocol == "newsreclib"
    assert (corpus.impressions("test").history_lengths[report.rows] > 0).all()


def test_newsreclib_reads_the_oldest_clicks(corpus: Corpus, store: EmbeddingStore) -> None:
    made = corpus.impressions("test")
    rng = np.random.default_rng(0)
    long = replace(
        made,
        history=Ragged.from_lists([rng.integers(0, N_NEWS, 70).tolist()]),
        history_of=np.zeros(len(made), np.int32),
    )
    from newsrec.pipeline.scene import oldest

    spoken = np.arange(70)
    cut, said = oldest(long, spoken, 50)
    assert cut.history.values.tolist() == long.history.values[:50].tolist()
    assert said.tolist() == list(range(50))


def test_seeds_change_what_is_random_and_nothing_else(
    corpus: Corpus, store: EmbeddingStore, tmp_path: Path
) -> None:
    out = tmp_path / "out"
    found = _run(corpus, store, out, seeds=[42, 43], rankers=["fusion", "random"])
    by_seed = {(run["ranker"], run["seed"]): run["means"]["ndcg@10"] for run in found.by_seed}
    assert by_seed["fusion", 42] == by_seed["fusion", 43]
    assert by_seed["random", 42] != by_seed["random", 43]
    average = (by_seed["random", 42] + by_seed["random", 43]) / 2
    assert _mean(found, "eng", "random") == pytest.approx(average)
    again = _run(corpus, store, seeds=[42, 43], rankers=["fusion", "random"])
    assert json.dumps(again.to_json()["results"]) == json.dumps(found.to_json()["results"])
    assert json.dumps(again.to_json()["tests"]) == json.dumps(found.to_json()["tests"])
    assert len(list((out / "impressions").glob("*.parquet"))) == 4


def test_every_file_is_written(corpus: Corpus, store: EmbeddingStore, tmp_path: Path) -> None:
    out = tmp_path / "out"
    found = _run(corpus, store, out, langs=["eng", "fin"], rankers=["fusion", "random"])
    names = {path.relative_to(out).as_posix() for path in out.rglob("*") if path.is_file()}
    assert {
        "report.json", "report.md", "report.tex", "groups.json", "config.json",
        "figures/languages_ndcg_at_10.png", "figures/heat_topics_fusion.png",
        "figures/heat_random.png", "impressions/fin_topics_fusion_42.parquet",
    } <= names  # fmt: skip
    assert not [name for name in names if "/." in name or name.startswith(".")]
    said = json.loads((out / "report.json").read_text())
    assert set(said) == {"results", "tests", "provenance"}
    provenance = said["provenance"]
    assert provenance["status"] == "finished"
    assert provenance["corpus"] == corpus.fingerprint
    assert provenance["config"]["langs"] == ["eng", "fin"]
    assert provenance["encoder"]["topics"]["dim"] == 8
    assert provenance["protocol"] == "newsrec"
    assert "numpy" in provenance["versions"]
    saved = EvalReport.load(out / "impressions" / "fin_topics_fusion_42.parquet")
    fresh = next(
        r for r in found.reports if (r.language, r.system) == ("fin", ("topics", "fusion"))
    )
    np.testing.assert_array_equal(saved.values, fresh.values)
    cold = [row for row in json.loads((out / "groups.json").read_text())
            if row["label"].startswith("cold")]  # fmt: skip
    assert len(cold) == 4


def test_an_interrupt_keeps_the_report_of_what_was_finished(
    corpus: Corpus, store: EmbeddingStore, tmp_path: Path
) -> None:
    class Impatient(TopicEncoder):
        """Stopped by Ctrl-C when it meets Japanese."""

        def encode(self, texts: Any) -> Any:
            if any("jpn" in text for text in texts):
                raise KeyboardInterrupt
            return super().encode(texts)

    out = tmp_path / "out"
    config = _config(corpus, langs=["eng", "fin", "jpn"])
    with pytest.raises(KeyboardInterrupt):
        experiment(config, store=store, encoders={"topics": Impatient()}, folder=out)
    said = json.loads((out / "report.json").read_text())
    assert [row["language"] for row in said["results"]] == ["eng", "fin"]
    assert said["provenance"]["status"] == "stopped by KeyboardInterrupt"
    assert "| fin |" in (out / "report.md").read_text()


def test_an_interrupt_before_the_first_result_says_so(
    corpus: Corpus, store: EmbeddingStore, tmp_path: Path
) -> None:
    class Stopped(TopicEncoder):
        def encode(self, texts: Any) -> Any:
            raise KeyboardInterrupt

    out, config = tmp_path / "out", _config(corpus, langs=["eng"])
    with pytest.raises(KeyboardInterrupt):
        experiment(config, store=store, encoders={"topics": Stopped()}, folder=out)
    said = json.loads((out / "report.json").read_text())
    assert said["results"] == []
    assert said["provenance"]["status"] == "stopped by KeyboardInterrupt"
    assert (out / "config.json").is_file()


def test_popularity_counts_only_what_came_before(corpus: Corpus) -> None:
    before = Bench(_config(corpus)).log[0]
    training = Bench(_config(corpus, clicks="training")).log[0]
    clicks = [int(np.count_nonzero(corpus.impressions(s).clicked)) for s in ("train", "test")]
    assert len(training.row) == clicks[0]
    assert len(before.row) == sum(clicks)
    made = corpus.impressions("test")
    assert before.count(np.arange(N_NEWS), np.repeat(made.time[:1], N_NEWS)).sum() == clicks[0]


def test_traits_of_a_file_make_the_other_metrics(
    corpus: Corpus, store: EmbeddingStore, tmp_path: Path
) -> None:
    path = tmp_path / "traits.npz"
    np.savez(
        path, affect=np.linspace(0, 1, N_NEWS),
        viewpoints_values=np.arange(N_NEWS) % 3, viewpoints_offsets=np.arange(N_NEWS + 1),
    )  # fmt: skip
    report = _run(corpus, store, metrics=["radio"], traits=str(path)).reports[0]
    assert not np.isnan(report.mean()["radio_activation@10"])
    assert not np.isnan(report.mean()["radio_representation@10"])
    assert set(report.skipped) == {"radio_alternative_voices@10"}


@pytest.mark.parametrize(
    ("arrays", "said"),
    [
        ({"sentiment": np.zeros(3)}, "unknown array 'sentiment', expected affect"),
        ({"minority_values": np.zeros(3)}, "both minority_values and minority_offsets"),
        (None, r"cannot be read as \.npz"),
    ],
)
def test_bad_traits_are_refused(
    corpus: Corpus, store: EmbeddingStore, tmp_path: Path, arrays: Any, said: str
) -> None:
    path = tmp_path / "traits.npz"
    path.write_bytes(b"nothing") if arrays is None else np.savez(path, **arrays)
    with pytest.raises(NewsrecError, match=said):
        _run(corpus, store, traits=str(path))


# --- the leaderboard file


def test_a_submission_ranks_every_candidate_of_the_unlabelled_split(
    corpus: Corpus, store: EmbeddingStore, tmp_path: Path
) -> None:
    path = tmp_path / "prediction.zip"
    config = _config(corpus, split="blind", langs=["fin"], rankers=["tfidf"])
    counts = submit(config, path, store=store)
    made = corpus.impressions("blind")
    assert counts["impressions"] == len(made) == 12
    with zipfile.ZipFile(path) as archive:
        lines = archive.read("prediction.txt").decode().splitlines()
    for i, line in enumerate(lines):
        name, ranks = line.split(" ")
        found = json.loads(ranks)
        assert name == f"blind{i}"
        assert sorted(found) == list(range(1, 10))
        missing = made.candidates[i] % 4 == 0
        if missing.any():
            assert np.asarray(found)[missing].min() == 9 - missing.sum() + 1


@pytest.mark.parametrize("fields", [{"langs": ["eng", "fin"]}, {"rankers": ["tfidf", "random"]}])
def test_a_submission_is_of_one_system_and_one_language(
    corpus: Corpus, tmp_path: Path, fields: dict[str, Any]
) -> None:
    with pytest.raises(ConfigError, match="expected one of each"):
        submit(_config(corpus, split="blind", **fields), tmp_path / "p.zip")
    assert not (tmp_path / "p.zip").exists()


def test_the_story_is_public_and_stays_a_function() -> None:
    code = """
import newsrec, newsrec.pipeline, newsrec.pipeline.study
for _ in range(2):
    assert callable(newsrec.experiment), newsrec.experiment
    assert newsrec.experiment is newsrec.pipeline.experiment
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


# --- provenance


def test_the_commit_is_that_of_this_checkout() -> None:
    root = Path(__file__).resolve().parents[1]
    done = subprocess.run(
        ["git", "-C", str(root), "rev-parse", "HEAD"], capture_output=True, text=True, check=False
    )
    expected = done.stdout.strip() if done.returncode == 0 and (root / ".git").exists() else ""
    assert commit().removesuffix("+changes") == expected
    assert versions()["numpy"] == np.__version__


def test_elsewhere_there_is_no_commit(tmp_path: Path) -> None:
    """A copy of the package inside a foreign checkout does not take that checkout's commit."""
    foreign = tmp_path / "project"
    package = foreign / "lib" / "newsrec"
    (package / "pipeline").mkdir(parents=True)
    source = Path(__file__).resolve().parents[1] / "newsrec"
    for name in ("types", "errors.py", "plain.py"):
        os.symlink(source / name, package / name)
    (package / "__init__.py").write_text("")
    (package / "pipeline" / "__init__.py").write_text("")
    origin = (source / "pipeline" / "origin.py").read_text()
    (package / "pipeline" / "origin.py").write_text(origin)
    subprocess.run(["git", "init", "-q", str(foreign)], check=True)
    code = "from newsrec.pipeline.origin import commit; print(repr(commit()))"
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=foreign / "lib", capture_output=True, text=True,
        check=True, env={**os.environ, "PYTHONPATH": str(foreign / "lib")},
    )  # fmt: skip
    assert done.stdout.strip() == "''"
