"""Batches hold every text once and never more than they may."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from newsrec.encode.batches import batches, padded

SPREADS = st.sampled_from([0, 0.2, 0.5, 1])
LENGTHS = st.lists(st.integers(0, 60), max_size=80).map(lambda x: np.array(x, np.int64))


@given(LENGTHS, st.integers(1, 300), st.none() | st.integers(1, 9), SPREADS)
def test_every_text_once_within_the_budget(lengths, budget, most, spread) -> None:  # type: ignore[no-untyped-def]
    made = list(batches(lengths, budget=budget, most=most, spread=spread))
    rows = np.concatenate([np.zeros(0, np.int64), *made])
    assert sorted(rows) == list(range(len(lengths)))
    assert list(lengths[rows]) == sorted(lengths, reverse=True)
    for batch in made:
        assert len(batch) >= 1
        assert len(batch) == 1 or len(batch) * lengths[batch].max() <= budget
        assert most is None or len(batch) <= most
        assert lengths[batch].min() >= lengths[batch].max() * (1 - spread)


@given(st.lists(st.lists(st.integers(1, 9), max_size=7), min_size=1, max_size=9), st.booleans())
def test_padding_hides_behind_the_mask(tokens: list[list[int]], left: bool) -> None:
    ids, mask = padded(tokens, 0, left=left)
    assert ids.shape == mask.shape == (len(tokens), max(map(len, tokens)))
    for row, i, m in zip(tokens, ids, mask, strict=True):
        assert list(i[m == 1]) == row
        assert not i[m == 0].any()
        assert list(m) == sorted(m, reverse=not left)
