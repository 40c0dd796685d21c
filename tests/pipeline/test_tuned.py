"""The diversities that a corpus was tuned to, read back."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from newsrec.corpus import Corpus
from newsrec.errors import StaleCacheError
from newsrec.pipeline.tuned import tuned_diversity, tuned_path, write_tuned
from tests.evaluate.shelves import write


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Corpus:
    return write(tmp_path_factory.mktemp("corpus") / "shelves")


def test_what_was_written_is_read(corpus: Corpus) -> None:
    assert tuned_diversity(corpus, "mmr") is None
    found = {"mmr": 0.3, "xquad:aspect=topic:focus=1": 1.0}
    write_tuned(
        tuned_path(corpus),
        {"corpus": corpus.fingerprint, "encoder": "mini", "diversity": found},
    )
    assert tuned_path(corpus).name == f"diversity-{corpus.fingerprint}.json"
    assert tuned_diversity(corpus, "mmr") == 0.3
    assert tuned_diversity(corpus, "xquad:focus=1:aspect=topic") == 1.0
    assert tuned_diversity(corpus, "xquad") is None
    assert tuned_diversity(corpus, "mmr", encoder="mini") == 0.3
    assert tuned_diversity(corpus, "mmr", encoder="labse") is None


@pytest.mark.parametrize(
    "damage",
    [
        b"", b"{", b"[]", b"3", b"\xff\xfe", b'{"format": 1}',
        b'{"format": 2, "corpus": "X", "diversity": {}, "encoder": ""}',
        b'{"format": 1, "corpus": "other", "diversity": {}, "encoder": ""}',
        b'{"format": 1, "corpus": "X", "diversity": [], "encoder": ""}',
        b'{"format": 1, "corpus": "X", "diversity": {"mmr": 2}, "encoder": ""}',
        b'{"format": 1, "corpus": "X", "diversity": {"mmr": NaN}, "encoder": ""}',
        b'{"format": 1, "corpus": "X", "diversity": {"mmr": "a"}, "encoder": ""}',
    ],
)  # fmt: skip
def test_a_damaged_file_says_how_to_make_it_again(corpus: Corpus, damage: bytes) -> None:
    path = tuned_path(corpus)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(damage.replace(b'"X"', json.dumps(corpus.fingerprint).encode()))
    with pytest.raises(StaleCacheError, match=r"diversity-.*newsrec tune-diversity --corpus"):
        tuned_diversity(corpus, "mmr")


def test_a_folder_in_its_place_is_no_file(corpus: Corpus, tmp_path: Path) -> None:
    tuned_path(corpus).mkdir(parents=True)
    assert tuned_diversity(corpus, "mmr") is None
