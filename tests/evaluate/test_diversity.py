from __future__ import annotations

import math
from collections import Counter
from dataclasses import replace

import numpy as np
import pytest

from newsrec.errors import DataError
from newsrec.evaluate.diversity import (
    DIVERSITY,
    Listing,
    NotInCorpus,
    calibration_js,
    calibration_kl,
    coverage,
    entropy,
    gini,
    intra_list_distance,
    jaccard,
    language_shares,
)
from newsrec.evaluate.metrics import Ranking
from newsrec.evaluate.radio import RADIO, TRAITS, finest_aspect, fragmentation
from newsrec.types import NewsTable, Ragged
from tests.evaluate.made import drawn, impressions, news

Counts = dict[int, float]
SEEDS = range(5)


def _listing(seed: int, known: float = 0.8, **more: object) -> Listing:
    """Random readers; some news have no category, some readers no history."""
    rng = np.random.default_rng(seed)
    made, scores = drawn(rng, n=120, n_news=60)
    codes = np.where(rng.random(60) < known, rng.integers(0, 5, 60), -1).tolist()
    table = news(codes, rng.integers(-1, 9, 60).tolist(), rng.integers(-1, 20, 60).tolist(), 6)
    vectors = rng.standard_normal((60, 4)).astype(np.float32)
    vectors[3] = 0
    more = {"aspects": {"theme": rng.integers(-1, 4, 60), "topic": rng.integers(-1, 8, 60)}, **more}
    return Listing(Ranking.of(scores, made), made, table, vectors, **more)  # type: ignore[arg-type]


def _tops(listing: Listing, k: int) -> list[list[int]]:
    return [[row for row in rows if row >= 0] for rows in listing.top_news(k).tolist()]


def _histories(listing: Listing) -> list[list[int]]:
    made = listing.impressions
    return [made.history[int(of)].tolist() for of in made.history_of]


def _count(rows: list[int], codes: np.ndarray, by_rank: bool = False) -> Counts:
    counts: Counts = Counter()
    for i, row in enumerate(rows):
        if codes[row] >= 0:
            counts[int(codes[row])] += 1 / (i + 1) if by_rank else 1
    return counts


def _share(counts: Counts) -> Counts:
    total = sum(counts.values())
    return {code: count / total for code, count in counts.items()}


def _js(p: Counts, q: Counts) -> float:
    if not p or not q:
        return math.nan
    p, q = _share(p), _share(q)
    total = 0.0
    for code in p.keys() | q.keys():
        a, b = p.get(code, 0.0), q.get(code, 0.0)
        for x in (a, b):
            total += 0.5 * x * math.log2(2 * x / (a + b)) if x else 0.0
    return total


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("aspect", ["category", "subcategory", "story"])
def test_entropy_jaccard_and_coverage_equal_plain_counting(seed: int, aspect: str) -> None:
    listing = _listing(seed)
    codes, _ = listing.classes(aspect)
    n_classes = 6 if aspect == "category" else int(codes.max()) + 1
    expected: dict[str, list[float]] = {"entropy": [], "jaccard": [], "coverage": []}
    lists = listing.impressions.candidates
    for i, (top, history) in enumerate(zip(_tops(listing, 4), _histories(listing), strict=True)):
        mine, theirs = _count(top, codes), _count(history, codes)
        shares = _share(mine).values()
        spread = -sum(p * math.log(p) for p in shares) / math.log(n_classes)
        expected["entropy"].append(spread if mine else math.nan)
        both = mine.keys() | theirs.keys()
        low = sum(min(mine.get(c, 0), theirs.get(c, 0)) for c in both)
        high = sum(max(mine.get(c, 0), theirs.get(c, 0)) for c in both)
        expected["jaccard"].append(low / high if mine and theirs else math.nan)
        reachable = len(_count(lists[i].tolist(), codes))
        expected["coverage"].append(len(mine) / min(4, reachable) if reachable else math.nan)
    for name, function in (("entropy", entropy), ("jaccard", jaccard), ("coverage", coverage)):
        found = function(listing, 4, aspect)
        np.testing.assert_allclose(found, expected[name], rtol=1e-9, atol=1e-12, err_msg=name)


@pytest.mark.parametrize("seed", SEEDS)
def test_calibration_equals_plain_sums(seed: int) -> None:
    listing = _listing(seed)
    codes, _ = listing.classes("category")
    js, kl = [], []
    for top, history in zip(_tops(listing, 5), _histories(listing), strict=True):
        mine, theirs = _count(top, codes, by_rank=True), _count(history, codes)
        js.append(_js(mine, theirs))
        if not mine or not theirs:
            kl.append(math.nan)
            continue
        q, p = _share(mine), _share(theirs)
        kl.append(sum(x * math.log(x / (0.99 * q.get(c, 0.0) + 0.01 * x)) for c, x in p.items()))
    np.testing.assert_allclose(calibration_js(listing, 5), js, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(calibration_kl(listing, 5), kl, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("seed", SEEDS)
def test_intra_list_distance_equals_the_mean_over_pairs(seed: int) -> None:
    listing = _listing(seed)
    assert listing.vectors is not None
    units = listing.vectors / np.maximum(np.linalg.norm(listing.vectors, axis=1), 1e-9)[:, None]
    expected = []
    for top in _tops(listing, 5):
        known = [row for row in top if units[row].any()]
        pairs = [(a, b) for i, a in enumerate(known) for b in known[:i]]
        distances = [1 - float(units[a] @ units[b]) for a, b in pairs]
        expected.append(float(np.mean(distances)) if pairs else math.nan)
    np.testing.assert_allclose(intra_list_distance(listing, 5), expected, atol=1e-5)


def test_half_precision_shelves_are_measured_too() -> None:
    listing = _listing(0)
    assert listing.vectors is not None
    half = replace(listing, vectors=listing.vectors.astype(np.float16))
    np.testing.assert_allclose(
        intra_list_distance(half, 5), intra_list_distance(listing, 5), atol=0.01
    )


def test_golden_values_of_two_lists_by_hand() -> None:
    made = impressions([[0, 1, 2], [2, 3]], [[1, 0, 0], [1, 0]], [[0, 0, 3], []], [0, 1])
    ranking = Ranking.of(np.asarray([3, 2, 1, 2, 1.0]), made)
    listing = Listing(ranking, made, news([0, 0, 1, 1]))
    # First list: categories 0 0 1. Entropy (2/3, 1/3) over log 2.
    assert entropy(listing, 3, "category")[0] == pytest.approx(0.9182958340544896)
    # Counts (2, 1) against the history's (2, 1): equal.
    assert jaccard(listing, 3, "category")[0] == 1.0
    assert jaccard(listing, 1, "category")[0] == pytest.approx(1 / 3)
    assert np.isnan(jaccard(listing, 3, "category")[1])
    # One category of two that could be shown; the second list could show only one.
    assert coverage(listing, 2, "category").tolist() == [0.5, 1.0]
    # History (2/3, 1/3), list (1, 0), smoothed by one hundredth of the history.
    by_hand = 2 / 3 * math.log(2 / 3 / (0.99 + 0.01 * 2 / 3)) + 1 / 3 * math.log(100)
    assert calibration_kl(listing, 1)[0] == pytest.approx(by_hand)


def test_gini_is_zero_for_equal_exposure_and_rises_with_concentration() -> None:
    made = impressions([[0, 1], [2, 3]], [[1, 0], [1, 0]])
    listing = Listing(Ranking.of(np.zeros(4), made), made, news([0] * 4))
    assert gini(listing, 2) == 0
    assert gini(listing, 1) == 0.5
    made = impressions([[0, 1], [0, 2], [0, 3]], [[1, 0]] * 3)
    listing = Listing(Ranking.of(np.asarray([1, 0] * 3), made), made, news([0] * 5))
    # Article 0 three times, three articles never, article 4 could not be shown: 1 - 1/4.
    assert gini(listing, 1) == 0.75


def test_language_shares_say_who_is_seen() -> None:
    made = impressions([[0, 1, 2], [3, 2]], [[1, 0, 0], [1, 0]])
    listing = Listing(
        Ranking.of(np.asarray([3, 2, 1, 2, 1.0]), made), made, news([0] * 4),
        language=np.asarray([0, 1, 1, 0]), languages=("eng", "fin"),
    )  # fmt: skip
    found = language_shares(listing, 2)
    assert found["eng"].tolist() == [0.5, 0.5]
    assert found["fin"].tolist() == [0.5, 0.5]
    assert language_shares(listing, 1)["eng"].tolist() == [1, 1]


def test_what_the_corpus_lacks_is_said() -> None:
    made = impressions([[0, 1]], [[1, 0]])
    listing = Listing(Ranking.of(np.zeros(2), made), made, news([-1, -1]))
    rng = np.random.default_rng(0)
    for name, function in DIVERSITY.items():
        with pytest.raises(NotInCorpus, match=r"no article has|no vectors|needs clusters"):
            function(listing, 5)
        assert name.endswith("@")
    with pytest.raises(NotInCorpus, match="one language"):
        language_shares(listing, 5)
    for function in RADIO.values():
        with pytest.raises(NotInCorpus):
            function(listing, 5, rng)


def test_one_category_has_no_entropy() -> None:
    made = impressions([[0, 1]], [[1, 0]])
    listing = Listing(Ranking.of(np.zeros(2), made), made, news([0, 0]))
    with pytest.raises(NotInCorpus, match="one category only"):
        entropy(listing, 5, "category")


@pytest.mark.parametrize("seed", SEEDS)
def test_metrics_stay_inside_their_range(seed: int) -> None:
    listing = _listing(seed)
    for name, function in DIVERSITY.items():
        values = function(listing, 5)
        known = values[~np.isnan(values)]
        highest = math.inf if "calibration_kl" in name else 2 if "distance" in name else 1
        assert len(known) > 50, name
        assert known.min() >= 0, name
        assert known.max() <= highest + 1e-6, name


@pytest.mark.parametrize("seed", SEEDS)
def test_levels_of_a_tree_are_measured_as_columns_of_the_table_are(seed: int) -> None:
    listing = _listing(seed)
    codes, _ = listing.classes("subcategory")
    tree = replace(listing, aspects={"theme": codes, "topic": codes, "story": codes}, _kept={})
    for what in ("jaccard", "coverage"):
        for level in ("theme", "topic", "story"):
            found = DIVERSITY[f"{level}_{what}@"](tree, 5)
            np.testing.assert_array_equal(found, DIVERSITY[f"subcategory_{what}@"](listing, 5))
    for how in ("kl", "js"):
        as_category = replace(listing, aspects={"category": codes}, _kept={})
        expected = DIVERSITY[f"calibration_{how}@"](as_category, 5)
        for level in ("theme", "topic"):
            found = DIVERSITY[f"{level}_calibration_{how}@"](tree, 5)
            np.testing.assert_array_equal(found, expected)


def test_classes_of_another_table_are_refused() -> None:
    listing = replace(_listing(0), aspects={"theme": np.zeros(3, np.int64)})
    with pytest.raises(DataError, match=r"aspect 'theme': \(3,\), expected \(60,\)"):
        listing.classes("theme")


# --- RADio


def _traits(rng: np.random.Generator, n_news: int) -> dict[str, object]:
    affect = np.where(rng.random(n_news) < 0.2, np.nan, rng.random(n_news))
    lists = [rng.integers(0, 7, rng.integers(0, 4)).tolist() for _ in range(n_news)]
    return {
        "affect": affect,
        "viewpoints": Ragged.from_lists(lists),
        "minority": Ragged.from_lists([[x % 2 for x in row] for row in lists]),
    }


@pytest.mark.parametrize("seed", SEEDS)
def test_divergences_from_the_pool_equal_plain_sums(seed: int) -> None:
    rng = np.random.default_rng(seed)
    traits = _traits(rng, 60)
    listing = _listing(seed, traits=traits)
    affect = traits["affect"]
    assert isinstance(affect, np.ndarray)
    owned = {
        "radio_activation@": [[] if math.isnan(x) else [min(int(x * 10), 9)] for x in affect],
        "radio_representation@": [row.tolist() for row in traits["viewpoints"]],  # type: ignore[attr-defined]
        "radio_alternative_voices@": [row.tolist() for row in traits["minority"]],  # type: ignore[attr-defined]
    }
    lists = listing.impressions.candidates
    for name, classes in owned.items():
        expected = []
        for i, top in enumerate(_tops(listing, 4)):
            mine: Counts = Counter()
            for place, row in enumerate(top):
                for code in classes[row]:
                    mine[code] += 1 / (place + 1)
            pool: Counts = Counter(code for row in lists[i].tolist() for code in classes[row])
            expected.append(_js(mine, pool))
        found = RADIO[name](listing, 4, rng)
        np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-12, err_msg=name)


def test_fragmentation_is_zero_when_all_see_the_same_and_one_when_nothing_is_shared() -> None:
    rng = np.random.default_rng(0)
    same = impressions([[0, 1]] * 20, [[1, 0]] * 20)
    listing = Listing(Ranking.of(np.tile([1.0, 0.0], 20), same), same, news([0, 1], story=[0, 1]))
    assert np.nanmax(fragmentation(listing, 2, rng)) == 0
    apart = impressions([[2 * i, 2 * i + 1] for i in range(20)], [[1, 0]] * 20)
    table = news([0] * 40, story=list(range(40)))
    listing = Listing(Ranking.of(np.zeros(40), apart), apart, table)
    found = fragmentation(listing, 2, rng)
    assert np.nanmin(found) == 1


def test_fragmentation_compares_only_with_other_readers() -> None:
    one_reader = impressions([[0], [1]] * 5, [[1]] * 10, users=[7] * 10)
    table = news([0, 1], story=[0, 1])
    listing = Listing(Ranking.of(np.zeros(10), one_reader), one_reader, table)
    assert np.isnan(fragmentation(listing, 1, np.random.default_rng(0))).all()


def test_fragmentation_estimates_the_mean_over_all_pairs() -> None:
    listing = _listing(0, known=1.0)
    codes, _ = listing.classes("story")
    tops = [_count(top, codes, by_rank=True) for top in _tops(listing, 5)]
    user = listing.impressions.user
    pairs = [_js(tops[i], tops[j]) for i in range(120) for j in range(120) if user[i] != user[j]]
    draws = [np.nanmean(fragmentation(listing, 5, np.random.default_rng(s))) for s in range(20)]
    assert np.mean(draws) == pytest.approx(np.nanmean(pairs), abs=0.01)


def test_the_finest_known_aspect_stands_for_stories() -> None:
    made = impressions([[0, 1]], [[1, 0]])

    def aspect(table: NewsTable) -> str:
        return finest_aspect(Listing(Ranking.of(np.zeros(2), made), made, table))

    assert aspect(news([0, 1], [0, 1], [0, 1])) == "story"
    assert aspect(news([0, 1], [0, 1])) == "subcategory"
    assert aspect(news([0, 1])) == "category"


def test_traits_of_the_wrong_kind_are_refused() -> None:
    rng = np.random.default_rng(0)
    bad = {
        "radio_activation@": {"affect": np.full(60, 1.5)},
        "radio_representation@": {"viewpoints": np.zeros(60)},
        "radio_alternative_voices@": {"minority": Ragged.from_lists([[2]] * 60)},
    }
    for name, traits in bad.items():
        with pytest.raises(Exception, match="expected"):
            RADIO[name](_listing(0, traits=traits), 5, rng)
    with pytest.raises(Exception, match="59 articles, the corpus has 60"):
        RADIO["radio_activation@"](_listing(0, traits={"affect": np.zeros(59)}), 5, rng)
    assert set(TRAITS) == {"affect", "viewpoints", "minority"}
