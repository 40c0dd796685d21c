"""Small nouns for the tests of evaluate."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from newsrec.types import Impressions, NewsTable, Provenance, Ragged

PROVENANCE = Provenance("", {}, "", "corpus", {}, "newsrec", 42)


def impressions(
    lists: Sequence[Sequence[int]],
    clicked: Sequence[Sequence[bool | int]] | None,
    histories: Sequence[Sequence[int]] = ((),),
    history_of: Sequence[int] | None = None,
    users: Sequence[int] | None = None,
) -> Impressions:
    """``lists`` of news rows with their labels; by default nobody has a history."""
    n = len(lists)
    flat = None if clicked is None else [bool(x) for row in clicked for x in row]
    return Impressions(
        ids=np.asarray([f"I{i}" for i in range(n)], np.str_),
        user=np.asarray(range(n) if users is None else users, np.int32),
        time=np.full(n, np.datetime64("2019-11-15", "s")),
        history=Ragged.from_lists(histories),
        history_of=np.asarray([0] * n if history_of is None else history_of, np.int32),
        candidates=Ragged.from_lists(lists),
        clicked=None if flat is None else np.asarray(flat, np.bool_),
    )


def news(
    category: Sequence[int],
    subcategory: Sequence[int] | None = None,
    story: Sequence[int] | None = None,
    n_categories: int | None = None,
) -> NewsTable:
    """One article per category given; other columns unknown unless given."""
    n = len(category)
    sub = [-1] * n if subcategory is None else subcategory
    size = max(category, default=-1) + 1 if n_categories is None else n_categories
    return NewsTable(
        ids=np.asarray([f"N{i}" for i in range(n)], np.str_),
        category=np.asarray(category, np.int16),
        subcategory=np.asarray(sub, np.int16),
        category_names=tuple(f"c{i}" for i in range(size)),
        subcategory_names=tuple(f"s{i}" for i in range(max(sub, default=-1) + 1)),
        published=np.full(n, np.datetime64("NaT"), "datetime64[s]"),
        story=np.asarray([-1] * n if story is None else story, np.int32),
    )


def drawn(
    rng: np.random.Generator, n: int = 200, n_news: int = 60, longest: int = 12
) -> tuple[Impressions, NDArray[np.float32]]:
    """Random impressions with histories and scores with many ties; at least one click each."""
    lengths = rng.integers(2, longest + 1, n)
    lists = [rng.choice(n_news, size, replace=False).tolist() for size in lengths]
    labels = [(rng.random(size) < 0.2).tolist() for size in lengths]
    for row in labels:
        row[int(rng.integers(len(row)))] = True
    histories = [[]] + [rng.integers(0, n_news, rng.integers(1, 9)).tolist() for _ in range(40)]
    of = rng.integers(0, len(histories), n).tolist()
    made = impressions(lists, labels, histories, of, rng.integers(0, 30, n).tolist())
    return made, rng.integers(0, 5, int(lengths.sum())).astype(np.float32)
