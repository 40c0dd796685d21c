"""The corpus of a reproduction: prepared from MIND's files, or a small part of one."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from newsrec.corpus import Corpus
from newsrec.errors import ConfigError, DataError
from newsrec.pipeline.open import open_corpus
from newsrec.pipeline.paper.corpora import SMALL, count_lines, prepared, small_part
from newsrec.types import Impressions

SPLITS = {"train": "train", "valid": "valid", "test": "test"}


def lists(corpus: Corpus, impressions: Impressions) -> list[tuple[object, ...]]:
    """Impressions by their ids, whatever rows they have."""
    ids = corpus.news.ids
    return [
        (
            str(impressions.ids[i]),
            ids[impressions.history[int(impressions.history_of[i])]].tolist(),
            ids[impressions.candidates[i]].tolist(),
        )
        for i in range(len(impressions))
    ]


def test_a_small_part_says_what_the_whole_says(tmp_path: Path) -> None:
    whole = open_corpus()
    part = small_part(whole, tmp_path / "part", SPLITS, "eng", ["eng", "fin"])
    assert part.languages == ("eng", "fin")
    assert {x: len(part.impressions(x)) for x in part.splits} == SMALL
    for split in part.splits:
        known = {x[0]: x for x in lists(whole, whole.impressions(split))}
        for found in lists(part, part.impressions(split)):
            assert found == known[found[0]]
    rows = whole.news.rows(part.news.ids)
    for language in part.languages:
        here, there = part.texts(language), whole.texts(language)
        assert here.view("title+abstract", np.arange(len(rows))) == there.view(
            "title+abstract", rows
        )
    assert (part.impressions("train").history_lengths > 0).all()


def test_a_small_part_is_the_same_each_time(tmp_path: Path) -> None:
    whole = open_corpus()
    first, second = (small_part(whole, tmp_path / x, SPLITS, "eng", ["eng"]) for x in "ab")
    assert first.fingerprint == second.fingerprint


def test_counts_are_beside_the_papers() -> None:
    lines, same = count_lines(open_corpus(), SPLITS)
    assert not same
    assert any("219 / 124,229  differs" in line for line in lines)
    assert any("139 / 70,938  differs" in line for line in lines)
    assert "say nothing about a reproduction" in lines[-1]
    held_out, _ = count_lines(open_corpus(), {**SPLITS, "valid": "0.1"})
    assert any("29,498  no split of its own" in line for line in held_out)


@pytest.fixture
def raw(tmp_path: Path) -> Path:
    """MIND's and xMIND's folders with a handful of news."""
    folder = tmp_path / "raw"
    news = "".join(
        f"N{i}\tnews\tsub{i % 2}\tHeadline number {i}\tWhat happened, part {i}\turl\t[]\t[]\n"
        for i in range(6)
    )
    for part, day in (("train", 12), ("train", 14), ("dev", 15)):
        where = folder / f"MINDsmall_{part}"
        where.mkdir(parents=True, exist_ok=True)
        (where / "news.tsv").write_text(news, "utf-8")
        with (where / "behaviors.tsv").open("a", encoding="utf-8") as file:
            file.writelines(
                f"{day * 10 + k}\tU{k}\t11/{day}/2019 9:0{k}:00 AM\tN0 N1\tN{2 + k}-1 N5-0\n"
                for k in range(3)
            )
    shelf = folder / "xmind" / "fin"
    shelf.mkdir(parents=True)
    lines = [f"N{i}\tOtsikko {i}\tMitä tapahtui {i}\n" for i in range(6)]
    (shelf / "news.tsv").write_text("nid\ttitle\tabstract\n" + "".join(lines), "utf-8")
    return folder


def test_raw_files_are_prepared_once(raw: Path, tmp_path: Path) -> None:
    first = prepared(raw, tmp_path / "out")
    assert first.languages == ("eng", "fin")
    assert {x: len(first.impressions(x)) for x in first.splits} == SPLITS_OF_RAW
    written = (first.folder / "corpus.json").stat().st_mtime_ns
    assert prepared(raw, tmp_path / "out").fingerprint == first.fingerprint
    assert (first.folder / "corpus.json").stat().st_mtime_ns == written


SPLITS_OF_RAW = {"train": 3, "valid": 3, "test": 3}


def test_another_raw_folder_needs_another_out(raw: Path, tmp_path: Path) -> None:
    prepared(raw, tmp_path / "out")
    raw.rename(tmp_path / "other")
    with pytest.raises(ConfigError, match="name another --out"):
        prepared(tmp_path / "other", tmp_path / "out")


def test_a_missing_raw_folder_is_said(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"--raw: .*nowhere: no such folder"):
        prepared(tmp_path / "nowhere", tmp_path / "out")
