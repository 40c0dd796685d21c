from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import ndcg_score, roc_auc_score

from newsrec.errors import ConfigError, DataError
from newsrec.evaluate.metrics import (
    ACCURACY,
    PER_IMPRESSION,
    POOLED,
    Ranking,
    auc,
    auc_pooled,
    auc_torchmetrics,
    examples,
    hit,
    measure,
    mrr,
    mrr_mind,
    ndcg,
    recall,
    split_name,
)
from tests.evaluate.made import drawn, impressions

_SCORES = st.one_of(
    st.sampled_from([0.0, -0.0, 1.0, -1.0, 0.5, float("inf"), float("-inf")]),
    st.floats(-5, 5, width=32),
)
_LISTS = st.lists(st.lists(st.tuples(_SCORES, st.booleans()), max_size=9), max_size=8)


def _ranking(lists: list[list[tuple[float, bool]]]) -> Ranking:
    made = impressions([range(len(row)) for row in lists], [[y for _, y in row] for row in lists])
    return Ranking.of(np.asarray([x for row in lists for x, _ in row], np.float32), made)


def _one(scores: list[float], labels: list[int]) -> Ranking:
    return _ranking([list(zip(scores, map(bool, labels), strict=True))])


# The official evaluator's formulas (github.com/msnews/MIND, evaluate.py), told again in plain
# words over labels sorted by falling score; only the order of ties is ours (stable).
def _official(name: str, k: int, row: list[tuple[float, bool]]) -> float:
    labels = [y for _, y in sorted(row, key=lambda pair: -pair[0])]
    clicks = sum(labels)
    if not clicks:
        return math.nan
    if name == "mrr_mind":
        return sum(y / (i + 1) for i, y in enumerate(labels)) / clicks
    if name == "mrr":
        return 1 / (labels.index(True) + 1)
    if name == "hit":
        return float(any(labels[:k]))
    if name == "recall":
        return sum(labels[:k]) / clicks
    ideal = sorted(labels, reverse=True)
    gain = [sum((2**y - 1) / math.log2(i + 2) for i, y in enumerate(order[:k]))
            for order in (labels, ideal)]  # fmt: skip
    return gain[0] / gain[1]


@given(_LISTS, st.integers(1, 12))
@settings(max_examples=300, deadline=None)
def test_ranking_metrics_equal_the_official_formulas_ties_included(
    lists: list[list[tuple[float, bool]]], k: int
) -> None:
    ranking = _ranking(lists)
    found = {
        "mrr": mrr(ranking),
        "mrr_mind": mrr_mind(ranking),
        "ndcg": ndcg(ranking, k),
        "hit": hit(ranking, k),
        "recall": recall(ranking, k),
    }
    for name, values in found.items():
        expected = [_official(name, k, row) for row in lists]
        np.testing.assert_allclose(values, expected, rtol=1e-12, err_msg=name)


@given(_LISTS)
@settings(max_examples=200, deadline=None)
def test_aucs_equal_scikit_learn_and_are_nan_without_both_classes(
    lists: list[list[tuple[float, bool]]],
) -> None:
    # scikit-learn refuses infinite scores; their ranks carry the same information.
    ranking = _ranking(lists)
    finite = [[(float(np.clip(x, -9, 9)), y) for x, y in row] for row in lists]

    def expected(row: list[tuple[float, bool]]) -> float:
        labels = [y for _, y in row]
        if len(set(labels)) < 2:
            return math.nan
        return float(roc_auc_score(labels, [x for x, _ in row]))

    np.testing.assert_allclose(auc(ranking), [expected(row) for row in finite], rtol=1e-12)
    pooled = expected([pair for row in finite for pair in row])
    np.testing.assert_allclose(auc_pooled(ranking), pooled, rtol=1e-12)


def test_ndcg_equals_scikit_learn_where_nothing_ties() -> None:
    rng = np.random.default_rng(0)
    labels = rng.random((50, 30)) < 0.1
    scores = rng.permuted(np.tile(np.arange(30.0), (50, 1)), axis=1)
    labels[:, 0] = True
    made = impressions([range(30)] * 50, labels.tolist())
    ranking = Ranking.of(scores.ravel(), made)
    for k in (1, 5, 10, 30, 40):
        expected = [ndcg_score([y], [s], k=k) for y, s in zip(labels, scores, strict=True)]
        np.testing.assert_allclose(ndcg(ranking, k), expected, rtol=1e-12)


@given(st.lists(st.integers(0, 40), max_size=30), st.integers(0, 10**6))
@settings(max_examples=100, deadline=None)
def test_order_is_the_stable_one_of_every_list(lengths: list[int], seed: int) -> None:
    rng = np.random.default_rng(seed)
    scores = rng.integers(-2, 3, sum(lengths)).astype(np.float32)
    made = impressions([range(size) for size in lengths], [[False] * size for size in lengths])
    ranking = Ranking.of(scores, made)
    expected = []
    for start, size in zip(made.candidates.offsets[:-1], lengths, strict=True):
        part = scores[start : start + size]
        expected += [int(start + i) for i in np.argsort(-part, kind="stable")]
    assert ranking.order.tolist() == expected
    assert ranking.ranks()[ranking.order].tolist() == [
        place + 1 for size in lengths for place in range(size)
    ]


def test_order_holds_across_blocks_and_in_long_lists() -> None:
    rng = np.random.default_rng(1)
    lengths = [*rng.integers(0, 4, 20_000).tolist(), 70_000]
    scores = rng.standard_normal(sum(lengths)).astype(np.float32)
    made = impressions([[0] * size for size in lengths], [[False] * size for size in lengths])
    expected = np.lexsort((-scores, made.candidates.owner()))
    np.testing.assert_array_equal(Ranking.of(scores, made).order, expected)


def test_zero_and_minus_zero_tie() -> None:
    assert mrr(_one([-0.0, 0.0], [1, 0])) == 1.0
    assert mrr(_one([0.0, -0.0], [0, 1])) == 0.5
    assert auc(_one([0.0, -0.0], [0, 1])) == 0.5
    assert auc_torchmetrics(_one([0.0, -0.0], [0, 1])) == 0.5


# Golden values with their source.
def test_golden_auc_of_the_scikit_learn_manual() -> None:
    # roc_auc_score / roc_curve, "Examples": y = [0, 0, 1, 1], scores = [0.1, 0.4, 0.35, 0.8]: 0.75.
    assert auc(_one([0.1, 0.4, 0.35, 0.8], [0, 0, 1, 1])) == 0.75


def test_golden_ndcg_by_hand() -> None:
    # Clicks at ranks 2 and 4 of five: (1/log2 3 + 1/log2 5) / (1 + 1/log2 3).
    ranking = _one([5, 4, 3, 2, 1], [0, 1, 0, 1, 0])
    assert ndcg(ranking, 5)[0] == pytest.approx(0.6509209298071325, abs=1e-15)
    # Cut at 2: (1/log2 3) / (1 + 1/log2 3).
    assert ndcg(ranking, 2)[0] == pytest.approx(0.38685280723454163, abs=1e-15)


def test_golden_reciprocal_ranks_by_hand() -> None:
    ranking = _one([5, 4, 3, 2, 1], [0, 1, 0, 1, 0])
    assert mrr(ranking)[0] == 1 / 2
    assert mrr_mind(ranking)[0] == (1 / 2 + 1 / 4) / 2
    assert hit(ranking, 1)[0] == 0
    assert recall(ranking, 3)[0] == 1 / 2


def test_undefined_is_nan_and_never_zero() -> None:
    ranking = _ranking([[(1.0, False), (0.0, False)], [(1.0, True)], [], [(1, True), (0, False)]])
    for name in ACCURACY:
        values = measure(name, ranking)
        assert np.isnan(values[[0, 2]]).all(), name
        assert values[3] == 1, name
    assert np.isnan(measure("auc", ranking)[1])
    assert measure("ndcg@5", ranking)[1] == 1


@pytest.mark.parametrize("name", POOLED)
def test_pooled_metrics_are_nan_without_both_classes(name: str) -> None:
    for lists in ([], [[(1.0, True)]], [[(1.0, False)]], [[]]):
        assert math.isnan(POOLED[name](_ranking(lists)))


def test_torchmetrics_auc_saturates_in_half_precision() -> None:
    rng = np.random.default_rng(2)
    made, _ = drawn(rng, 400)
    assert made.clicked is not None
    raw = (40 + rng.standard_normal(len(made.clicked)) + made.clicked).astype(np.float32)
    ranking = Ranking.of(raw, made)
    assert auc_pooled(ranking) > 0.7
    assert auc_torchmetrics(ranking) == 0.5


def test_torchmetrics_auc_equals_torch_in_half_precision() -> None:
    torch = pytest.importorskip("torch")
    rng = np.random.default_rng(3)
    made, _ = drawn(rng, 400)
    assert made.clicked is not None
    for scale, shift in ((3.0, 0.0), (8.0, 5.0), (0.1, 0.5)):
        raw = (scale * rng.standard_normal(len(made.clicked)) + shift).astype(np.float32)
        half = torch.from_numpy(raw).half()
        if not torch.all((half >= 0) & (half <= 1)):
            half = half.sigmoid()
        expected = roc_auc_score(made.clicked, half.float().numpy())
        assert auc_torchmetrics(Ranking.of(raw, made)) == pytest.approx(expected, abs=1e-9)


def test_scores_inside_the_unit_interval_see_no_sigmoid() -> None:
    scores = [0.25, 0.5, 0.75, 1.0]
    assert auc_torchmetrics(_one(scores, [0, 1, 0, 1])) == 0.75


def test_a_nan_score_names_its_impression() -> None:
    made = impressions([[0, 1], [2, 3, 4]], [[1, 0], [0, 1, 0]])
    with pytest.raises(DataError, match=r"candidate 2 of impression 'I1' \(1 of 5 scores\)"):
        Ranking.of(np.asarray([0, 0, 0, np.nan, 0]), made)


def test_scores_of_another_length_are_refused() -> None:
    with pytest.raises(DataError, match=r"\(3,\), expected \(2,\)"):
        Ranking.of(np.zeros(3), impressions([[0, 1]], [[1, 0]]))


def test_first_k_are_padded() -> None:
    ranking = _ranking([[(1.0, True), (2.0, False)], [], [(0.0, True)]])
    assert ranking.top(2).tolist() == [[1, 0], [-1, -1], [2, -1]]
    assert _ranking([[]]).top(1).tolist() == [[-1]]


@pytest.mark.parametrize(("name", "split"), [("ndcg@10", ("ndcg@", 10)), ("auc", ("auc", None))])
def test_names_parse(name: str, split: tuple[str, int | None]) -> None:
    assert split_name(name) == split


@pytest.mark.parametrize("name", ["ndcg@0", "ndcg@"])
def test_a_cut_off_below_one_is_refused(name: str) -> None:
    with pytest.raises(ConfigError, match="cut-off"):
        measure(name, _one([1, 0], [1, 0]))


def test_an_unknown_metric_lists_the_known_ones() -> None:
    with pytest.raises(ConfigError, match=r"'ncdg@10'; known: .*Did you mean 'ndcg@10'"):
        measure("ncdg@10", _one([1, 0], [1, 0]))
    assert "ndcg@10" in examples(PER_IMPRESSION)


def test_inputs_are_left_alone() -> None:
    made, scores = drawn(np.random.default_rng(4))
    before = scores.copy()
    scores.flags.writeable = False
    Ranking.of(scores, made)
    np.testing.assert_array_equal(scores, before)
