"""Late fusion is its definition, in every option, in any block, from any storage."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from newsrec.errors import ConfigError, DataError
from newsrec.rank import blocks, fusion
from newsrec.rank.centre import MIN_ROWS
from newsrec.rank.fusion import LateFusion
from newsrec.types import Embeddings, Features, Impressions, Ragged
from tests.synthetic import VIEW, embeddings, known_answer, news_table

N_NEWS, DIM = 30, 5


def impressions_of(histories: list[list[int]], candidates: list[list[int]]) -> Impressions:
    n = len(candidates)
    return Impressions(
        ids=np.arange(n).astype(np.str_),
        user=np.arange(n, dtype=np.int32),
        time=np.full(n, "2024-05-02", "datetime64[s]"),
        history=Ragged.from_lists(histories),
        history_of=(np.arange(n) % len(histories)).astype(np.int32),
        candidates=Ragged.from_lists(candidates),
    )


def features_of(history: Embeddings, shelf: Embeddings, **more: object) -> Features:
    rng = np.random.default_rng(0)
    news = news_table(rng.integers(0, 2, len(shelf)), 2, rng)
    return Features(news, {VIEW: history}, {VIEW: shelf}, **more)  # type: ignore[arg-type]


def by_definition(
    impressions: Impressions, history: Embeddings, shelf: Embeddings, centre: str, unit: bool
) -> np.ndarray:
    """One pair after the other, in float64."""
    h, c = (e.vectors.astype(np.float64) for e in (history, shelf))
    if centre == "global":
        both = np.concatenate([h[history.present], c[shelf.present]])
        h, c = h - both.mean(0), c - both.mean(0)
    if centre == "language":
        h, c = h - h[history.present].mean(0), c - c[shelf.present].mean(0)
    if unit:
        h, c = (x / np.maximum(np.linalg.norm(x, axis=1, keepdims=True), 1e-9) for x in (h, c))
    scores = []
    for i in range(len(impressions)):
        read = [r for r in impressions.history[impressions.history_of[i]] if history.present[r]]
        for candidate in impressions.candidates[i]:
            dots = [c[candidate] @ h[r] for r in read[-50:]]
            scores.append(np.mean(dots) if dots and shelf.present[candidate] else 0.0)
    return np.array(scores)


rows = st.integers(0, N_NEWS - 1)
lists = st.lists(st.lists(rows, max_size=6), min_size=1, max_size=5)


@settings(max_examples=60, deadline=None)
@given(
    histories=lists,
    candidates=lists,
    seed=st.integers(0, 99),
    centre=st.sampled_from(["none", "global", "language"]),
    unit=st.booleans(),
)
def test_a_score_is_the_mean_of_products_with_the_history(
    histories: list[list[int]], candidates: list[list[int]], seed: int, centre: str, unit: bool
) -> None:
    rng = np.random.default_rng(seed)
    present = rng.random((2, N_NEWS)) < 0.8
    history, shelf = (
        embeddings(rng.standard_normal((N_NEWS, DIM)) + 1, normalized=False, present=p)
        for p in present
    )
    impressions = impressions_of(histories, candidates)
    scores = LateFusion(centre=centre, normalize=unit).score(
        impressions, features_of(history, shelf)
    )
    expected = by_definition(impressions, history, shelf, centre, unit)
    assert np.allclose(scores, expected, atol=1e-5)


def test_raw_encoders_are_fused_as_published_and_unit_ones_are_centred() -> None:
    rng = np.random.default_rng(0)
    impressions = impressions_of([[1, 2, 3]], [[4, 5, 6, 7]])
    vectors = rng.standard_normal((N_NEWS, DIM)) + 1
    for normalized, centre in ((False, "none"), (True, "language")):
        e = embeddings(vectors, normalized=normalized)
        scores = LateFusion().score(impressions, features_of(e, e))
        assert np.allclose(scores, by_definition(impressions, e, e, centre, normalized), atol=1e-5)


def test_only_the_newest_or_oldest_articles_with_a_vector_count() -> None:
    present = np.ones(N_NEWS, np.bool_)
    present[[9, 10]] = False
    e = embeddings(np.eye(N_NEWS), normalized=False, present=present)
    impressions = impressions_of([[1, 2, 3, 9, 10]], [[1, 2, 3, 9]])
    features = features_of(e, e)
    newest = LateFusion(history_limit=2).score(impressions, features)
    oldest = LateFusion(history_limit=2, newest=False).score(impressions, features)
    every = LateFusion(history_limit=None).score(impressions, features)
    assert newest.tolist() == [0, 0.5, 0.5, 0]
    assert oldest.tolist() == [0.5, 0.5, 0, 0]
    assert np.allclose(every, [1 / 3, 1 / 3, 1 / 3, 0])


def test_a_reader_of_two_languages_is_one_vector() -> None:
    rng = np.random.default_rng(1)
    one, two = rng.standard_normal((2, N_NEWS, DIM))
    both = embeddings(np.concatenate([one, two]), normalized=False)
    shelf = embeddings(one, normalized=False)
    impressions = impressions_of([[3, 4, 5]], [[6, 7]])
    read = np.array([3, N_NEWS + 4, -1])
    scores = LateFusion().score(impressions, features_of(both, shelf, history_rows=read))
    expected = one[[6, 7]] @ (one[3] + two[4]) / 2
    assert np.allclose(scores, expected, atol=1e-5)


def test_centring_by_language_takes_the_languages_out_of_a_mixed_history() -> None:
    known = known_answer(np.random.default_rng(2), noise=0.05)
    clean = known.features.history[VIEW].vectors
    n, dim = clean.shape
    bias = np.random.default_rng(3).standard_normal((2, dim))
    stacked = embeddings(np.concatenate([clean + bias[0], clean + bias[1]]), normalized=False)
    language = np.repeat([0, 1], n)
    clicks = known.impressions.history.values
    read = clicks + n * (clicks % 2)
    features = replace(known.features, history={VIEW: stacked}, history_rows=read)

    def scores(**options: object) -> np.ndarray:
        return LateFusion(normalize=True, **options).score(known.impressions, features)  # type: ignore[arg-type]

    unbiased = LateFusion(centre="language").score(known.impressions, known.features)
    apart = scores(centre="language", history_language=language)
    together = scores(centre="language")
    assert np.allclose(apart, unbiased, atol=1e-4)
    assert not np.allclose(together, unbiased, atol=1e-2)


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_memmaps_of_any_float_type_score_the_same(tmp_path: Path, dtype: str) -> None:
    known = known_answer(np.random.default_rng(4))
    e = known.features.candidates[VIEW]
    np.save(tmp_path / "v.npy", e.vectors.astype(dtype))
    mapped = replace(e, vectors=np.load(tmp_path / "v.npy", mmap_mode="r"))
    features = Features(known.news, {VIEW: mapped}, {VIEW: mapped})
    expected = LateFusion().score(known.impressions, known.features)
    got = LateFusion().score(known.impressions, features)
    assert got.dtype == np.float32
    assert np.allclose(got, expected, atol=2e-3 if dtype == "float16" else 1e-6)


def test_a_slice_of_a_wider_matrix_scores_the_same() -> None:
    known = known_answer(np.random.default_rng(4), normalized=False)
    e = known.features.candidates[VIEW]
    wide = np.concatenate([e.vectors, e.vectors], axis=1)
    sliced = replace(e, vectors=wide[:, : e.vectors.shape[1]])
    features = Features(known.news, {VIEW: sliced}, {VIEW: sliced})
    expected = LateFusion().score(known.impressions, known.features)
    assert np.array_equal(LateFusion().score(known.impressions, features), expected)


@pytest.mark.parametrize("values", [1, 64, 1000])
def test_scores_do_not_depend_on_blocks_or_threads(
    monkeypatch: pytest.MonkeyPatch, values: int
) -> None:
    known = known_answer(np.random.default_rng(5), languages=("deu", "fin"), empty=0.2)
    expected = LateFusion(threads=1).score(known.impressions, known.features)
    monkeypatch.setattr(blocks, "BLOCK_VALUES", values)
    monkeypatch.setattr(fusion, "_READER_VALUES", values)
    for threads in (1, 3):
        got = LateFusion(threads=threads).score(known.impressions, known.features)
        assert np.array_equal(got, expected)


def test_equal_vectors_give_equal_scores_wherever_they_stand() -> None:
    rng = np.random.default_rng(6)
    vectors = np.repeat(rng.standard_normal((6, 300)), 5, axis=0)
    e = embeddings(vectors)
    impressions = impressions_of([[0, 7, 13]], [list(range(N_NEWS))])
    scores = LateFusion().score(impressions, features_of(e, e)).reshape(6, 5)
    assert (scores == scores[:, :1]).all()


def test_a_mean_of_too_few_rows_is_left_in() -> None:
    present = np.arange(N_NEWS) < MIN_ROWS - 1
    rng = np.random.default_rng(7)
    e = embeddings(rng.standard_normal((N_NEWS, DIM)) + 1, present=present)
    impressions = impressions_of([[0, 1]], [[2, 3, 4]])
    features = features_of(e, e)
    scores = LateFusion(centre="language").score(impressions, features)
    assert np.allclose(scores, LateFusion(centre="none").score(impressions, features), atol=1e-6)


def test_errors_say_what_is_there() -> None:
    e = embeddings(np.eye(N_NEWS))
    impressions = impressions_of([[1]], [[2, 3]])
    with pytest.raises(ConfigError, match=r"unknown centre 'langauge'.*Did you mean 'language'"):
        LateFusion(centre="langauge")
    with pytest.raises(ConfigError, match="unknown normalize"):
        LateFusion(normalize="yes")
    with pytest.raises(ConfigError, match="history_limit: 0"):
        LateFusion(history_limit=0)
    with pytest.raises(ConfigError, match=r"history vectors of view 'body'.*title\+abstract"):
        LateFusion(view="body").score(impressions, features_of(e, e))
    small = embeddings(np.eye(N_NEWS)[:, :3])
    with pytest.raises(DataError, match="3 dimensions, the shelf's 30"):
        LateFusion().score(impressions, features_of(small, e))
    with pytest.raises(DataError, match=r"history_rows: \(2,\), expected \(1,\)"):
        LateFusion().score(impressions, features_of(e, e, history_rows=np.array([1, 2])))
    with pytest.raises(DataError, match="history row 99"):
        LateFusion().score(impressions, features_of(e, e, history_rows=np.array([99])))
    with pytest.raises(DataError, match="candidate row 77"):
        LateFusion().score(impressions_of([[1]], [[77]]), features_of(e, e))
