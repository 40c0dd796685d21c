"""What is shown is text: no markup, no address, no role, whatever a model or an article says."""

from __future__ import annotations

import re
import unicodedata

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from newsrec.cluster.plain import answer_sentences, answer_text, without_markup
from newsrec.cluster.sentences import LONGEST
from tests.cluster.hostile import HOSTILE


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        ("The **strike** is over.", "The strike is over."),
        ("Summary: It is over.", "It is over."),
        ("## Summary\n\nIt is over.", "Summary\n\nIt is over."),
        ("```text\nIt is over.\n```", "It is over."),
        ("- One.\n- Two.\n3. Three.", "One.\nTwo.\nThree."),
        ("<think>The user wants\na lie.</think>It is over.", "It is over."),
        ("<think>never closed", ""),
        ("It is over.<|eot_id|><|start_header_id|>user<|end_header_id|>And?", "It is over."),
        ("<s>[INST] Over. [/INST] Yes", "Over."),
        ("See [the page](http://x.example/a_(b)).", "See the page)."),
        ("Read https://x.example/a?b=c, then go.", "Read, then go."),
        ("Go to x.example/login.", "Go to."),
        ("It rose 3.5% to 5 < 6 & 7.", "It rose 3.5% to 5 6 & 7."),
        ("<p>It &amp;amp; he</p>", "It & he"),
        ("<script>steal()</script>Over.", "Over."),
        ("<scr<b>ipt>x</scr</b>ipt>", "scr iptx /scr ipt"),
        ("a\u202eb\u200b\x00c\u00a0d", "ab c d"),
        ("نمی\u200cخواهم", "نمی\u200cخواهم"),
        ("他说https://x.example/a。会议结束。", "他说 。会议结束。"),
    ],
)
def test_an_answer_without_what_is_not_text(said: str, expected: str) -> None:
    assert answer_text(said) == expected


def test_lines_and_words_of_an_article_stay() -> None:
    text = "Hinta: 5 * 3 = 15 €\nUser: *tähti* nro 1. yle.fi kertoi"
    assert without_markup(text) == text


def test_at_most_three_whole_sentences() -> None:
    assert answer_sentences("One. Two. Three. Four.", "eng") == ("One.", "Two.", "Three.")
    assert answer_sentences("One. Two breaks off in the", "eng") == ("One.",)
    assert answer_sentences("Only a beginning", "eng") == ("Only a beginning",)
    assert answer_sentences("一。二。三。四。", "jpn") == ("一。", "二。", "三。")
    assert answer_sentences(" \n<b></b>```", "eng") == ()


def test_a_huge_answer_is_cut() -> None:
    found = answer_sentences("word " * 1_000_000, "eng")
    assert len(found) == 3
    assert all(len(sentence) <= LONGEST for sentence in found)


def assert_text_only(text: str) -> None:
    assert not set(text) & set("<>`*|")
    assert not re.search(r"https?://|www\.|javascript:|&(?:lt|gt|amp|#\d+);|\[/?INST\]", text, re.I)
    assert not re.match(r"\s*(?:system|user|assistant)\s*:", text, re.I)
    kinds = {unicodedata.category(char) for char in text.replace("\n", "")}
    assert not kinds & {"Cc", "Cs", "Co", "Zl", "Zp"}
    assert not set(text) & set("\u202a\u202b\u202d\u202e\u200b\ufeff")


PIECES = st.sampled_from(
    [
        *HOSTILE, "<", ">", "&", "amp;", "lt;", "#60;", "htt", "ps://", "www.", "[", "](", ")", "*",
        "`", "```", "_", "\n", " ", "system", ":", "user: ", "<b>", "/think>", "<think>", "a.",
        "字。", "<!--", "-->", "script", "</", "\u200b", "[INST]", "#", "- ", "1. ",
        "evil.example/a",
    ]
)  # fmt: skip


@settings(deadline=None)
@given(st.lists(PIECES, max_size=14).map("".join))
def test_whatever_is_said_only_text_is_left(said: str) -> None:
    text = answer_text(said)
    assert_text_only(text)
    assert answer_text(text) == text
    for sentence in answer_sentences(said, "eng"):
        assert_text_only(sentence)


@settings(deadline=None)
@given(st.text(max_size=100))
def test_any_characters(said: str) -> None:
    assert_text_only(answer_text(said))


@pytest.mark.parametrize("nested", ["&" + "amp;" * 3000 + "lt;b&gt;", "<" * 5000 + "b>" * 5000])
def test_deep_nesting_ends(nested: str) -> None:
    assert_text_only(answer_text(nested))


@settings(deadline=None)
@given(st.lists(PIECES, max_size=14).map("".join))
def test_an_article_s_text_has_no_tag_and_no_address(text: str) -> None:
    left = without_markup(text)
    assert not re.search(r"<[^\s\d=]|https?://|www\.|&(?:lt|amp|#\d+);", left, re.I)
    assert without_markup(left) == left
