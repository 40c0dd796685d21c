"""What every summarizer promises. One row per implementation: a new one adds a line to `rows`."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

import numpy as np
import pytest

from newsrec.cluster import Extractive
from newsrec.cluster.summarise import SUMMARIZERS, Decoding, Endpoint, LocalModel
from newsrec.errors import DataError
from newsrec.protocols import Summarizer
from newsrec.types import Article
from tests.cluster.hostile import HOSTILE
from tests.cluster.listening import endpoint, said
from tests.cluster.tiny import llama

ARTICLES = [
    Article(
        4, "eng", "Dockers go back to work", "The strike is over. Cranes move. Ships leave.", "So."
    ),
    Article(
        2, "fin", "Ahtaajat palaavat työhön", "Lakko on ohi. Nosturit liikkuvat taas satamassa."
    ),
    Article(2, "eng", "Dockers are back", "A deal ended the strike at the harbour last night."),
    Article(9, "jpn", "港湾労働者が職場に戻る", "ストライキは終わった。クレーンが再び動き出した。"),
]
EMPTY = [Article(1, "eng", " "), Article(2, "fin", "", "\n")]


def embed(texts: Sequence[str]) -> np.ndarray:
    """``(n, 64)``: counts of characters by code, so that any two texts have a cosine."""
    return np.array(
        [np.bincount([ord(c) % 64 for c in t], minlength=64) for t in texts], np.float32
    )


@pytest.fixture(scope="module")
def rows(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Summarizer]]:
    folder = llama(tmp_path_factory.mktemp("tiny") / "llama")
    answer = said("**One** is [here](https://x.example/). Two\x00 <b>too</b>. Three. Four.")
    with endpoint(answer) as heard:
        yield {
            "extractive": Extractive(embed),
            "http": Endpoint(heard.url, "tiny"),
            "hf": LocalModel(str(folder), decoding=Decoding(max_new_tokens=24)),
        }


ROWS = ("extractive", "http", "hf")


@pytest.fixture(params=ROWS)
def summarise(request: pytest.FixtureRequest, rows: dict[str, Summarizer]) -> Summarizer:
    return rows[request.param]


def test_every_summarizer_is_a_row() -> None:
    assert {name.removesuffix("s") for name in SUMMARIZERS} == set(ROWS)


def test_a_few_sentences_that_the_text_is_made_of(summarise: Summarizer) -> None:
    assert isinstance(summarise, Summarizer)
    for language in ("eng", "fin", "jpn"):
        summary = summarise(ARTICLES, language)
        assert 1 <= len(summary.sentences) <= 3
        assert summary.text == ("" if language == "jpn" else " ").join(summary.sentences)
        assert summary.language == language
        assert summary.by
        assert set(summary.rows) <= {2, 4, 9}


def test_order_of_articles_and_a_second_time_change_nothing(summarise: Summarizer) -> None:
    before = list(ARTICLES)
    first = summarise(ARTICLES, "eng")
    assert summarise(ARTICLES, "eng") == first
    assert summarise(ARTICLES[::-1], "eng") == first
    assert before == ARTICLES


def test_a_language_may_be_written_otherwise(summarise: Summarizer) -> None:
    assert summarise(ARTICLES, "fi") == summarise(ARTICLES, "fin")
    with pytest.raises(DataError, match="nearest known"):
        summarise(ARTICLES, "finn")


def test_no_text_gives_none_and_no_article_is_an_error(summarise: Summarizer) -> None:
    nothing = summarise(EMPTY, "fin")
    assert (nothing.text, nothing.sentences, nothing.rows) == ("", (), ())
    with pytest.raises(DataError, match="0 articles"):
        summarise([], "fin")


@pytest.mark.parametrize("some", [slice(0, None, 2), slice(1, None, 2)])
def test_hostile_articles_bring_no_markup_into_the_text(summarise: Summarizer, some: slice) -> None:
    hostile = [Article(i, "eng", text, text, text) for i, text in enumerate(HOSTILE)]
    text = summarise(hostile[some], "eng").text
    assert text
    assert not re.search(r"<[^\s\d=]|https?://|www\.|javascript:|&lt;|&#60;", text)
    assert text.isprintable()


def test_articles_in_no_known_language_are_named(summarise: Summarizer) -> None:
    with pytest.raises(DataError, match="'fi'"):
        summarise([Article(0, "fi", "Lakko")], "fin")
