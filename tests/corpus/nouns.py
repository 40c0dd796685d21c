"""Small random nouns for the tests of the corpus folder."""

from __future__ import annotations

from typing import Any

import numpy as np

from newsrec.types import Impressions, NewsTable, Ragged, Strings, Texts

N_NEWS = 6
USERS = np.array(["U1", "U22", "ü3"])


def news_table(ids: Any = ("N1", "N22", "n-3", "新聞", "N5", "N6")) -> NewsTable:
    n = len(ids)
    return NewsTable(
        ids=np.array(ids),
        category=np.array([0, 1, -1, 0, 1, -1][:n], np.int16),
        subcategory=np.array([0, -1, -1, 1, 0, -1][:n], np.int16),
        category_names=("sport", "politikk"),
        subcategory_names=("ski", "fotball"),
        published=np.array(["2026-01-01T10:00:00"] * (n - 1) + ["NaT"], "datetime64[s]"),
        story=np.array([0, 0, -1, 1, 1, -1][:n], np.int32),
        entities=Ragged.from_lists([[0], [], [1, 0], [], [], []][:n]),
        entity_names=("Q1", "Q\n2"),
    )


def shelf(language: str, *, body: bool = False, n: int = N_NEWS) -> Texts:
    titles = [f"{language} {i} ñ ไ 🗞" if i % 2 else "" for i in range(n)]
    return Texts(
        language=language,
        title=Strings.pack(titles),
        abstract=Strings.pack([""] * n),
        present=np.array([bool(t) for t in titles]),
        body=Strings.pack(["b"] * n) if body else None,
    )


def impressions(*, labelled: bool = True) -> Impressions:
    candidates = Ragged.from_lists([[0, 1, 2], [], [5]])
    return Impressions(
        ids=np.array(["1", "2", "30"]),
        user=np.array([0, 2, 0], np.int32),
        time=np.array(["2026-01-02", "2026-01-03", "2026-01-04"], "datetime64[s]"),
        history=Ragged.from_lists([[], [3, 4, 3]]),
        history_of=np.array([1, 0, 1], np.int32),
        candidates=candidates,
        clicked=np.array([True, False, False, True]) if labelled else None,
    )


def same(left: Any, right: Any) -> None:
    """Two nouns with equal content, field by field."""
    for name in left.__slots__:
        a, b = getattr(left, name), getattr(right, name)
        if isinstance(a, Ragged):
            same(a, b)
        elif isinstance(a, Strings):
            assert list(a) == list(b), name
        elif isinstance(a, np.ndarray):
            np.testing.assert_array_equal(a, b, err_msg=name)
        else:
            assert a == b, name
