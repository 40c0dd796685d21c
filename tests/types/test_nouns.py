"""The nouns check themselves once, when made."""

from __future__ import annotations

from dataclasses import FrozenInstanceError, replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from newsrec.errors import ConfigError, DataError
from newsrec.types import (
    Embeddings,
    EmbeddingSpec,
    EncoderSpec,
    Impressions,
    NewsTable,
    Ragged,
    Strings,
    Texts,
)


def news(*ids: str) -> NewsTable:
    n = len(ids)
    return NewsTable(
        ids=np.array(ids, np.str_),
        category=np.zeros(n, np.int16),
        subcategory=np.full(n, -1, np.int16),
        category_names=("world",),
        subcategory_names=(),
        published=np.full(n, np.datetime64("NaT", "s")),
        story=np.full(n, -1, np.int32),
    )


def impressions() -> Impressions:
    return Impressions(
        ids=np.array(["1", "2", "3"]),
        user=np.array([0, 1, 0], np.int32),
        time=np.array(["2026-01-01", "2026-01-02", "2026-01-03"], "datetime64[s]"),
        history=Ragged.from_lists([[], [4, 5]]),
        history_of=np.array([1, 0, 1], np.int32),
        candidates=Ragged.from_lists([[1, 2], [], [3]]),
        clicked=np.array([True, False, True]),
    )


SPEC = EncoderSpec("toy", "r1", 4, "mean", (1, 2, 4), normalized=True)


def test_nouns_are_frozen() -> None:
    with pytest.raises(FrozenInstanceError):
        news("a").ids = np.array(["b"])  # type: ignore[misc]


@given(st.lists(st.text(), unique=True, min_size=1, max_size=20), st.lists(st.text(), max_size=20))
def test_find_agrees_with_a_dictionary(ids: list[str], wanted: list[str]) -> None:
    # NumPy strings drop trailing NULs, and no id in a file has one.
    ids = list(dict.fromkeys(i.rstrip("\x00") for i in ids))
    wanted = [w.rstrip("\x00") for w in wanted]
    table = {key: row for row, key in enumerate(ids)}
    found = news(*ids).find(wanted)
    assert found.tolist() == [table.get(key, -1) for key in wanted]


def test_rows_names_the_first_unknown_id() -> None:
    assert news("a", "b").rows(["b", "a"]).tolist() == [1, 0]
    with pytest.raises(DataError, match=r"no article 'x' among 2 \(1 of 2 ids unknown\)"):
        news("a", "b").rows(["a", "x"])


def test_news_ids_are_unique_and_columns_fit() -> None:
    with pytest.raises(DataError, match="'a' occurs twice"):
        news("a", "b", "a")
    with pytest.raises(DataError, match=r"category: \(2,\), expected \(1,\)"):
        replace(news("a"), category=np.zeros(2, np.int16))
    with pytest.raises(DataError, match="code outside"):
        replace(news("a"), category=np.ones(1, np.int16))


def test_take_keeps_only_the_histories_in_use() -> None:
    taken = impressions().take(np.array([2, 0]))
    assert taken.ids.tolist() == ["3", "1"]
    assert len(taken.history) == 1
    assert taken.history[int(taken.history_of[0])].tolist() == [4, 5]
    assert [c.tolist() for c in taken.candidates] == [[3], [1, 2]]
    assert taken.clicked is not None
    assert taken.clicked.tolist() == [True, True, False]


def test_keep_candidates_drops_candidates_not_impressions() -> None:
    kept = impressions().keep_candidates(np.array([False, True, False]))
    assert [c.tolist() for c in kept.candidates] == [[2], [], []]
    assert kept.clicked is not None
    assert kept.clicked.tolist() == [False]
    with pytest.raises(DataError, match="mask"):
        impressions().keep_candidates(np.array([True]))


def test_impressions_that_do_not_fit_are_refused() -> None:
    with pytest.raises(DataError, match="one per candidate"):
        replace(impressions(), clicked=np.array([True]))
    with pytest.raises(DataError, match="history_of"):
        replace(impressions(), history_of=np.array([0, 1, 2], np.int32))


@given(st.lists(st.text(max_size=20)))
def test_strings_survive_utf8(strings: list[str]) -> None:
    packed = Strings.pack(strings)
    assert list(packed) == strings
    assert packed.take(np.arange(len(strings))) == strings


def test_a_lone_surrogate_becomes_a_replacement_character() -> None:
    assert "\ufffd" in Strings.pack(["a\ud800b"])[0]


def test_views_of_texts() -> None:
    texts = Texts(
        "eng",
        Strings.pack(["One", "Two", ""]),
        Strings.pack(["first", "", ""]),
        np.array([True, True, False]),
    )
    assert texts.view("title+abstract") == ["One first", "Two"]
    assert texts.view("title", np.array([1])) == ["Two"]
    with pytest.raises(ConfigError, match="unknown view 'lead'"):
        texts.view("lead")
    with pytest.raises(DataError, match="no body"):
        texts.view("body")


@given(st.integers(0, 2**31))
def test_a_prefix_is_renormalised(seed: int) -> None:
    vectors = np.random.default_rng(seed).normal(size=(5, 4)).astype(np.float32)
    vectors[2] = 0
    embeddings = Embeddings(vectors, np.ones(5, bool), EmbeddingSpec(SPEC, "eng", "title", "c"))
    prefix = embeddings.at(2)
    for row, whole in zip(prefix, vectors, strict=True):
        length = np.linalg.norm(whole[:2])
        expected = whole[:2] / length if length > 0 else np.zeros(2)
        np.testing.assert_allclose(row, expected, rtol=1e-5, atol=1e-6)
    with pytest.raises(ConfigError, match="no level 3"):
        embeddings.at(3)


def test_every_field_of_a_spec_changes_its_hash() -> None:
    changed = [
        replace(SPEC, name="other"),
        replace(SPEC, revision="r2"),
        replace(SPEC, pooling="cls"),
        replace(SPEC, levels=(2, 4)),
        replace(SPEC, normalized=False),
        replace(SPEC, prefix="query: "),
        replace(SPEC, max_tokens=96),
        replace(SPEC, precision="int8"),
        replace(SPEC, dtype="float16"),
    ]
    assert len({spec.hash for spec in [SPEC, *changed]}) == len(changed) + 1
    base = EmbeddingSpec(SPEC, "eng", "title", "c")
    others = [replace(base, language="fin"), replace(base, view="body"), replace(base, corpus="d")]
    assert len({spec.hash for spec in [base, *others]}) == 4
