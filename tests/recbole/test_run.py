"""RecBole itself, in its own environment: what it reads, what it trains on and what it scores."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import numpy as np
import pytest

from newsrec.encode import EmbeddingStore, load_encoder
from newsrec.errors import DataError
from newsrec.recbole.atomic import name_of
from newsrec.recbole.environment import versions
from newsrec.recbole.events import events, training_events
from newsrec.recbole.export import export, vectors_of
from newsrec.recbole.run import Trained, Training, trained, write_job
from newsrec.types import Impressions
from tests.recbole import made

pytestmark = [pytest.mark.recbole, pytest.mark.slow]

_READ = """
import json, sys
import numpy as np
from recbole.config import Config
from recbole.data import create_dataset
name, sys.argv = sys.argv[1], sys.argv[:1]
config = Config("BPR", name, config_file_list=[name + "/recbole.yaml"],
                config_dict={"data_path": "."})
data = create_dataset(config)
items, users = (data.field2id_token[f] for f in ("item_id", "user_id"))
weights = data.get_preload_weight("iid")
train, valid, test = data.build()
columns = [[part.inter_feat[f] for f in ("user_id", "item_id")] for part in (train, valid, test)]
pairs = [[[users[u], items[i]] for u, i in zip(*two)] for two in columns]
np.save("weights.npy", weights)
json.dump({"items": list(items), "pairs": pairs}, open("read.json", "w"))
"""


def test_recbole_reads_the_export_as_it_was_written(recbole_python: Path, tmp_path: Path) -> None:
    corpus = made.corpus(tmp_path / "c")
    found = vectors_of(corpus, "mini", ["fin"], "title+abstract")
    export(corpus, tmp_path / "set", embeddings=found)
    done = subprocess.run(
        [str(recbole_python), "-I", "-c", _READ, "set"],
        cwd=tmp_path, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    read = json.loads((tmp_path / "read.json").read_text())
    for split, rows in zip(("train", "valid", "test"), read["pairs"], strict=True):
        part = events(corpus.impressions(split), histories=split == "train")
        wanted = {(made.USERS[u], made.IDS[i]) for u, i in zip(part.user, part.item, strict=True)}
        assert {(name_of(user), name_of(item)) for user, item in rows} == wanted
        assert len(rows) == len(part)
    store, texts = EmbeddingStore(), corpus.texts("fin")
    vectors = store.get(load_encoder("mini"), texts, "title+abstract", corpus.fingerprint).vectors
    weights = np.load(tmp_path / "weights.npy")
    for number, item in enumerate(read["items"][1:], 1):
        row = made.IDS.index(name_of(item))
        expected = vectors[row] if texts.present[row] else np.zeros(vectors.shape[1])
        assert np.array_equal(weights[number].astype(np.float32), expected)


def run(
    python: Path, folder: Path, model: str, test: Impressions | None = None, **options: float
) -> Trained:
    splits = {"train": made.train(), "test": made.test() if test is None else test}
    corpus = made.corpus(folder, **splits)
    wanted = Training(model, options, epochs=1)
    return trained(corpus, wanted, 7, python, versions(python))


def scores_of(done: Trained) -> np.ndarray:
    found: np.ndarray = np.load(done.pattern.replace("{seed}", "7"))
    return found


def ease(weight: float) -> np.ndarray:
    """EASE in closed form (Steck 2019, algorithm 1): scores ``(readers, trained articles)``."""
    found = events(made.train(), histories=True)
    x = np.zeros((len(made.USERS), len(made.IDS) - len(made.COLD_NEWS)))
    x[found.user, found.item] = 1
    inverse = np.linalg.inv(x.T @ x + weight * np.eye(x.shape[1]))
    b = inverse / -np.diag(inverse)
    np.fill_diagonal(b, 0)
    return np.asarray(x @ b)


def test_scores_are_those_of_the_very_candidates(recbole_python: Path, tmp_path: Path) -> None:
    """EASE has one right answer; what was not trained on falls back as stated."""
    done = run(recbole_python, tmp_path / "c", "EASE", reg_weight=2.0)
    table, clicks = ease(2.0), np.array([1, 2, 2, 1, 1, 2, 1, 1, 1, 2, 0, 0])
    expected: list[float] = []
    for user, shown in zip(made.test().user, made.test().candidates, strict=True):
        for row in shown:
            cold = row in made.COLD_NEWS
            known = table[user].mean() if cold else table[user, row]
            expected.append(clicks[row] if user == made.COLD_USER else known)
    assert scores_of(done) == pytest.approx(np.array(expected), abs=1e-5)
    assert done.told["counts"] == {
        "impressions": 5, "impressions_of_unknown_readers": 1, "candidates": 15,
        "candidates_not_trained_on": 2, "trained_clicks": 14, "trained_readers": 5,
        "trained_articles": 10,
    }  # fmt: skip
    assert done.told["versions"]["recbole"] == "1.2.1"
    assert "readers of 1 of 5 impressions (get popularity)" in done.line()
    again = run(recbole_python, tmp_path / "c", "EASE", reg_weight=2.0)
    assert again.reused
    assert again.told == done.told


def test_sequences_come_from_the_history_of_the_impression(
    recbole_python: Path, tmp_path: Path
) -> None:
    """Not from the reader: the same history gives the same score, another one another, whoever
    reads; a part of the impressions scores as in the whole."""
    rows = [
        (0, [0, 1, 2], [6, 4, 10], [6]),
        (made.COLD_USER, [0, 1, 2], [4, 6, 9], [9]),
        (0, [5, 9], [6, 4, 3], [4]),
        (1, [10], [2, 10, 6], [2]),
        (1, [10, 0, 11, 1, 2], [6, 4], [4]),
    ]
    whole = made.impressions("c", 2, rows)
    done = run(recbole_python, tmp_path / "a", "GRU4Rec", whole)
    a, b, c, d, e = np.split(scores_of(done), [3, 6, 9, 12])
    assert a[0] == pytest.approx(b[1])
    assert a[1] == pytest.approx(b[0])
    assert e == pytest.approx(a[:2])
    assert abs(a[0] - c[0]) > 1e-6
    # Nothing of [10] was trained on: clicks in training.
    assert d.tolist() == [2, 0, 1]
    part = run(recbole_python, tmp_path / "b", "GRU4Rec", whole.take(np.array([2, 0])))
    assert scores_of(part) == pytest.approx(np.concatenate([c, a]), abs=1e-6)


def test_a_failed_training_leaves_its_log_and_what_was_there(
    recbole_python: Path, tmp_path: Path
) -> None:
    corpus, of = made.corpus(tmp_path / "c"), versions(recbole_python)
    place = tmp_path / "newsrec-data" / "recbole" / f"odd-{corpus.fingerprint}"
    wrong = Training("BPR", {"embeding_size": 3}, epochs=1)
    with pytest.raises(DataError, match=r"BPR has no option 'embeding_size'; log: ") as error:
        trained(corpus, wrong, 1, recbole_python, of)
    assert "\n" not in str(error.value)
    log = Path(str(error.value).rpartition("log: ")[2])
    assert log.is_file()
    assert [path.name for path in place.iterdir()] == [log.name]
    diverging = Training("GRU4Rec", {"learning_rate": 1e30}, epochs=5)
    with pytest.raises(DataError, match=r"(loss is nan|not finite).*log: "):
        trained(corpus, diverging, 1, recbole_python, of)
    assert not [path for path in place.iterdir() if path.is_dir()]


def test_the_job_says_nothing_of_the_labels(recbole_python: Path, tmp_path: Path) -> None:
    """What the worker gets is the same for other clicks in the measured split."""
    from dataclasses import replace

    flipped = made.test()
    assert flipped.clicked is not None
    flipped = replace(flipped, clicked=~flipped.clicked)
    for name, test in (("a", made.test()), ("b", flipped)):
        corpus = made.corpus(tmp_path / "c" / name, train=made.train(), test=test)
        found = training_events(corpus, ("train",), "test", measured_readers=True)
        write_job(tmp_path / name, corpus, Training("BPR", {}), 1, found)
    for path in ("clicks/clicks.inter", "job.json"):
        assert (tmp_path / "a" / path).read_bytes() == (tmp_path / "b" / path).read_bytes()
    with (
        np.load(tmp_path / "a" / "arrays.npz") as one,
        np.load(tmp_path / "b" / "arrays.npz") as two,
    ):
        assert one.files == two.files
        assert all(np.array_equal(one[name], two[name]) for name in one.files)


def test_recbole_is_as_new_as_its_pins_say(recbole_python: Path) -> None:
    found = versions(recbole_python)
    assert found["recbole"] == "1.2.1"
    assert int(found["numpy"].split(".")[0]) < 2
