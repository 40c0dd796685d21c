"""Re-rankers by name."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from newsrec.errors import ConfigError, DataError
from newsrec.rerank import RERANKERS, Mmr, make_reranker
from tests.rerank.made import drawn


def test_a_name_and_options_make_one() -> None:
    assert make_reranker("mmr", relevance_weight=0.25, k=3) == Mmr(0.25, 3)


def test_unknown_names_and_options_are_said_from_the_table() -> None:
    with pytest.raises(ConfigError, match=r"unknown re-ranker 'mrr'; known: .*mmr.*mean 'mmr'"):
        make_reranker("mrr")
    with pytest.raises(ConfigError, match=r"option of re-ranker 'mmr' 'aspect'; known: k, relev"):
        make_reranker("mmr", aspect="topic")


@pytest.mark.parametrize("name", RERANKERS)
def test_every_one_takes_a_relevance_weight(name: str) -> None:
    assert "relevance_weight" in RERANKERS[name].options


@pytest.mark.parametrize("name", RERANKERS)
def test_needs_are_what_it_cannot_do_without(name: str) -> None:
    """What is not named among ``needs`` may be missing; vectors and aspects that are may not."""
    pool = drawn(np.random.default_rng(0))
    optional: dict[str, Any] = {"vectors": None, "aspects": {}, "history": {}, "language": None}
    for part, nothing in optional.items():
        less = replace(pool, affinity={}, **{part: nothing})
        if part in RERANKERS[name].needs and part != "history":
            with pytest.raises(DataError, match="the candidates have no"):
                make_reranker(name)(less)
        else:
            assert len(make_reranker(name)(less)) == len(pool)
