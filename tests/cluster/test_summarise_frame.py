"""Whatever articles say, a model is told the same, and they stay data."""

from __future__ import annotations

import json
import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from newsrec.cluster.summarise import framed
from newsrec.cluster.summarise.frame import MOST_ARTICLES, MOST_CHARACTERS, RULES, SYSTEM, Frame
from newsrec.errors import DataError
from newsrec.types import Article
from tests.cluster.hostile import HOSTILE
from tests.cluster.tiny import SPECIAL

TEXT = st.one_of(st.sampled_from(HOSTILE), st.text(max_size=60))
ARTICLES = st.lists(
    st.builds(Article, st.integers(0, 9), st.sampled_from(["eng", "fin", "tha"]), TEXT, TEXT, TEXT),
    min_size=1,
    max_size=6,
)


def data_of(frame: Frame) -> list[dict[str, str]]:
    """What stands between the marker lines, read as a reader of the frame would."""
    lines = frame.messages[1]["content"].split("\n")
    assert re.fullmatch(r"=== [0-9a-f]{24} ===", lines[1])
    places = [i for i, line in enumerate(lines) if line == lines[1]]
    assert places == [1, len(lines) - 2]
    return [json.loads(line) for line in lines[2:-2] if line]


def outside(frame: Frame) -> tuple[str, str]:
    lines = frame.messages[1]["content"].split("\n")
    return lines[0], lines[-1]


HARMLESS = framed([Article(0, "eng", "A title", "A text.")], "fin")


@settings(deadline=None)
@given(ARTICLES)
def test_roles_number_and_instructions_do_not_depend_on_articles(articles: list[Article]) -> None:
    frame = framed(articles, "fin", special=SPECIAL)
    assert [message["role"] for message in frame.messages] == ["system", "user"]
    assert all(set(message) == {"role", "content"} for message in frame.messages)
    assert frame.messages[0]["content"] == SYSTEM
    assert outside(frame) == outside(HARMLESS)
    data = data_of(frame)
    assert len(data) == len(frame.rows) <= len({article.row for article in articles})
    assert all(list(one) == ["language", "title", "text"] for one in data)


@settings(deadline=None)
@given(ARTICLES)
def test_no_article_brings_a_token_of_a_chat_format(articles: list[Article]) -> None:
    content = framed(articles, "fin", special=SPECIAL).messages[1]["content"]
    data = content.split("\n", 2)[2].rsplit("\n", 2)[0]
    assert not set(data.replace("\n", "")) & set("<>[]|#`＜＞［］｜")
    assert not any(token in data for token in SPECIAL)
    assert all(char.isprintable() or char in "\n\u200c\u200d" for char in data)


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_texts_are_data(text: str) -> None:
    frame = framed([Article(0, "eng", text, text, text), Article(1, "fin", "Toinen")], "eng")
    first, second = data_of(frame)
    assert first["language"] == "English"
    assert second == {"language": "Finnish", "title": "Toinen", "text": ""}


def test_what_is_escaped_reads_as_it_was() -> None:
    text = 'Profits rose [by 5] | #1 in "Zorblax" \\ {year}'
    frame = framed([Article(0, "eng", text)], "eng", special=["Zorblax"])
    assert data_of(frame)[0]["title"] == text
    assert "Zorblax" not in frame.messages[1]["content"]


def test_a_task_goes_before_the_rules_that_always_follow() -> None:
    frame = framed([Article(0, "eng", "A")], "eng", task="Be brief.")
    assert frame.messages[0]["content"] == f"Be brief. {RULES}"


def test_each_article_once_in_the_wanted_language_where_it_is_there() -> None:
    articles = [
        Article(0, "eng", "zero"), Article(0, "fin", "nolla"), Article(1, "tha", "ศูนย์"),
        Article(1, "eng", "one"), Article(2, "som", "laba"), Article(3, "eng", " "),
    ]  # fmt: skip
    frame = framed(articles, "fin")
    assert [one["title"] for one in data_of(frame)] == ["nolla", "one", "laba"]
    assert frame.rows == (0, 1, 2)
    assert framed(articles[::-1], "fin") == frame


def test_a_large_cluster_is_shown_in_part() -> None:
    articles = [Article(i, "eng", f"title {i}", "word " * 10_000) for i in range(500)]
    frame = framed(articles, "eng")
    assert len(frame.rows) == MOST_ARTICLES
    assert (frame.rows[0], frame.rows[-1]) == (0, 499)
    assert len(frame.messages[1]["content"]) < 1.3 * MOST_CHARACTERS
    shorter = framed(articles, "eng", characters=MOST_CHARACTERS // 4)
    assert len(shorter.messages[1]["content"]) < len(frame.messages[1]["content"]) / 2


def test_no_article_is_an_error() -> None:
    with pytest.raises(DataError, match="0 articles"):
        framed([], "eng")
