"""What is learnt from, and what is held out."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from newsrec.config import parse_training
from newsrec.corpus import Corpus
from newsrec.errors import ConfigError, DataError
from newsrec.pipeline.lessons import Lesson, check_valid, make_lesson
from newsrec.pipeline.open import open_corpus


@pytest.fixture(scope="module")
def corpus() -> Corpus:
    return open_corpus(None)


def lesson(corpus: Corpus, **fields: Any) -> Lesson:
    config = parse_training({"head": "naml-cat", **fields})
    return make_lesson(corpus, config, "eng", {}, text=False)


def test_samples_of_a_seed_are_nested_usable_and_in_the_order_of_the_log(corpus: Corpus) -> None:
    found = lesson(corpus)
    order = {id_: i for i, id_ in enumerate(found.train.ids.tolist())}
    for seed in (42, 43):
        before: set[str] = set()
        for shots in (3, 10, 50):
            impressions, _ = found.sample(shots, seed)
            ids = impressions.ids.tolist()
            assert len(set(ids)) == shots
            assert before <= set(ids)
            assert [order[x] for x in ids] == sorted(order[x] for x in ids)
            assert (impressions.history_lengths > 0).all()
            before = set(ids)
    assert set(found.sample(10, 42)[0].ids) != set(found.sample(10, 43)[0].ids)
    assert found.sample(None, 42)[0] is found.train


def test_too_many_shots_are_said(corpus: Corpus) -> None:
    with pytest.raises(DataError, match=r"--shots 100000: the training split has \d+ usable"):
        lesson(corpus).sample(100_000, 42)


def test_a_share_holds_out_the_last_impressions_by_time(corpus: Corpus) -> None:
    whole = lesson(corpus, valid="none")
    assert whole.valid is None
    found = lesson(corpus, valid="0.2")
    assert found.held_out
    assert found.valid is not None
    assert len(found.train) + len(found.valid) == len(whole.train)
    assert len(found.valid) == int(0.2 * len(whole.train))
    assert found.train.time.max() <= found.valid.time.min()
    assert not set(found.train.ids) & set(found.valid.ids)


def test_a_split_says_when_to_stop_where_there_is_one(corpus: Corpus) -> None:
    for fields in ({}, {"valid": "valid"}):
        found = lesson(corpus, **fields)
        assert found.valid is not None
        assert not found.held_out
        np.testing.assert_array_equal(corpus.impressions("valid").ids, found.valid.ids)


@pytest.mark.parametrize(
    ("valid", "said"),
    [("later", "unknown --valid: 'later'; known"), ("1.5", "between 0 and 1"), ("0", "between 0")],
)
def test_what_is_neither_split_nor_share_is_said(valid: str, said: str) -> None:
    with pytest.raises(ConfigError, match=said):
        check_valid(valid, ("train", "valid"))


def test_a_split_that_is_measured_does_not_say_when_to_stop(corpus: Corpus) -> None:
    assert lesson(corpus, test="valid").held_out
    assert not lesson(corpus, test="test").held_out
