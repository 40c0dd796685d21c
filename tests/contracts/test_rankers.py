"""What every ranker promises. One row per implementation: a new ranker adds a line to `ROWS`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, fields, is_dataclass
from typing import Any

import numpy as np
import pytest

from newsrec.protocols import Ranker
from newsrec.rank import (
    CategoryProfile,
    ClickLog,
    ColdStart,
    LateFusion,
    Popularity,
    Random,
    Recency,
    StoredScores,
    TfIdf,
    WithFallback,
)
from newsrec.types import Impressions, Ragged
from tests.rank.heads.trained import SMALL, trained
from tests.synthetic import Known, known_answer, popular_log, topic_texts


@dataclass(frozen=True)
class Case:
    """``make`` builds the ranker for a corpus; ``answer`` is what it must find (None: nothing);
    ``corpus`` are options of `known_answer`."""

    make: Callable[[Known], Ranker]
    answer: str | None = "topic"
    corpus: dict[str, Any] = field(default_factory=dict)


def cold(known: Known) -> ColdStart:
    return ColdStart(ClickLog.of(popular_log(known)))


def tfidf(known: Known) -> TfIdf:
    return TfIdf.fit(topic_texts(known.news, np.random.default_rng(5)), bits=14)


def stored(known: Known) -> StoredScores:
    """What late fusion said, kept."""
    return StoredScores(known.impressions, LateFusion().score(known.impressions, known.features))


RAW = {"normalized": False}
CROSS = {"languages": ("deu", "fin")}

ROWS: dict[str, Case] = {
    "fusion": Case(lambda _: LateFusion()),
    "fusion raw": Case(lambda _: LateFusion(), corpus=RAW),
    "fusion raw made unit": Case(lambda _: LateFusion(normalize=True), corpus=RAW),
    "fusion oldest": Case(lambda _: LateFusion(history_limit=3, newest=False)),
    "fusion whole history": Case(lambda _: LateFusion(history_limit=None)),
    "fusion uncentred": Case(lambda _: LateFusion(centre="none")),
    "fusion one mean": Case(lambda _: LateFusion(centre="global")),
    "fusion centred, not unit": Case(lambda _: LateFusion(centre="language", normalize=False)),
    "fusion one thread": Case(lambda _: LateFusion(threads=1)),
    "fusion across languages": Case(lambda _: LateFusion(), corpus=CROSS),
    "fusion with fallback": Case(lambda k: WithFallback(LateFusion(), cold(k))),
    "tfidf": Case(tfidf),
    "category-profile": Case(lambda _: CategoryProfile()),
    "popularity": Case(lambda k: Popularity(ClickLog.of(popular_log(k))), "popular"),
    "recency": Case(lambda _: Recency(), "recent"),
    "stored scores": Case(stored),
    "cold start": Case(cold, None),
    "random": Case(lambda _: Random(3), None),
    **{f"head {name}": Case(lambda k, name=name: trained(name, k)) for name in SMALL},
    "head caum across languages": Case(lambda k: trained("caum", k), corpus=CROSS),
    "head mins across languages, raw": Case(lambda k: trained("mins", k), corpus=CROSS | RAW),
}


@pytest.fixture(params=ROWS)
def case(request: pytest.FixtureRequest) -> Case:
    return ROWS[request.param]


def corpus_of(case: Case, seed: int = 0, **options: Any) -> Known:
    chosen = {"answer": case.answer or "topic", **case.corpus, **options}
    return known_answer(np.random.default_rng(seed), **chosen)


def auc(impressions: Impressions, scores: np.ndarray) -> np.ndarray:
    """Per impression; a tie counts half."""
    assert impressions.clicked is not None
    out = []
    for s, y in zip(
        impressions.candidates.like(scores),
        impressions.candidates.like(impressions.clicked),
        strict=True,
    ):
        above = s[y][:, None] - s[~y][None]
        out.append(((above > 0) + 0.5 * (above == 0)).mean())
    return np.array(out)


def arrays(thing: Any) -> list[np.ndarray]:
    """Every array inside a noun, however deep."""
    if isinstance(thing, np.ndarray):
        return [thing]
    if is_dataclass(thing):
        return [a for f in fields(thing) for a in arrays(getattr(thing, f.name))]
    if isinstance(thing, dict):
        return [a for value in thing.values() for a in arrays(value)]
    return []


def test_is_a_ranker_with_one_finite_float32_per_candidate(case: Case) -> None:
    known = corpus_of(case)
    ranker = case.make(known)
    assert isinstance(ranker, Ranker)
    scores = ranker.score(known.impressions, known.features)
    assert scores.shape == known.impressions.candidates.values.shape
    assert scores.dtype == np.float32
    assert np.isfinite(scores).all()


def test_a_subset_scores_the_same_as_in_the_whole_set(case: Case) -> None:
    known = corpus_of(case, empty=0.3)
    ranker = case.make(known)
    whole = ranker.score(known.impressions, known.features)
    rng = np.random.default_rng(1)
    for size in (1, 7, 40):
        rows = rng.permutation(len(known.impressions))[:size]
        part = ranker.score(known.impressions.take(rows), known.features)
        assert np.array_equal(part, whole[known.impressions.candidates.positions(rows)])


def test_permuted_candidates_give_permuted_scores(case: Case) -> None:
    known = corpus_of(case, empty=0.3)
    ranker = case.make(known)
    impressions, rng = known.impressions, np.random.default_rng(2)
    shuffled = np.concatenate(
        [a + rng.permutation(n) for a, n in zip(
            impressions.candidates.offsets, impressions.candidates.lengths, strict=False)]
    )  # fmt: skip
    permuted = Impressions(
        impressions.ids,
        impressions.user,
        impressions.time,
        impressions.history,
        impressions.history_of,
        impressions.candidates.like(impressions.candidates.values[shuffled]),
    )
    scores = ranker.score(impressions, known.features)
    assert np.array_equal(ranker.score(permuted, known.features), scores[shuffled])


def test_an_empty_history_is_finite(case: Case) -> None:
    known = corpus_of(case, empty=1.0)
    assert known.impressions.history.lengths.sum() == 0
    assert np.isfinite(case.make(known).score(known.impressions, known.features)).all()


def test_no_impressions_and_lists_without_candidates_are_fine(case: Case) -> None:
    known = corpus_of(case)
    ranker = case.make(known)
    none = known.impressions.take(np.zeros(0, np.int64))
    assert ranker.score(none, known.features).shape == (0,)
    first = known.impressions.candidates.owner() > 0
    bare = known.impressions.keep_candidates(first)
    whole = ranker.score(known.impressions, known.features)
    assert np.array_equal(ranker.score(bare, known.features), whole[first])


def test_inputs_are_unchanged(case: Case) -> None:
    known = corpus_of(case, empty=0.3)
    ranker = case.make(known)
    before = [a.copy() for thing in known for a in arrays(thing)]
    ranker.score(known.impressions, known.features)
    after = [a for thing in known for a in arrays(thing)]
    assert all(a.tobytes() == b.tobytes() for a, b in zip(before, after, strict=True))


def test_read_only_inputs_are_enough(case: Case) -> None:
    known = corpus_of(case, empty=0.3)
    ranker = case.make(known)
    for thing in known:
        for array in arrays(thing):
            array.flags.writeable = False
    ranker.score(known.impressions, known.features)


def test_made_twice_it_scores_the_same(case: Case) -> None:
    known = corpus_of(case)
    twice = [case.make(known).score(known.impressions, known.features) for _ in range(2)]
    assert np.array_equal(*twice)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("name", [name for name, case in ROWS.items() if case.answer])
def test_the_known_answer_is_found(name: str, seed: int) -> None:
    case = ROWS[name]
    known = corpus_of(case, seed)
    scores = case.make(known).score(known.impressions, known.features)
    assert auc(known.impressions, scores).mean() == 1.0


def test_the_answer_is_not_in_the_order_of_the_candidates() -> None:
    known = known_answer(np.random.default_rng(0), n_impressions=400)
    places = -Ragged.from_lists(
        [range(n) for n in known.impressions.candidates.lengths], np.float32
    ).values
    assert abs(auc(known.impressions, places).mean() - 0.5) < 0.05
