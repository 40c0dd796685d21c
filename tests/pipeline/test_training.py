"""Heads trained on the bundled sample: folders, resuming, what is measured."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from newsrec.config import TrainConfig, parse_config, parse_training
from newsrec.errors import ConfigError, DataError, StaleCacheError
from newsrec.files import held
from newsrec.pipeline.open import open_corpus
from newsrec.pipeline.page import recommend
from newsrec.pipeline.request import Request
from newsrec.pipeline.runs import Run
from newsrec.pipeline.school import IDS
from newsrec.pipeline.study import experiment
from newsrec.pipeline.training import train
from newsrec.rank import AspectEnsemble, NeuralRanker, load_ranker
from newsrec.rank.fit_options import EpochReport
from newsrec.rank.trained import trained
from tests.encode import models

SMALL: dict[str, Any] = {
    "head": "naml:query=8",
    "seeds": [42, 43],
    "shots": [4, 8],
    "options": {"epochs": 2, "learning_rate": 0.003},
    "test_langs": ["eng", "fin"],
}


def config(**fields: Any) -> TrainConfig:
    return parse_training({**SMALL, **fields})


@pytest.fixture(scope="module")
def done(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[tuple[Run, EpochReport]]]:
    told: list[tuple[Run, EpochReport]] = []
    folder = tmp_path_factory.mktemp("trained") / "naml"
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("NEWSREC_DATA", str(tmp_path_factory.mktemp("data")))
        results = train(config(), folder, on_epoch=lambda run, report: told.append((run, report)))
    assert results is not None
    rankers = {"fusion", "naml:query=8 eng-4-shots", "naml:query=8 eng-8-shots"}
    assert {ranker for _, ranker in results.systems} == rankers
    assert {report.language for report in results.reports} == {"eng", "fin"}
    return folder, told


def test_every_language_shots_and_seed_has_a_folder_that_says_what_it_is(
    done: tuple[Path, list[tuple[Run, EpochReport]]],
) -> None:
    folder, told = done
    assert {run.name for run, _ in told} == {
        f"eng-{shots}-shots seed {seed}" for shots in (4, 8) for seed in (42, 43)
    }
    for shots in (4, 8):
        for seed in (42, 43):
            made = load_ranker(folder / f"eng-{shots}-shots", seed).made  # type: ignore[union-attr]
            assert (made["shots"], made["provenance"]["seed"]) == (shots, seed)
            assert made["encoder"] == {"name": "mini", "options": {}}
            assert made["provenance"]["corpus"] == open_corpus(None).fingerprint
            ids = (folder / f"eng-{shots}-shots" / f"seed{seed}" / "best" / IDS).read_text().split()
            assert len(ids) == shots
            assert set(ids) <= set(open_corpus(None).impressions("train").ids)
    assert trained(folder / "eng-4-shots").encoder == {"name": "mini", "options": {}}
    assert (folder / "test" / "report.json").is_file()


def test_what_is_trained_is_not_trained_again(
    done: tuple[Path, list[tuple[Run, EpochReport]]],
) -> None:
    folder, _ = done
    told: list[Run] = []
    before = {path: path.read_bytes() for path in folder.glob("*/seed*/best/*")}
    train(config(shots=[4, 8, 12], test=None), folder, on_epoch=lambda run, _: told.append(run))
    assert {run.shots for run in told} == {12}
    assert all(path.read_bytes() == content for path, content in before.items())


def test_a_ranker_that_was_lost_or_damaged_is_written_again(
    done: tuple[Path, list[tuple[Run, EpochReport]]], tmp_path: Path
) -> None:
    folder = tmp_path / "copy"
    shutil.copytree(done[0], folder)
    best = folder / "eng-4-shots" / "seed42" / "best"
    before = (best / "weights.safetensors").read_bytes()
    (best / "weights.safetensors").write_bytes(before + b"x")
    shutil.rmtree(folder / "eng-4-shots" / "seed43" / "best")
    told: list[Run] = []
    train(config(test=None), folder, on_epoch=lambda run, _: told.append(run))
    assert told == []
    assert (best / "weights.safetensors").read_bytes() == before
    assert load_ranker(folder / "eng-4-shots", 43)


def test_a_ranker_without_its_checkpoint_is_not_written_over(
    done: tuple[Path, list[tuple[Run, EpochReport]]], tmp_path: Path
) -> None:
    folder = tmp_path / "copy"
    shutil.copytree(done[0], folder)
    run = folder / "eng-4-shots" / "seed42"
    shutil.rmtree(run / "last")
    before = (run / "best" / "weights.safetensors").read_bytes()
    with pytest.raises(StaleCacheError, match=r"a ranker of another run .*'naml'"):
        train(config(head="mins", test=None, shots=[4], seeds=[42]), folder)
    assert (run / "best" / "weights.safetensors").read_bytes() == before
    train(config(test=None, shots=[4], seeds=[42]), folder)  # its own run makes the same again
    assert (run / "best" / "weights.safetensors").read_bytes() == before


def test_other_texts_and_other_languages_of_histories_are_another_run(tmp_path: Path) -> None:
    few = {"shots": [4], "seeds": [42], "test": None}
    train(config(history_lang="fin", **few), tmp_path / "a")
    with pytest.raises(StaleCacheError, match=r"another run \(vectors: .*remove the folder"):
        train(config(history_lang="jpn", **few), tmp_path / "a")


def test_one_process_trains_in_a_folder(tmp_path: Path) -> None:
    with (
        held(tmp_path / "a" / "eng-4-shots" / "seed42", "training"),
        pytest.raises(DataError, match="another process is at work there"),
    ):
        train(config(shots=[4], seeds=[42], test=None), tmp_path / "a")


def test_another_training_in_the_same_folder_is_refused_and_nothing_is_lost(
    done: tuple[Path, list[tuple[Run, EpochReport]]],
) -> None:
    folder, _ = done
    before = {path: path.read_bytes() for path in folder.glob("*/seed*/*/*")}
    other: Mapping[str, Any]
    for other in ({"options": {"epochs": 3}}, {"head": "mins"}, {"valid": "0.3"}):
        with pytest.raises(
            StaleCacheError, match=r"checkpoint of another run \(.*remove the folder"
        ):
            train(config(**other, test=None), folder)
    assert {path: path.read_bytes() for path in folder.glob("*/seed*/*/*")} == before


def test_a_folder_evaluates_as_its_training_did_one_ranker_a_seed(
    done: tuple[Path, list[tuple[Run, EpochReport]]],
) -> None:
    folder, _ = done
    name = str(folder / "eng-8-shots")
    fields = {"rankers": [name], "langs": ["fin"], "seeds": [42, 43], "metrics": ["accuracy"]}
    found = experiment(parse_config(fields))
    measured = [row["means"]["ndcg@10"] for row in found.by_seed]
    alone = [
        experiment(parse_config({**fields, "rankers": [f"{name}/seed{seed}"], "seeds": [1]}))
        for seed in (42, 43)
    ]
    assert measured == [one.by_seed[0]["means"]["ndcg@10"] for one in alone]
    assert measured[0] != measured[1]
    with pytest.raises(DataError, match="no ranker of seed 7"):
        experiment(parse_config({**fields, "seeds": [7]}))


def test_a_trained_ranker_brings_its_own_encoder(
    done: tuple[Path, list[tuple[Run, EpochReport]]],
) -> None:
    folder, _ = done
    name = str(folder / "eng-8-shots")
    with pytest.raises(ConfigError, match=r"--encoder nase: a trained ranker reads .*\(mini\)"):
        experiment(parse_config({"rankers": [name], "langs": ["eng"], "encoders": ["nase"]}))
    found = experiment(parse_config({"rankers": [name], "langs": ["eng"], "metrics": ["auc"]}))
    assert list(found.systems) == [("mini", name)]


def test_a_head_without_text_needs_no_encoder_and_reads_every_language_alike(
    tmp_path: Path,
) -> None:
    fields = {"head": "naml-cat:width=16", "shots": [], "seeds": [42], "encoder": "nase"}
    results = train(config(**fields, history_lang="own"), tmp_path / "cat")
    assert results is not None
    of = {r.language: r.mean() for r in results.reports if r.system[1].startswith("naml-cat")}
    assert of["eng"]["auc"] == of["fin"]["auc"]
    trained_one = "naml-cat:width=16 eng-full"
    assert list(results.systems) == [("none", "category-profile"), ("none", trained_one)]


def test_two_languages_and_both_views_train_apart(tmp_path: Path) -> None:
    fields = {"langs": ["eng", "tha"], "views": ["title", "abstract"], "shots": [6], "seeds": [42]}
    train(config(**fields, test=None), tmp_path / "two")
    for language in ("eng", "tha"):
        assert trained(tmp_path / "two" / f"{language}-6-shots").views == ("title", "abstract")
    found = experiment(parse_config({
        "rankers": [str(tmp_path / "two" / "tha-6-shots")], "langs": ["tha"],
        "metrics": ["accuracy"],
    }))  # fmt: skip
    assert np.isfinite(found.reports[0].mean()["auc"])


def test_an_encoder_is_trained_along_and_each_seed_reads_its_own(tmp_path: Path) -> None:
    base = models.bert(tmp_path / "tiny")
    fields = {
        "head": "lfrec-scl", "encoder": str(base), "trainable": "last4", "shots": [6],
        "options": {"epochs": 2, "learning_rate": 0.01}, "metrics": ["accuracy"],
    }  # fmt: skip
    folder = tmp_path / "tuned"
    results = train(config(**fields), folder)
    assert results is not None
    assert list(results.systems) == [
        (str(base), "fusion"), (f"{base}+last4", "lfrec-scl eng-6-shots"),
    ]  # fmt: skip
    for seed in (42, 43):
        assert (folder / "eng-6-shots" / f"seed{seed}" / "best" / "encoder").is_dir()
    one, other = (row["means"]["auc"] for row in results.by_seed
                  if row["ranker"] != "fusion" and row["language"] == "fin")  # fmt: skip
    assert one != other
    told: list[Run] = []
    train(config(**fields, test=None), folder, on_epoch=lambda run, _: told.append(run))
    assert told == []
    again = experiment(parse_config({
        "rankers": [str(folder)], "langs": ["fin"], "seeds": [43], "metrics": ["auc"],
    }))  # fmt: skip
    assert again.reports[0].mean()["auc"] == other
    page = recommend(open_corpus(None), Request("U123", ("fin",)), ranker=folder)
    assert len(page.items) == 10


def test_aspects_are_modules_whose_weights_can_be_chosen_again(tmp_path: Path) -> None:
    labels = tmp_path / "labels.csv"
    ids = open_corpus(None).news.ids.tolist()
    labels.write_text("id,mood\n" + "".join(f"{x},{'ab'[i % 2]}\n" for i, x in enumerate(ids)))
    fields = {
        "head": "manner", "shots": [20], "seeds": [42], "labels": str(labels), "metrics": ["auc"],
        "aspects": {"category": -0.5, "mood": 0.1}, "test_langs": ["fin"],
        "options": {"epochs": 15, "learning_rate": 0.003},
    }  # fmt: skip
    results = train(config(**fields), tmp_path / "manner")
    assert results is not None
    ranker = load_ranker(tmp_path / "manner")
    assert isinstance(ranker, AspectEnsemble)
    assert ranker.weights == {"category": -0.5, "mood": 0.1}
    told: list[Run] = []
    train(config(**fields), tmp_path / "manner", on_epoch=lambda run, _: told.append(run))
    assert told == []
    metric, like = "category_jaccard@5", []
    for weight in (2, 0, -2):
        named = f"{tmp_path / 'manner'}:weights={{category: {weight}, mood: 0}}"
        found = experiment(
            parse_config({"rankers": [named], "langs": ["fin"], "metrics": [metric]})
        )
        like.append(found.reports[0].mean()[metric])
    assert like[0] > like[1] > like[2]  # the list like the history, by category


def test_aspects_are_written_over_nothing(tmp_path: Path) -> None:
    fields = {"head": "manner", "shots": [8], "seeds": [42], "test": None}
    train(config(**fields), tmp_path / "plain")
    with pytest.raises(StaleCacheError, match="a training without aspects"):
        train(config(**fields, aspects={"category": 1}), tmp_path / "plain")
    train(config(**fields, aspects={"category": 1}), tmp_path / "both")
    best = tmp_path / "both" / "eng-8-shots" / "seed42" / "best"
    before = {path: path.read_bytes() for path in best.rglob("*") if path.is_file()}
    with pytest.raises(StaleCacheError, match=r"aspects .*1\.0.*now .*-1\.0.*FOLDER:weights"):
        train(config(**fields, aspects={"category": -1}), tmp_path / "both")
    with pytest.raises(StaleCacheError, match=r"a ranker of another run .*'with aspects'"):
        train(config(**fields), tmp_path / "both")
    assert {path: path.read_bytes() for path in best.rglob("*") if path.is_file()} == before


def test_a_ranker_over_a_folder_named_from_here_is_used_from_anywhere(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    models.bert(tmp_path / "here" / "tiny")
    monkeypatch.chdir(tmp_path / "here")
    fields = {"encoder": "./tiny", "shots": [6], "seeds": [42], "test": None}
    train(config(**fields), tmp_path / "naml")
    wanted = {"rankers": [str(tmp_path / "naml")], "langs": ["fin"], "metrics": ["auc"]}
    found = experiment(parse_config({**wanted, "encoders": ["./tiny"]}))
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    again = experiment(parse_config(wanted))
    assert again.reports[0].mean() == found.reports[0].mean()


def test_two_processes_learn_what_one_does(tmp_path: Path) -> None:
    words = [
        "-m", "newsrec", "train", "--head", "naml:query=8:dropout=0.0", "--shots", "24",
        "--test", "none", "--set", "epochs=2", "--no-track", "--out",
    ]  # fmt: skip
    group = ["-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2"]
    for command, where in ((group, "two"), ([], "one")):
        done = subprocess.run(
            [sys.executable, *command, *words, str(tmp_path / where)],
            capture_output=True, text=True, timeout=300, check=False,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        assert done.stdout.count("rankers: ") == 1
    one, two = (load_ranker(tmp_path / where) for where in ("one", "two"))
    assert isinstance(one, NeuralRanker)
    assert isinstance(two, NeuralRanker)
    for name, weights in one.head.state_dict().items():
        assert two.head.state_dict()[name].numpy() == pytest.approx(weights.numpy(), abs=1e-5)


@pytest.mark.parametrize(
    ("fields", "error", "said"),
    [
        ({"head": "namel"}, ConfigError, "unknown head 'namel'; known: .*naml"),
        ({"head": "naml:querry=5"}, ConfigError, "option of head 'naml'.*querry.*query"),
        ({"head": "naml:query=much"}, ConfigError, "'query' is 'much', expected int"),
        ({"options": {"epoch": 3}}, ConfigError, "unknown training option 'epoch'.*epochs"),
        ({"options": {"epochs": "three"}}, ConfigError, "'epochs' is 'three', expected int"),
        ({"options": {"learning_rate": -1.0}}, ConfigError, "learning_rate: -1.0, expected a pos"),
        ({"langs": ["deu"]}, ConfigError, "--lang of corpus.*'deu'; known: .*fin"),
        ({"train": "tomorrow"}, ConfigError, "unknown split of corpus 'sample' 'tomorrow'"),
        ({"test": "train"}, ConfigError, "--test: 'train' is trained on"),
        ({"test": "valid", "valid": "valid"}, ConfigError, "--test: 'valid' is trained on, or dec"),
        ({"valid": "train"}, ConfigError, "--valid: 'train' is what is learnt from"),
        ({"shots": [4, 100000]}, DataError, "--shots 100000: the training split has"),
        ({"head": "lfrec-scl"}, ConfigError, "only its encoder can learn: --trainable last4"),
        ({"trainable": "last4"}, ConfigError, "mini"),
        ({"trainable": "last5"}, ConfigError, "trainable"),
        ({"options": {"device": "tpu"}}, ConfigError, "device"),
        ({"options": {"rank": 4}}, ConfigError, "unknown training option 'rank'"),
        ({"head": "naml-cat", "trainable": "all"}, ConfigError, "reads no text"),
        ({"aspects": {"category": 1}}, ConfigError, "A-modules are those of --head manner"),
        ({"head": "manner", "aspects": {"mood": 1}}, ConfigError, "bring a CSV.*id,mood.*--labels"),
        ({"options": {"learning_rate": 1e30, "clip": None}}, DataError, "training diverged"),
    ],
)
def test_what_is_wrong_is_said_in_one_line(
    fields: Mapping[str, Any], error: type[Exception], said: str, tmp_path: Path
) -> None:
    with pytest.raises(error, match=said) as caught:
        train(config(**{"shots": [4], "seeds": [42], "test": None, **fields}), tmp_path / "x")
    assert "\n" not in str(caught.value)
    assert not list(tmp_path.glob("x/*/*/best"))
