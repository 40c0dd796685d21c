"""Scores from a file: found again by impression and article, refused when they are of others."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from newsrec.errors import ConfigError, DataError
from newsrec.rank import StoredScores
from newsrec.rank.stored import describe
from tests.synthetic import Known, known_answer


@pytest.fixture(scope="module")
def known() -> Known:
    return known_answer(np.random.default_rng(0), n_impressions=30)


def scores_of(known: Known, seed: int = 0) -> np.ndarray:
    n = len(known.impressions.candidates.values)
    return np.random.default_rng(seed).standard_normal(n).astype(np.float32)


def put(path: Path, scores: np.ndarray, said: dict[str, object] | None = None) -> str:
    np.save(path, scores)
    if said is not None:
        path.with_suffix(".json").write_text(json.dumps(said))
    return str(path)


def test_each_seed_has_its_file(known: Known, tmp_path: Path) -> None:
    for seed in (1, 2):
        put(tmp_path / f"s{seed}.npy", scores_of(known, seed), describe(known.impressions))
    for seed in (1, 2):
        ranker = StoredScores.open(seed, known.impressions, str(tmp_path / "s{seed}.npy"))
        found = ranker.score(known.impressions, known.features)
        assert np.array_equal(found, scores_of(known, seed))


def test_a_file_without_description_is_taken_by_its_length(known: Known, tmp_path: Path) -> None:
    file = put(tmp_path / "s.npy", scores_of(known))
    StoredScores.open(0, known.impressions, file)
    with pytest.raises(DataError, match=r"s\.npy: float32 \(\d+,\), expected float32 \(\d+,\)"):
        StoredScores.open(0, known.impressions.take(np.arange(9)), file)


def test_scores_of_other_impressions_are_refused(known: Known, tmp_path: Path) -> None:
    turned = known.impressions.take(np.arange(30)[::-1])
    file = put(tmp_path / "s.npy", scores_of(known), describe(turned))
    with pytest.raises(DataError, match="scores of other impressions"):
        StoredScores.open(0, known.impressions, file)


@pytest.mark.parametrize("said", ["[]", "{}", "no json"])
def test_a_description_that_says_nothing_is_refused(
    known: Known, tmp_path: Path, said: str
) -> None:
    file = put(tmp_path / "s.npy", scores_of(known))
    (tmp_path / "s.json").write_text(said)
    with pytest.raises(DataError, match=r"s\.json"):
        StoredScores.open(0, known.impressions, file)


@pytest.mark.parametrize("content", [b"", b"\x93NUMPY nonsense", b"a,b\n1,2\n"])
def test_what_is_no_array_is_refused(known: Known, tmp_path: Path, content: bytes) -> None:
    (tmp_path / "s.npy").write_bytes(content)
    with pytest.raises(DataError, match=r"s\.npy: cannot be read as \.npy"):
        StoredScores.open(0, known.impressions, str(tmp_path / "s.npy"))


def test_pickles_and_archives_are_refused(known: Known, tmp_path: Path) -> None:
    np.save(tmp_path / "s.npy", np.array([{"a": 1}], object), allow_pickle=True)
    with pytest.raises(DataError, match="cannot be read"):
        StoredScores.open(0, known.impressions, str(tmp_path / "s.npy"))
    np.savez(tmp_path / "s.npz", scores_of(known))
    with pytest.raises(DataError, match="an archive of arrays"):
        StoredScores.open(0, known.impressions, str(tmp_path / "s.npz"))


def test_a_missing_file_and_no_file_are_said(known: Known, tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"none\.npy: cannot be read"):
        StoredScores.open(0, known.impressions, str(tmp_path / "none.npy"))
    with pytest.raises(ConfigError, match="expected file=SCORES"):
        StoredScores.open(0, known.impressions)


def test_other_numbers_are_refused(known: Known, tmp_path: Path) -> None:
    file = put(tmp_path / "s.npy", scores_of(known).astype(np.float64))
    with pytest.raises(DataError, match="float64"):
        StoredScores.open(0, known.impressions, file)


def test_what_was_not_scored_is_named(known: Known) -> None:
    part = known.impressions.take(np.arange(5))
    ranker = StoredScores(part, scores_of(known)[: len(part.candidates.values)])
    unscored = str(known.impressions.ids[5])
    with pytest.raises(DataError, match=f"no scores of impression '{unscored}'"):
        ranker.score(known.impressions, known.features)
    other = replace(
        part, candidates=part.candidates.like((part.candidates.values + 1) % len(known.news.ids))
    )
    with pytest.raises(DataError, match="no score of article"):
        ranker.score(other, known.features)


def test_an_impression_id_that_occurs_twice_is_refused(known: Known) -> None:
    ids = known.impressions.ids.copy()
    ids[1] = ids[0]
    twice = replace(known.impressions, ids=ids)
    with pytest.raises(DataError, match="occurs twice"):
        StoredScores(twice, scores_of(known)).score(twice, known.features)
