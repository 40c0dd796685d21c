"""The benchmark of training heads runs."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from newsrec.rank.articles import articles_of
from newsrec.rank.batches import ClickRows
from newsrec.rank.inputs import Inputs
from tests.bench.heads import mind_train, spread, train


def test_every_head_is_timed_beside_products() -> None:
    for name in ("naml", "manner"):
        found = train(name, n=400, n_news=300, seconds=0.0)
        assert found["impressions_per_s"] > 0
        assert found["flop_per_s"] > 0
        assert found["product_per_s"] > 0


def test_the_batches_timed_are_of_every_length_of_history(tmp_path: Path) -> None:
    impressions, features = mind_train(2000, 300, tmp_path)
    rows = ClickRows.of(impressions, articles_of(impressions, features, Inputs.of(features)))
    lengths = rows.articles.history.lengths[rows.history_of]
    batches = rows.batches(0, 8)
    chosen = spread(batches, rows)
    assert len(chosen) == 32 < len(batches)
    timed = np.concatenate(chosen)
    assert np.isclose(np.mean(lengths[timed]), np.mean(lengths), rtol=0.05)
    assert lengths[timed].min() <= np.quantile(lengths, 0.05)
    assert lengths[timed].max() == lengths.max()
