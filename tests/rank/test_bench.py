"""The benchmark of training heads runs."""

from __future__ import annotations

from tests.bench.heads import train


def test_every_head_is_timed_beside_products() -> None:
    for name in ("naml", "manner"):
        found = train(name, n=400, n_news=300, seconds=0.0)
        assert found["impressions_per_s"] > 0
        assert found["flop_per_s"] > 0
        assert found["product_per_s"] > 0
