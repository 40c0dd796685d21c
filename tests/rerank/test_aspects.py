"""xQuAD and PM-2 against their formulas, written out over a matrix P(article | class)."""

from __future__ import annotations

import numpy as np
import pytest

from newsrec.errors import ConfigError, DataError
from newsrec.rerank import Pm2, XQuad
from newsrec.types import Pool
from tests.rerank.greedily import greedily, relevance
from tests.rerank.made import drawn, pool_of


def wanted(pool: Pool, exploration: float) -> dict[int, float]:
    """P(class | reader): the history's share and an even share of the classes on offer."""
    offered = {int(c) for c in pool.aspects["category"] if c >= 0}
    read = [int(c) for c in pool.history["category"] if c >= 0]
    if not read:
        return {c: 1 / len(offered) for c in offered}
    return {
        c: (1 - exploration) * read.count(c) / len(read)
        + exploration * (c in offered) / len(offered)
        for c in offered | set(read)
    }


def serves(pool: Pool, satisfaction: float) -> list[dict[int, float]]:
    """P(article | class) of each candidate, only where it is not 0."""
    classes = pool.aspects["category"].tolist()
    pairs = zip(classes, relevance(pool), strict=True)
    return [{c: satisfaction * r} if c >= 0 else {} for c, r in pairs]


def xquad(pool: Pool, w: float, exploration: float, satisfaction: float, k: int) -> list[int]:
    """(1 - λ) P(d) + λ Σ_a P(a) P(d|a) Π_j (1 - P(j|a))."""
    relevances, p = relevance(pool), serves(pool, satisfaction)
    weights = wanted(pool, exploration)

    def worth(chosen: list[int]) -> float:
        *before, last = chosen
        new = sum(
            weight * p[last].get(a, 0) * np.prod([1 - p[j].get(a, 0) for j in before])
            for a, weight in weights.items()
        )
        return w * relevances[last] + (1 - w) * float(new)

    return greedily(pool, worth, k)


def pm2(pool: Pool, w: float, exploration: float, focus: float, k: int) -> list[int]:
    """λ qt[i*] P(d|i*) + (1 - λ) Σ_{i ≠ i*} qt[i] P(d|i), quotients over the largest."""
    relevances, p = relevance(pool), serves(pool, 1)
    weights = wanted(pool, exploration)
    classes = pool.aspects["category"].tolist()

    def worth(chosen: list[int]) -> float:
        *before, last = chosen
        places = {a: sum(classes[j] == a for j in before) for a in weights}
        quotients = {
            a: weight / (2 * places[a] + 1) if places[a] < classes.count(a) else 0.0
            for a, weight in weights.items()
        }
        due = max(sorted(quotients), key=lambda a: quotients[a])
        most = quotients[due] or 1.0
        others = sum(quotients[a] / most * p[last].get(a, 0) for a in weights if a != due)
        new = focus * quotients[due] / most * p[last].get(due, 0) + (1 - focus) * others
        return w * relevances[last] + (1 - w) * new

    return greedily(pool, worth, k)


@pytest.mark.parametrize("w", [0.0, 0.3, 0.7, 0.95])
@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize(("exploration", "other"), [(0.0, 1.0), (0.5, 0.5), (1.0, 0.8)])
def test_equal_their_formulas(seed: int, w: float, exploration: float, other: float) -> None:
    pool = drawn(np.random.default_rng(seed), n=30, n_classes=5)
    for k in (1, 8, 30):
        found = XQuad(w, exploration=exploration, satisfaction=other, k=k)(pool)
        assert found.tolist() == xquad(pool, w, exploration, other, k)
        found = Pm2(w, exploration=exploration, focus=other, k=k)(pool)
        assert found.tolist() == pm2(pool, w, exploration, other, k)


def test_xquad_by_hand() -> None:
    # Wanted 0.5 each; relevance 1, 0.9, 0.6, 0. First: 0.25, 0.225, 0.15 (class 0, 0, 1).
    # Then class 0 is served to one half: 0.225 / 2 = 0.1125 against 0.15.
    pool = pool_of([10, 9, 6, 0], aspects={"category": [0, 0, 1, -1]})
    assert XQuad(0.0)(pool).tolist() == [0, 2, 1, 3]


def test_pm2_shares_places_as_seats_are_shared() -> None:
    """History 2 : 1, so that the quotients 2/3, 1/3; 2/9, 1/3; 2/9, 1/9; 2/15, 1/9; 2/21, 1/9 give
    places to a, b, a, a, b."""
    scores = [1 - i / 1000 for i in range(12)]
    pool = pool_of(
        scores,
        aspects={"theme": [0] * 6 + [1] * 6},
        history={"theme": [0, 1, 0]},
    )
    order = Pm2(0.0, aspect="theme", exploration=0, focus=1)(pool).tolist()
    assert ["ab"[i // 6] for i in order[:5]] == ["a", "b", "a", "a", "b"]
    assert order[:5] == [0, 6, 1, 2, 7]


def test_classes_that_the_history_lacks_are_explored() -> None:
    """All was read in class 0, which has the best scores; exploration brings the others."""
    pool = pool_of(
        [9, 8.9, 8.8, 8.7, 8.6, 8.5, 0],
        aspects={"category": [0, 0, 0, 0, 1, 2, -1]},
        history={"category": [0, 0, 0]},
    )
    for make in (XQuad, Pm2):
        kept = make(0.0, exploration=0.0)(pool).tolist()
        assert kept[0] == 0
        explored = make(0.0, exploration=1.0)(pool).tolist()
        assert set(explored[:3]) == {0, 4, 5}
    assert Pm2(0.0, exploration=0.0)(pool).tolist()[:4] == [0, 1, 2, 3]


def test_an_aspect_that_nobody_has_is_refused() -> None:
    pool = pool_of([1, 2], aspects={"category": [0, 1], "story": [1, 1]})
    for make in (XQuad, Pm2):
        with pytest.raises(DataError, match="no aspect 'theme'; they have: category, story"):
            make(aspect="theme")(pool)


@pytest.mark.parametrize("option", ["exploration", "focus", "satisfaction"])
@pytest.mark.parametrize("value", [-0.1, 1.1, float("nan"), "0.5"])
def test_shares_outside_0_to_1_are_refused(option: str, value: object) -> None:
    for make in (XQuad, Pm2):
        if option in make.__slots__:
            with pytest.raises(ConfigError, match=rf"{option}: .*, expected a number from 0 to 1"):
                make(**{option: value})
