"""The page that `recommend` makes, from Python."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from newsrec import Corpus, Request, open_corpus, recommend
from newsrec.corpus import write_corpus
from newsrec.pipeline.shelf import last_moment
from newsrec.types import EncoderSpec


class Against:
    """Every Finnish text points away from all others: whatever was read speaks against it."""

    def __init__(self) -> None:
        self.spec = EncoderSpec("against", "1", 2, "none", (2,), normalized=False)
        finnish = open_corpus().texts("fin")
        self._finnish = {finnish.title[int(row)] for row in finnish.rows}

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        sign = [-1 if any(text.startswith(t) for t in self._finnish) else 1 for text in texts]
        length = [1 + len(text) for text in texts]
        return np.stack([np.multiply(sign, length), np.zeros(len(texts))], 1).astype(np.float32)


def test_an_article_that_nothing_speaks_for_still_has_a_reason() -> None:
    page = recommend(open_corpus(), Request(user="U123", languages=("fin",)), encoder=Against())
    assert len(page.items) == 10
    for item in page.items:
        assert item.score < 0
        assert item.because is not None
        assert item.because.language in ("ron", "tur")
        assert item.because.share == 0
    shortest = {item.because.id for item in page.items if item.because is not None}
    assert len(shortest) == 1  # the text read that speaks least against them


def test_languages_are_said_as_iso_639_3() -> None:
    page = recommend(open_corpus(), Request(user="U123", languages=("FI",), k=2))
    assert page.language == "fin"
    assert {item.language for item in page.items} == {"fin"}


def _dated(folder: Path, *, splits: bool) -> Corpus:
    """The sample's Finnish shelf with an article of 2062, with or without its log."""
    sample = open_corpus()
    published = np.array(sample.news.published)
    published[0] = np.datetime64("2062-01-01T00:00:00")
    log = {split: sample.impressions(split) for split in sample.splits}
    return write_corpus(
        folder,
        name="dated",
        news=replace(sample.news, published=published),
        users=sample.users,
        texts=[sample.texts("fin")],
        splits=log if splits else {},
    )


def test_now_is_the_last_impression_whatever_an_article_is_dated(tmp_path: Path) -> None:
    corpus = _dated(tmp_path / "log", splits=True)
    last = max(corpus.impressions(split).time.max() for split in corpus.splits)
    assert last_moment(corpus) == last < np.datetime64("2027-01-01")
    page = recommend(corpus, Request(user="U123", languages=("fin",), k=100))
    assert str(corpus.news.ids[0]) not in {item.id for item in page.items}


def test_without_a_log_now_is_the_last_publication(tmp_path: Path) -> None:
    corpus = _dated(tmp_path / "news", splits=False)
    assert last_moment(corpus) == np.datetime64("2062-01-01T00:00:00")
