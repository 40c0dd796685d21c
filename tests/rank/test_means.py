"""Means of languages, kept for articles that come without their corpus."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from newsrec.errors import ConfigError, DataError, StaleCacheError
from newsrec.rank.centre import MIN_ROWS, sides
from newsrec.rank.means import LanguageMeans, load_means, save_means
from newsrec.types import Embeddings
from tests.synthetic import VIEW, embeddings

RNG = np.random.default_rng(4)


def _language(n: int, language: str, bias: float = 0.0, *, normalized: bool = True) -> Embeddings:
    vectors = RNG.standard_normal((n, 6)) + bias
    return embeddings(vectors, normalized=normalized, language=language)


@pytest.fixture
def three() -> dict[str, Embeddings]:
    """English, Finnish, and a language of hardly any articles."""
    return {
        "eng": _language(40, "eng", 1.0),
        "fin": _language(20, "fin", -2.0),
        "hat": _language(MIN_ROWS - 1, "hat"),
    }


def test_a_few_rows_lose_the_mean_that_all_rows_of_their_language_have(
    three: dict[str, Embeddings],
) -> None:
    means = LanguageMeans.of({VIEW: three})
    for language in ("eng", "fin"):
        found = three[language]
        _, whole = sides(found, found)
        few = Embeddings(found.vectors[3:5], found.present[3:5], found.spec)
        _, part = sides(few, few, means=means.removed(VIEW, [language]))
        assert np.array_equal(part.at(np.arange(2)), whole.at(np.arange(3, 5)))


def test_rows_of_several_languages_lose_each_their_own(three: dict[str, Embeddings]) -> None:
    means = LanguageMeans.of({VIEW: three})
    parts = [three["eng"], three["fin"], three["eng"]]
    rows = np.array([part.vectors[i] for i, part in enumerate(parts)])
    both = Embeddings(rows, np.ones(3, np.bool_), parts[0].spec)
    of = np.array([1, 0, 1])
    removed = means.removed(VIEW, ["fin", "eng"])
    _, side = sides(both, both, history_language=of, shelf_language=of, means=removed)
    for i, part in enumerate(parts):
        assert np.array_equal(side.at(np.arange(3))[i], sides(part, part)[1].at(np.array([i]))[0])


def test_a_language_without_a_mean_loses_that_of_all_the_others(
    three: dict[str, Embeddings],
) -> None:
    means = LanguageMeans.of({VIEW: three})
    assert means.languages == ("eng", "fin")
    every = np.concatenate([three["eng"].vectors, three["fin"].vectors])
    for language in ("hat", "tam"):
        found = means.removed(VIEW, [language])
        assert np.allclose(found, every.mean(0), atol=1e-6)


def test_where_no_language_has_a_mean_nothing_is_lost(three: dict[str, Embeddings]) -> None:
    means = LanguageMeans.of({VIEW: {"hat": three["hat"]}})
    assert means.languages == ()
    assert not means.removed(VIEW, ["hat", "eng"]).any()


def test_raw_vectors_lose_nothing(three: dict[str, Embeddings]) -> None:
    raw = _language(30, "eng", 1.0, normalized=False)
    removed = LanguageMeans.of({VIEW: {"eng": raw}}).removed(VIEW, ["eng"])
    _, side = sides(raw, raw, means=removed)
    assert np.array_equal(side.at(np.arange(30)), raw.vectors)


def test_absent_rows_do_not_count() -> None:
    present = np.arange(30) % 3 > 0
    gaps = embeddings(RNG.standard_normal((30, 6)), present=present)
    means = LanguageMeans.of({VIEW: {"eng": gaps}})
    assert means.counts.tolist() == [20]
    assert np.allclose(means.means[VIEW][0], gaps.vectors[present].mean(0), atol=1e-7)


def test_what_is_kept_comes_back_whole(three: dict[str, Embeddings], tmp_path: Path) -> None:
    means = LanguageMeans.of({VIEW: three, "title": three})
    assert load_means(tmp_path) is None
    save_means(tmp_path, means)
    back = load_means(tmp_path)
    assert back is not None
    assert (back.encoder, back.languages) == (means.encoder, means.languages)
    assert list(back.means) == [VIEW, "title"] or list(back.means) == ["title", VIEW]
    for view in (VIEW, "title"):
        assert np.array_equal(back.means[view], means.means[view])
    assert np.array_equal(back.counts, means.counts)


def test_a_damaged_file_is_told(three: dict[str, Embeddings], tmp_path: Path) -> None:
    save_means(tmp_path, LanguageMeans.of({VIEW: three}))
    path = tmp_path / "means.safetensors"
    good = path.read_bytes()
    for bad in (good[:100], b"", good.replace(b"newsrec-means", b"newsrec-beans")):
        path.write_bytes(bad)
        with pytest.raises(StaleCacheError, match=r"means\.safetensors: .*; train again"):
            load_means(tmp_path)


def test_means_are_those_of_one_encoder(three: dict[str, Embeddings]) -> None:
    spec = three["fin"].spec
    other = replace(spec, encoder=replace(spec.encoder, name="another"))
    fin = Embeddings(three["fin"].vectors, three["fin"].present, other)
    with pytest.raises(ConfigError, match=r"'another'.*'synthetic'.*one encoder"):
        LanguageMeans.of({VIEW: {"eng": three["eng"], "fin": fin}})
    with pytest.raises(ConfigError, match="no vectors"):
        LanguageMeans.of({})


def test_an_unknown_view_and_misfit_arrays_are_named(three: dict[str, Embeddings]) -> None:
    means = LanguageMeans.of({VIEW: three})
    with pytest.raises(ConfigError, match=r"view of these means 'body'; known: title\+abstract"):
        means.removed("body", ["eng"])
    with pytest.raises(DataError, match=r"counts: \(1,\), expected \(2,\)"):
        replace(means, counts=means.counts[:1])
    with pytest.raises(DataError, match=r"expected \(2, 6\)"):
        replace(means, means={VIEW: means.means[VIEW][:, :4]})
