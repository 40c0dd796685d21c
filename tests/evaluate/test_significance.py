from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from newsrec.errors import DataError
from newsrec.evaluate.significance import (
    bootstrap_means,
    bootstrap_p,
    holm,
    intervals,
    permutation_p,
)


def _rng() -> np.random.Generator:
    return np.random.default_rng(0)


def test_an_interval_matches_the_normal_one_on_many_values() -> None:
    values = _rng().normal(0.3, 1, (5000, 2))
    found = intervals(values, _rng(), samples=4000)[0]
    half = 1.96 * values[:, 0].std() / np.sqrt(5000)
    assert found.mean == pytest.approx(values[:, 0].mean(), abs=1e-12)
    assert found.low == pytest.approx(found.mean - half, abs=0.1 * half)
    assert found.high == pytest.approx(found.mean + half, abs=0.1 * half)
    assert found.n == 5000


def test_undefined_values_do_not_count() -> None:
    values = np.column_stack([[1.0, np.nan, 3.0, np.nan], [np.nan] * 4])
    known, unknown = intervals(values, _rng())
    assert (known.mean, known.n) == (2.0, 2)
    assert 1.0 <= known.low <= known.high <= 3.0
    assert unknown.n == 0
    assert np.isnan([unknown.mean, unknown.low, unknown.high]).all()


def test_drawing_readers_widens_the_interval_when_their_impressions_agree() -> None:
    values = np.repeat(_rng().normal(size=50), 20)[:, None]
    readers = np.repeat(np.arange(50), 20)
    plain, clustered = intervals(values, _rng())[0], intervals(values, _rng(), clusters=readers)[0]
    assert clustered.mean == pytest.approx(plain.mean)
    ratio = (clustered.high - clustered.low) / (plain.high - plain.low)
    assert 3.5 < ratio < 5.5  # the square root of 20


def test_resamples_are_those_of_a_plain_bootstrap() -> None:
    values = np.asarray([[1.0, 10.0], [2.0, 20.0], [4.0, 40.0]])
    means = bootstrap_means(values, np.ones((3, 2)), _rng(), 3000)
    np.testing.assert_allclose(means[:, 1], 10 * means[:, 0], rtol=1e-6)
    triples = product([1, 2, 4], repeat=3)
    expected = {round(sum(triple) / 3, 5) for triple in triples}
    assert {round(x, 5) for x in means[:, 0].tolist()} == expected


def test_same_rng_same_interval() -> None:
    values = _rng().random((100, 3))
    assert intervals(values, _rng()) == intervals(values, _rng())


@pytest.mark.parametrize("seed", range(4))
def test_permutation_p_is_the_exact_one_on_a_small_sample(seed: int) -> None:
    d = np.random.default_rng(seed).normal(0.5, 1, 9)
    sums = [abs(float(np.dot(signs, d))) for signs in product([-1, 1], repeat=9)]
    exact = np.mean(np.asarray(sums) >= abs(d.sum()) - 1e-12)
    found = permutation_p(d[:, None], _rng(), 40_000)[0]
    assert found == pytest.approx(exact, abs=0.01)


@pytest.mark.parametrize("test", [permutation_p, bootstrap_p])
def test_p_is_small_for_a_clear_difference_and_even_without_one(test: object) -> None:
    assert callable(test)
    clear = _rng().normal(0.5, 1, (400, 1))
    assert test(clear, _rng(), 2000)[0] <= 0.001
    found = [float(test(np.random.default_rng(s).normal(0, 1, (60, 1)), _rng(), 400)[0])
             for s in range(200)]  # fmt: skip
    assert np.mean(np.asarray(found) < 0.1) == pytest.approx(0.1, abs=0.06)
    assert np.median(found) == pytest.approx(0.5, abs=0.12)


@pytest.mark.parametrize("test", [permutation_p, bootstrap_p])
def test_no_difference_at_all_is_p_one(test: object) -> None:
    assert callable(test)
    assert test(np.zeros((50, 1)), _rng(), 100)[0] == 1
    assert np.isnan(test(np.full((50, 1), np.nan), _rng(), 100)[0])
    assert np.isnan(test(np.zeros((0, 1)), _rng(), 100)[0])


def test_flipping_readers_is_more_careful_than_flipping_impressions() -> None:
    d = np.repeat(_rng().normal(0.15, 1, 40), 25)[:, None]
    readers = np.repeat(np.arange(40), 25)
    plain = permutation_p(d, _rng(), 2000)[0]
    assert permutation_p(d, _rng(), 2000, readers)[0] > 5 * plain


def test_clusters_of_another_length_are_refused() -> None:
    with pytest.raises(DataError, match="3, expected 4"):
        permutation_p(np.zeros((4, 1)), _rng(), 10, np.arange(3))


def test_golden_holm() -> None:
    # Holm 1979; the same as R's p.adjust(c(0.01, 0.04, 0.03, 0.005), "holm").
    found = holm(np.asarray([0.01, 0.04, 0.03, 0.005]))
    np.testing.assert_allclose(found, [0.03, 0.06, 0.06, 0.02])


@given(st.lists(st.floats(0, 1), max_size=12))
@settings(max_examples=200, deadline=None)
def test_holm_keeps_order_and_never_lowers(p: list[float]) -> None:
    found = holm(np.asarray(p, np.float64))
    assert np.all(found >= np.asarray(p))
    assert np.all(found <= 1)
    order = np.argsort(p, kind="stable")
    assert np.all(np.diff(found[order]) >= 0)


def test_holm_does_not_count_what_is_unknown() -> None:
    found = holm(np.asarray([0.01, np.nan, 0.02]))
    np.testing.assert_allclose(found, [0.02, np.nan, 0.02])
