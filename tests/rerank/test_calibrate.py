"""Calibration: every place is the best for the divergence, computed anew, and it falls."""

from __future__ import annotations

from math import log, log2

import numpy as np
import pytest

from newsrec.errors import ConfigError
from newsrec.evaluate.diversity import Listing, calibration_js, calibration_kl
from newsrec.evaluate.metrics import Ranking
from newsrec.rerank import Calibrated
from newsrec.types import Pool
from tests.evaluate import made
from tests.rerank.greedily import greedily, relevance
from tests.rerank.made import drawn, pool_of


def shares(classes: list[int], by_rank: bool) -> dict[int, float]:
    """Distribution over known classes; a place weighs 1 / rank or 1."""
    mass: dict[int, float] = {}
    for place, c in enumerate(classes):
        if c >= 0:
            mass[c] = mass.get(c, 0) + (1 / (place + 1) if by_rank else 1)
    return {c: m / sum(mass.values()) for c, m in mass.items()}


def kl(p: dict[int, float], q: dict[int, float]) -> float:
    """KL(p || 0.99 q + 0.01 p) over its largest value."""
    total = sum(x * log(x / (0.99 * q.get(c, 0) + 0.01 * x)) for c, x in p.items())
    return total / log(100) if q else 1.0


def js(p: dict[int, float], q: dict[int, float]) -> float:
    """In base 2."""
    if not q:
        return 1.0
    middle = {c: (p.get(c, 0) + q.get(c, 0)) / 2 for c in {*p, *q}}
    return sum(x * log2(x / middle[c]) / 2 for part in (p, q) for c, x in part.items())


@pytest.mark.parametrize("w", [0.0, 0.3, 0.7, 0.95])
@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize(("name", "divergence"), [("kl", kl), ("js", js)])
def test_equals_steck_s_objective_tried_out(
    name: str, divergence: object, seed: int, w: float
) -> None:
    pool = drawn(np.random.default_rng(seed), n=25, n_classes=5)
    relevances = relevance(pool)
    history = shares(pool.history["category"].tolist(), by_rank=False)
    classes = pool.aspects["category"].tolist()

    def worth(chosen: list[int]) -> float:
        apart = divergence(history, shares([classes[i] for i in chosen], by_rank=True))  # type: ignore[operator]
        return w * sum(relevances[i] for i in chosen) - (1 - w) * float(apart)

    for k in (1, 8, 25):
        assert Calibrated(w, divergence=name, k=k)(pool).tolist() == greedily(pool, worth, k)


def test_by_hand() -> None:
    # The reader reads 0 and 1 evenly. First 0 by score; then one of class 1 leaves shares 2/3 and
    # 1/3, one of class 0 leaves 1 and 0; third, 0 would give 8/11 and 3/11, 1 gives 6/11 and 5/11.
    pool = pool_of(
        [9, 8, 7, 6, 5, 4],
        aspects={"category": [0, 0, 0, 1, 1, -1]},
        history={"category": [0, 1, -1, 1, 0]},
    )
    assert Calibrated(0.0)(pool).tolist()[:3] == [0, 3, 4]
    assert Calibrated(0.0, divergence="js")(pool).tolist()[:3] == [0, 3, 4]


@pytest.mark.parametrize(("divergence", "metric"), [("kl", calibration_kl), ("js", calibration_js)])
def test_the_metric_of_the_report_falls_with_the_relevance_weight(
    divergence: str, metric: object
) -> None:
    rng = np.random.default_rng(7)
    news = made.news(rng.integers(0, 6, 300).tolist())
    found = {}
    for w in (1.0, 0.9, 0.6, 0.0):
        lists, histories = [], []
        draw = np.random.default_rng(8)
        for _ in range(60):
            rows = draw.choice(300, 60, replace=False)
            read = draw.choice(300, 8)
            pool = Pool(
                draw.standard_normal(60).astype(np.float32),
                aspects={"category": news.category[rows]},
                history={"category": news.category[read]},
            )
            order = Calibrated(w, divergence=divergence, k=10)(pool)
            lists.append(rows[order].tolist())
            histories.append(read.tolist())
        shown = made.impressions(lists, None, histories, list(range(60)))
        places = -np.tile(np.arange(60, dtype=np.float32), 60)
        listing = Listing(Ranking.of(places, shown), shown, news)
        found[w] = float(np.mean(metric(listing, 10)))  # type: ignore[operator]
    assert found[1.0] > found[0.9] > found[0.6] > found[0.0]
    assert found[0.0] < 0.2 * found[1.0]


def test_without_a_known_history_it_is_score_order() -> None:
    for history in ({}, {"category": np.full(3, -1)}, {"story": np.arange(3)}):
        pool = pool_of([1, 3, 2], aspects={"category": [0, 0, 1]}, history=history)
        assert Calibrated(0.0)(pool).tolist() == [1, 2, 0]


def test_an_unknown_divergence_names_those_there_are() -> None:
    with pytest.raises(ConfigError, match="unknown divergence 'kll'; known: js, kl"):
        Calibrated(divergence="kll")
