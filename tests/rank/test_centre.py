"""Means come out per language, rows come out at length 1, absent rows stay zero."""

from __future__ import annotations

import numpy as np
import pytest

from newsrec.errors import ConfigError, DataError
from newsrec.rank.centre import MIN_ROWS, plain, sides, unit_rows, without_means
from newsrec.rank.sides import Side
from newsrec.types import Ragged
from tests.synthetic import embeddings

RNG = np.random.default_rng(0)
ROWS = np.arange(40)


def test_every_language_loses_its_own_mean() -> None:
    language = ROWS % 2
    vectors = RNG.standard_normal((40, 6)) + np.where(language[:, None] == 0, 3, -5)
    present = ROWS != 4
    e = embeddings(vectors, normalized=False, present=present)
    x = without_means(plain(e, language)).at(ROWS)
    for code in (0, 1):
        assert np.allclose(x[(language == code) & present].mean(0), 0, atol=1e-5)
    assert not x[4].any()


def test_rows_of_unknown_language_are_a_language_of_their_own() -> None:
    language = np.where(ROWS < 20, 0, -1)
    e = embeddings(RNG.standard_normal((40, 6)) + 4 * (ROWS < 20)[:, None], normalized=False)
    x = without_means(plain(e, language)).at(ROWS)
    assert np.allclose(x[20:].mean(0), 0, atol=1e-5)


def test_a_language_of_few_rows_takes_the_mean_of_all() -> None:
    language = (ROWS >= 40 - (MIN_ROWS - 1)).astype(int)
    e = embeddings(RNG.standard_normal((40, 6)) + 2, normalized=False)
    side = without_means(plain(e, language))
    assert side.mean is not None
    assert np.allclose(side.mean[1], e.vectors.mean(0), atol=1e-5)
    assert np.allclose(side.mean[0], e.vectors[language == 0].mean(0), atol=1e-5)


def test_unit_rows_have_length_one_and_zero_rows_stay_zero() -> None:
    vectors = RNG.standard_normal((40, 6))
    vectors[7] = 0
    x = unit_rows(plain(embeddings(vectors, normalized=False))).at(ROWS)
    lengths = np.linalg.norm(x, axis=1)
    assert np.allclose(np.delete(lengths, 7), 1, atol=1e-6)
    assert lengths[7] == 0


def test_a_row_equal_to_the_mean_is_zero_and_not_noise() -> None:
    e = embeddings(np.ones((40, 6)) / 3, normalized=False)
    _, shelf = sides(e, e, centre="language", normalize=True)
    assert not shelf.at(ROWS).any()


def test_one_matrix_on_both_sides_is_prepared_once() -> None:
    e = embeddings(RNG.standard_normal((40, 6)))
    history, shelf = sides(e, e)
    assert history is shelf


def test_products_and_means_are_those_of_the_prepared_rows() -> None:
    language = ROWS % 3
    e = embeddings(RNG.standard_normal((40, 6)) + 1, present=ROWS != 3)
    for normalize in (True, False):
        _, side = sides(e, e, centre="language", normalize=normalize, shelf_language=language)
        x, reader = side.at(ROWS), RNG.standard_normal(6).astype(np.float32)
        assert np.allclose(side.dot(reader), x @ reader, atol=1e-5)
        some = np.array([30, 2, 3, 2])
        assert np.allclose(side.dot(reader, some), x[some] @ reader, atol=1e-5)
        means = side.means(Ragged.from_lists([[1, 2, 3], [], [5]]))
        assert np.allclose(means, [x[[1, 2, 3]].mean(0), np.zeros(6), x[5]], atol=1e-5)
        assert np.allclose(side.prefix(2).at(ROWS), x[:, :2], atol=1e-6)


def test_unknown_options_and_misfit_arrays_are_named() -> None:
    e = embeddings(RNG.standard_normal((40, 6)))
    with pytest.raises(ConfigError, match="unknown centre 'mean'; known: global, language, none"):
        sides(e, e, centre="mean")
    with pytest.raises(ConfigError, match="unknown normalize 'l2'"):
        sides(e, e, normalize="l2")
    with pytest.raises(DataError, match=r"Side.group: \(3,\), expected \(40,\)"):
        Side(e.vectors, e.present, group=np.zeros(3, np.int64))
