"""The export folder: every id, click and vector, written whole or not at all."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import yaml

from newsrec.errors import ConfigError, DataError
from newsrec.recbole.atomic import name_of, read_atomic
from newsrec.recbole.events import events
from newsrec.recbole.export import checked_languages, export, vectors_of
from newsrec.types import Embeddings
from tests.recbole import made


def embeddings(seed: int, present: np.ndarray) -> Callable[[], Embeddings]:
    from newsrec.types import EmbeddingSpec, EncoderSpec

    rng = np.random.default_rng(seed)
    vectors = rng.standard_normal((len(present), 4)).astype(np.float32)
    spec = EmbeddingSpec(EncoderSpec("e", "1", 4, "none", (4,), False), "eng", "title", "c")
    found = Embeddings(vectors, present, spec)
    return lambda: found


def test_clicks_come_back_with_their_ids(tmp_path: Path) -> None:
    corpus = made.corpus(tmp_path / "c")
    export(corpus, tmp_path / "set")
    for split, histories in (("train", True), ("valid", False), ("test", False)):
        table = read_atomic(tmp_path / "set" / f"set.{split}.inter")
        found = events(corpus.impressions(split), histories=histories)
        names = [made.USERS[u] for u in found.user], [made.IDS[i] for i in found.item]
        assert [name_of(t) for t in table["user_id:token"]] == names[0]
        assert [name_of(t) for t in table["item_id:token"]] == names[1]
        assert [int(t) for t in table["place:float"]] == found.place.tolist()
        seconds = [str(t.astype(np.int64)) if not np.isnat(t) else "" for t in found.time]
        assert table["timestamp:float"] == seconds


def test_readers_and_articles_are_all_there(tmp_path: Path) -> None:
    corpus = made.corpus(tmp_path / "c")
    counts = export(corpus, tmp_path / "set")
    users = read_atomic(tmp_path / "set" / "set.user")["user_id:token"]
    assert tuple(map(name_of, users)) == made.USERS
    items = read_atomic(tmp_path / "set" / "set.item")
    assert tuple(map(name_of, items["item_id:token"])) == made.IDS
    assert [name_of(t) for t in items["category:token"][:3]] == ["sport", "arts & life", ""]
    assert items["subcategory:token"] == [""] * len(made.IDS)
    assert items["published:float"][3] == ""
    assert items["published:float"][1] == str(made.DAY.astype(np.int64) + 1)
    assert counts["set.item"] == len(made.IDS)


def test_vectors_of_present_articles_come_back(tmp_path: Path) -> None:
    corpus = made.corpus(tmp_path / "c")
    get = embeddings(0, corpus.texts("fin").present)
    export(corpus, tmp_path / "set", embeddings={"fin": get})
    table = read_atomic(tmp_path / "set" / "set.itememb")
    assert tuple(map(name_of, table["iid:token"])) == made.IDS[::2]
    back = np.array([row.split(" ") for row in table["item_emb:float_seq"]], np.float32)
    assert np.array_equal(back, get().vectors[::2])


def test_several_languages_are_several_files(tmp_path: Path) -> None:
    corpus = made.corpus(tmp_path / "c")
    every = np.ones(len(made.IDS), np.bool_)
    found = {"eng": embeddings(1, every), "fin": embeddings(2, every)}
    export(corpus, tmp_path / "set", embeddings=found)
    for language, get in found.items():
        table = read_atomic(tmp_path / "set" / f"set.itememb_{language}")
        back = np.array([r.split(" ") for r in table[f"item_emb_{language}:float_seq"]], np.float32)
        assert np.array_equal(back, get().vectors)
    config = yaml.safe_load((tmp_path / "set" / "recbole.yaml").read_text())
    assert config["additional_feat_suffix"] == ["itememb_eng", "itememb_fin"]
    assert config["preload_weight"] == {"iid_eng": "item_emb_eng", "iid_fin": "item_emb_fin"}


def test_one_split_is_one_file(tmp_path: Path) -> None:
    corpus = made.corpus(tmp_path / "c")
    counts = export(corpus, tmp_path / "set", ["valid"])
    assert set(counts) == {"set.inter", "set.user", "set.item"}
    assert "benchmark_filename" not in (tmp_path / "set" / "recbole.yaml").read_text()


def test_the_training_file_does_not_know_the_later_splits(tmp_path: Path) -> None:
    rng = np.random.default_rng(1)
    other = {"train": made.train(), "valid": made.relabelled(made.valid(), rng),
             "test": made.relabelled(made.test(), rng)}  # fmt: skip
    export(made.corpus(tmp_path / "a"), tmp_path / "x" / "set")
    export(made.corpus(tmp_path / "b", **other), tmp_path / "y" / "set")
    one, two = (tmp_path / side / "set" / "set.train.inter" for side in "xy")
    assert one.read_bytes() == two.read_bytes()
    one, two = (tmp_path / side / "set" / "set.test.inter" for side in "xy")
    assert one.read_bytes() != two.read_bytes()


def test_an_older_export_is_replaced_and_nothing_else(tmp_path: Path) -> None:
    corpus, out = made.corpus(tmp_path / "c"), tmp_path / "set"
    out.mkdir()
    export(corpus, out)
    export(corpus, out, ["train"])
    names = {path.name for path in out.iterdir()}
    assert names == {"set.inter", "set.user", "set.item", "recbole.yaml", "newsrec.json"}
    (out / "thesis.txt").write_text("mine")
    with pytest.raises(DataError, match=r"holds 'thesis\.txt'"):
        export(corpus, out)
    assert (out / "thesis.txt").read_text() == "mine"
    (tmp_path / "photos").mkdir()
    (tmp_path / "photos" / "a.jpg").write_text("mine")
    with pytest.raises(DataError, match="no RecBole export"):
        export(corpus, tmp_path / "photos")
    with pytest.raises(DataError, match="is a file"):
        export(corpus, tmp_path / "photos" / "a.jpg")


def test_a_failure_leaves_the_old_export(tmp_path: Path) -> None:
    corpus, out = made.corpus(tmp_path / "c"), tmp_path / "set"
    export(corpus, out)
    before = {path.name: path.read_bytes() for path in out.iterdir()}

    def broken() -> Embeddings:
        raise DataError("no vectors")

    with pytest.raises(DataError, match="no vectors"):
        export(corpus, out, ["train"], {"eng": broken})
    assert {path.name: path.read_bytes() for path in out.iterdir()} == before
    assert [path.name for path in tmp_path.iterdir() if path.name.startswith(".set")] == []


def test_bad_words_are_answered(tmp_path: Path) -> None:
    corpus = made.corpus(tmp_path / "c")
    with pytest.raises(ConfigError, match="unknown split of corpus 'odd': 'dev'"):
        export(corpus, tmp_path / "set", ["dev"])
    with pytest.raises(ConfigError, match="--langs of corpus 'odd': 'jpn'"):
        checked_languages(corpus, ["jpn"])
    with pytest.raises(ConfigError, match="no language named"):
        checked_languages(corpus, [])
    with pytest.raises(ConfigError, match="option"):
        vectors_of(corpus, "mini:speed=9", ["eng"], "title")
    assert checked_languages(corpus, ["fi", "fin", "en"]) == ("fin", "eng")
    assert not (tmp_path / "set").exists()


def test_a_corpus_without_labels_is_refused(tmp_path: Path) -> None:
    from dataclasses import replace

    corpus = made.corpus(tmp_path / "c", blind=replace(made.test(), clicked=None))
    with pytest.raises(DataError, match="no labelled split"):
        export(corpus, tmp_path / "set")
    with pytest.raises(DataError, match="unlabelled split"):
        export(corpus, tmp_path / "set", ["blind"])


def test_the_manifest_says_whose_files_these_are(tmp_path: Path) -> None:
    corpus = made.corpus(tmp_path / "c")
    counts = export(corpus, tmp_path / "set")
    told = json.loads((tmp_path / "set" / "newsrec.json").read_text())
    assert told == {
        "format": "newsrec recbole export",
        "corpus": corpus.fingerprint,
        "rows": counts,
    }
