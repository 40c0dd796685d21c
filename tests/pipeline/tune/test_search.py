"""A search with real training on the bundled sample: what is measured, kept, refused."""

from __future__ import annotations

import csv
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from newsrec.config import ExperimentConfig, RankerConfig, TrainConfig, load_training
from newsrec.config.space import load_space
from newsrec.corpus import Corpus
from newsrec.errors import ConfigError, DataError, StaleCacheError
from newsrec.evaluate.report import EvalReport
from newsrec.evaluate.results import Results
from newsrec.files import held
from newsrec.pipeline.school import School
from newsrec.pipeline.study import experiment
from newsrec.pipeline.training import train
from newsrec.pipeline.tune.objective import with_history
from newsrec.pipeline.tune.search import tune
from newsrec.pipeline.tune.trials import Search
from newsrec.rank import EpochReport
from tests.encode import models

SPACE = "learning_rate=1e-4..1e-2 log, query=[4, 8], epochs=2, batch=64"


def config(**given: Any) -> TrainConfig:
    return load_training(None, {"head": "naml", "test_langs": ["eng"], **given})


def searched(folder: Path, trials: int = 2, space: str = SPACE, **more: Any) -> Search:
    given = more.pop("given", {})
    return tune(config(**given), load_space(space), folder, trials=trials, **more)


@pytest.fixture(scope="module")
def done(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Search]:
    """Four trials, and where they are."""
    folder = tmp_path_factory.mktemp("search") / "out"
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("NEWSREC_DATA", str(folder.parent / "data"))
        return folder, searched(folder, 4)


@pytest.fixture
def out(tmp_path: Path) -> Path:
    """A folder that is not there yet."""
    return tmp_path / "out"


def ranker(folder: Path, found: Search) -> Path:
    assert found.best is not None
    return folder / "trials" / f"{found.best.number:03d}" / "eng-full"


def manifest(folder: Path) -> dict[str, Any]:
    read: dict[str, Any] = json.loads((folder / "seed42" / "best" / "manifest.json").read_text())
    return read


def test_the_best_is_trained_again_from_its_file(done: tuple[Path, Search], tmp_path: Path) -> None:
    folder, found = done
    again = load_training(folder / "best.yaml")
    assert (again.test, again.test_langs) == ("test", ("eng",))
    train(again.model_copy(update={"test": None}), tmp_path)
    mine, theirs = manifest(tmp_path / "eng-full"), manifest(ranker(folder, found))
    assert mine["weights_crc"] == theirs["weights_crc"]


def on_validation(folder: Path) -> float:
    """nDCG@10 of a trained ranker, as an evaluation of readers with a history has it."""
    measured = experiment(
        ExperimentConfig(
            langs=("eng",), split="valid", metrics=("ndcg@10",),
            rankers=(RankerConfig(name=str(folder), cold="none"),),
        )
    ).reports[0]  # fmt: skip
    valid = School(config(), folder).corpus.impressions("valid")
    known = valid.history_lengths[measured.rows] > 0
    assert known.any()
    values = measured.values[list(measured.names).index("ndcg@10")]
    return float(np.nanmean(values[known]))


def test_the_value_is_the_metric_of_that_ranker_on_validation(done: tuple[Path, Search]) -> None:
    folder, found = done
    assert found.best is not None
    assert on_validation(ranker(folder, found)) == pytest.approx(found.best.value, abs=1e-12)


def test_what_is_written_says_what_was_found(done: tuple[Path, Search]) -> None:
    folder, found = done
    with (folder / "trials.csv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert [int(row["trial"]) for row in rows] == [0, 1, 2, 3]
    for row, trial in zip(rows, found.trials, strict=True):
        assert row["state"] == trial.state == "done"
        assert float(row["ndcg@10"]) == trial.value
        assert float(row["learning_rate"]) == trial.settings["learning_rate"]
        assert float(row["best_valid_loss"]) == min(trial.losses)
        assert int(row["query"]) == trial.settings["query"]
        assert float(row["seconds"]) > 0
    assert load_space(str(folder / "space.yaml")) == load_space(SPACE)
    assert (folder / "search.png").read_bytes().startswith(b"\x89PNG\r\n\x1a\n")
    assert found.best is not None
    table = (folder / "report.md").read_text("utf-8")
    assert f"{100 * found.best.value:.2f}" in table
    assert "4 trials: 4 done." in table
    assert f"The best: {100 * found.best.value:.2f} [" in table


def test_a_search_that_has_its_trials_trains_nothing(done: tuple[Path, Search]) -> None:
    folder, found = done
    before = (folder / "trials.csv").read_text()
    told: list[object] = []
    again = searched(folder, 4, on_trial=lambda *trial: told.append(trial))
    assert not told
    assert again.trials == found.trials
    assert (folder / "trials.csv").read_text() == before


def test_the_test_split_is_never_looked_at(out: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []
    impressions = Corpus.impressions

    def noted(self: Corpus, split: str) -> object:
        asked.append(split)
        return impressions(self, split)

    monkeypatch.setattr(Corpus, "impressions", noted)
    searched(out, 1)
    assert set(asked) == {"train", "valid"}


def test_a_share_of_training_and_few_shots_do_as_well(out: Path) -> None:
    found = searched(out, 1, given={"valid": "0.2", "shots": [10]})
    assert found.best is not None
    assert 0 < found.best.value <= 1
    kept = out / "trials" / "000" / "eng-10-shots" / "seed42" / "best" / "impressions.txt"
    assert len(kept.read_text().split()) == 10


def test_the_loss_is_searched_downwards(out: Path) -> None:
    found = searched(out, 2, metric="loss")
    assert found.best is not None
    assert [trial.value for trial in found.trials] == [min(t.losses) for t in found.trials]
    assert found.best.value == min(trial.value for trial in found.trials)


def test_a_metric_of_which_less_is_better_is_searched_downwards(out: Path) -> None:
    found = searched(out, 2, metric="calibration_kl@10")
    assert not found.maximise
    assert found.best is not None
    assert found.best.value == min(trial.value for trial in found.trials)


class Noted:
    """A `TrainTracker` that remembers."""

    def __init__(self) -> None:
        self.told: list[tuple[Any, ...]] = []

    def begin(self, name: str, params: Mapping[str, object]) -> None:
        self.told.append(("begin", name, dict(params)))

    def epoch(self, report: EpochReport) -> None:
        self.told.append(("epoch", report.epoch))

    def trained(self, folder: Path) -> None:
        self.told.append(("trained", folder))

    def measured(self, report: EvalReport) -> None:
        self.told.append(("measured", report.language, report.mean()["ndcg@10"]))

    def end(self, status: str = "FINISHED") -> None:
        self.told.append(("end", status))

    def finish(self, results: Results, folder: Path) -> None:
        self.told.append(("finish", [r.mean()["ndcg@10"] for r in results.reports], folder))


def test_a_tracker_is_told_every_trial_and_the_best(out: Path) -> None:
    noted = Noted()
    found = searched(out, 2, tracker=noted)
    assert found.best is not None
    expected: list[tuple[Any, ...]] = []
    for trial in found.trials:
        expected += [("begin", f"trial {trial.number}", trial.settings), ("epoch", 1), ("epoch", 2)]
        expected += [("measured", "eng", trial.value), ("end", "FINISHED")]
    assert noted.told == [*expected, ("finish", [found.best.value], out)]


def test_a_trial_that_trains_its_encoder_is_measured_with_it(out: Path, tmp_path: Path) -> None:
    given = {"head": "lfrec-scl", "encoder": str(models.bert(tmp_path / "tiny")), "shots": [6]}
    space = "learning_rate=[0.001, 0.01], trainable=[all, last4], epochs=2"
    found = searched(out, 2, space, given=given)
    assert found.best is not None
    where = out / "trials" / f"{found.best.number:03d}"
    assert [path.name for path in where.iterdir()] == ["eng-6-shots"]
    assert on_validation(where / "eng-6-shots") == pytest.approx(found.best.value, abs=1e-6)
    best = load_training(out / "best.yaml")
    assert best.trainable == found.best.settings["trainable"]


def test_losses_that_cannot_be_compared_stop_no_trial(out: Path) -> None:
    space = "temperature=0.1..0.5 step 0.02, epochs=1"
    found = searched(out, 1, space, given={"head": "manner"})
    assert found.notes[1:2] == ("No trial was pruned: the space changes what the loss measures.",)


@pytest.mark.parametrize(
    ("given", "more", "said"),
    [
        ({"valid": "none"}, {}, "--valid none: a search needs validation"),
        ({"langs": ["eng", "fin"]}, {}, "--lang: eng, fin: a search takes one"),
        ({"langs": ["klingon"]}, {}, "--lang"),
        ({"shots": [10, 20]}, {}, "--shots: 2 numbers"),
        ({}, {"metric": "accuracy"}, "--metric: 'accuracy' stands for several"),
        ({}, {"metric": "ndgc@10"}, r"unknown metric 'ndgc@10'.*Did you mean 'ndcg@10'"),
        (
            {},
            {"metric": "loss", "space": "temperature=0.1..0.5"},
            "--metric loss: the space changes the loss itself",
        ),
    ],
)
def test_a_wrong_request_is_told_and_leaves_nothing(
    given: dict[str, Any], more: dict[str, Any], said: str, tmp_path: Path
) -> None:
    with pytest.raises(ConfigError, match=said):
        searched(tmp_path / "out", given=given, **more)
    assert not (tmp_path / "out").exists()


def test_a_metric_that_validation_cannot_give_is_told(out: Path) -> None:
    with pytest.raises(DataError, match=r"--metric theme_coverage@10: not defined on validation"):
        searched(out, 1, metric="theme_coverage@10")


def test_another_search_and_foreign_folders_are_left_alone(
    done: tuple[Path, Search], tmp_path: Path
) -> None:
    folder, _ = done
    with pytest.raises(StaleCacheError, match=r"another search \(head: 'naml', now 'naml-cat'"):
        searched(folder, 5, "epochs=[1, 2]", given={"head": "naml-cat"})
    with pytest.raises(StaleCacheError, match=r"learning_rate.*0.0001..0.01 log.*now"):
        searched(folder, 5, SPACE.replace("1e-4", "1e-5"))
    with pytest.raises(StaleCacheError, match=r"seed: 42, now 43"):
        searched(folder, 5, seed=43)
    (tmp_path / "mine.txt").write_text("mine")
    with pytest.raises(DataError, match=r"mine.txt"):
        searched(tmp_path)


def test_two_processes_do_not_search_in_one_folder(out: Path) -> None:
    with held(out, "newsrec tune"), pytest.raises(DataError, match="another process"):
        searched(out)


def test_only_readers_with_a_history_are_measured(tmp_path: Path) -> None:
    school = School(config(), tmp_path)
    lesson = school.lesson("eng")
    assert lesson.valid is not None
    kept, features = with_history(lesson, ("title+abstract",))
    assert 0 < len(kept) <= len(lesson.valid)
    assert (kept.history_lengths > 0).all()
    assert features.candidates.keys() == {"title+abstract"}
