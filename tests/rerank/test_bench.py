"""The benchmark of this stage runs, and the plain way gives the same lists."""

from __future__ import annotations

from newsrec.rerank import RERANKERS
from tests.bench.rerank import PLAIN, news_like, ours, rows

SMALL = {"n": 120, "dim": 32}


def test_rows_are_whole() -> None:
    found = list(rows(quick=True))
    assert [row.name.split()[-1] for row in found] == list(RERANKERS)
    assert all(row.measured and row.peak_mb for row in found)


def test_the_plain_way_gives_the_same_lists() -> None:
    for name, plain in PLAIN.items():
        assert plain(news_like(**SMALL)) == ours(name, **SMALL)["first"]
