"""The id table finds what a dictionary finds, for ids of any form and length."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from newsrec.corpus.ids import PADDING, IdIndex, as_bytes, as_str, word_view, words_at

_id = st.text(
    st.characters(min_codepoint=33, exclude_categories=("Cs", "Cc")), min_size=1, max_size=40
).filter(lambda text: len(text.encode()) <= 100)


def _words(ids: list[str]) -> list[np.ndarray]:
    encoded = [text.encode() for text in ids]
    lengths = np.array([len(e) for e in encoded], np.int64)
    text = np.frombuffer(b"".join([*encoded, PADDING]), np.uint8)
    return words_at(word_view(text), np.cumsum(lengths) - lengths, lengths)


@given(st.lists(_id, unique=True, max_size=30), st.lists(_id, min_size=1, max_size=10))
@settings(deadline=None)
def test_finds_what_a_dictionary_finds(known: list[str], others: list[str]) -> None:
    index = IdIndex.build(known)
    table = {text: row for row, text in enumerate(known)}
    asked = known + others
    assert index.find(_words(asked)).tolist() == [table.get(text, -1) for text in asked]
    # Alone, so that the words asked for are fewer or more than the table's.
    for text in asked:
        assert index.find(_words([text])).tolist() == [table.get(text, -1)]
        assert index.knows(text.encode()) == (text in table)


@given(st.lists(_id, min_size=1, max_size=10))
def test_words_are_the_ids_themselves(ids: list[str]) -> None:
    assert as_str(as_bytes(_words(ids))).tolist() == ids


def test_prefixes_are_other_ids() -> None:
    ids = ["a" * n for n in range(1, 40)]
    index = IdIndex.build(ids[::2])
    assert index.find(_words(ids)).tolist() == [n // 2 if n % 2 == 0 else -1 for n in range(39)]


def test_a_crowded_table_finds_every_id() -> None:
    ids = [f"N{k}" for k in range(20_000)]
    np.testing.assert_array_equal(IdIndex.build(ids).find(_words(ids)), np.arange(20_000))


def test_an_empty_table_finds_nothing() -> None:
    index = IdIndex.build([])
    assert index.find(_words(["a", "b" * 20])).tolist() == [-1, -1]
    assert not index.knows(b"")
