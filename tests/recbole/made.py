"""A small corpus with ids that a careless reader would lose, cold readers and cold articles."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from newsrec.corpus import Corpus, write_corpus
from newsrec.types import Impressions, NewsTable, Ragged, Strings, Texts

IDS = ("NA", "null", 'say "hi"', "a b", "新聞", "100%", "x\ty", "nan", "N8", "N9", "never", "-nan")
USERS = ("u1", "NA", "ü 3", "None", "u5", "stranger")
#: Rows that no training click names.
COLD_NEWS, COLD_USER = (10, 11), 5
DAY = np.datetime64("2026-03-01T00:00:00", "s")


def corpus(folder: Path, **splits: Impressions) -> Corpus:
    """English for all articles, Finnish for the even ones; `train`, `valid` and `test` unless
    ``splits`` are given."""
    n = len(IDS)
    news = NewsTable(
        ids=np.array(IDS),
        category=np.array([0, 1, -1] * (n // 3), np.int16),
        subcategory=np.full(n, -1, np.int16),
        category_names=("sport", "arts & life"),
        subcategory_names=(),
        published=np.where(np.arange(n) == 3, np.datetime64("NaT", "s"), DAY + np.arange(n)),
        story=np.arange(n).astype(np.int32) // 2,
    )
    return write_corpus(
        folder,
        name="odd",
        news=news,
        users=np.array(USERS),
        texts=[texts("eng", np.ones(n, np.bool_)), texts("fin", np.arange(n) % 2 == 0)],
        splits=splits or {"train": train(), "valid": valid(), "test": test()},
    )


def texts(language: str, present: np.ndarray) -> Texts:
    titles = [f"{language} title number {i}" if p else "" for i, p in enumerate(present)]
    return Texts(language, Strings.pack(titles), Strings.pack([""] * len(titles)), present)


def impressions(
    name: str, day: int, rows: Sequence[tuple[int, Sequence[int], Sequence[int], Sequence[int]]]
) -> Impressions:
    """``rows``: (reader, history, candidates, clicked of those), an hour apart."""
    n = len(rows)
    return Impressions(
        ids=np.array([f"{name}{i}" for i in range(n)]),
        user=np.array([row[0] for row in rows], np.int32),
        time=DAY + np.timedelta64(day * 24, "h") + np.arange(n) * np.timedelta64(3600, "s"),
        history=Ragged.from_lists([row[1] for row in rows]),
        history_of=np.arange(n, dtype=np.int32),
        candidates=Ragged.from_lists([row[2] for row in rows]),
        clicked=np.array([c in row[3] for row in rows for c in row[2]], np.bool_),
    )


def train() -> Impressions:
    return impressions("a", 0, [
        (0, [0, 1], [2, 3, 4], [2]),
        (1, [5], [2, 6], [6]),
        (2, [], [7, 8, 9], [7, 9]),
        (0, [0, 1, 2, 5], [3, 0], [3, 0]),
        (3, [4, 4], [2, 8], [2]),
        (4, [9, 8], [2, 1], [1]),
    ])  # fmt: skip


def valid() -> Impressions:
    return impressions("b", 1, [(0, [0, 1, 2, 5, 3], [8, 9], [8]), (3, [4], [10, 0], [10])])


def test() -> Impressions:
    return impressions("c", 2, [
        (0, [0, 1, 2, 5, 3, 8], [6, 10, 9], [6]),
        (1, [5, 6], [2, 11, 4, 7], [4, 7]),
        (COLD_USER, [10], [2, 10, 1], [1]),
        (3, [4, 10], [0, 3], [0]),
        (4, [], [5, 6, 2], [2]),
    ])  # fmt: skip


def relabelled(split: Impressions, rng: np.random.Generator) -> Impressions:
    """The same lists with other clicks and other histories."""
    assert split.clicked is not None
    history = split.history.like(rng.integers(0, len(IDS), len(split.history.values)))
    return replace(split, clicked=~split.clicked, history=history)
