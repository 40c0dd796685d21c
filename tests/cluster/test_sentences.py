"""Sentences in every script: nothing is lost, nothing is cut short."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from newsrec.cluster import split_sentences
from newsrec.cluster.sentences import LONGEST, is_sentence

# Two or three sentences a language, each a whole one.
WHOLE: dict[str, tuple[str, ...]] = {
    "eng": (
        "Dr. J. Smith paid $3.5 million to St. Mary's on Jan. 5.",
        '"Who pays for it?" asked Sen. Lee of the U.S. senate.',
        "Nobody knew!",
    ),
    "fin": (
        "Kokous alkaa 3. maaliskuuta klo 12.30 esim. Turussa.",
        "Hinta nousi 2,5 prosenttia.",
        "Kuka maksaa?",
    ),
    "grn": ("Tetãyguára oñembyaty ko ka’aru.", "¿Mba’épa oiko?", "Sra. Benítez oñe’ẽ 3.500 rehe."),
    "hat": ("Lapli a kraze 3.5 kilomèt wout.", "Poukisa?", "Dr. Pyè di l ap tounen demen."),
    "ind": ("Harga naik 2,5 persen pada 5 Jan. 2026.", "Mengapa?", "Ir. Budi dan dr. Ani setuju."),
    "jpn": (
        "首相は「私は行かない。絶対に。」と述べた。",
        "本当か？",
        "価格は3.5%上がり、Apple Inc.も値上げした。",
    ),
    "kat": ("პარლამენტმა კანონი 76 ხმით მიიღო.", "რატომ ახლა?", "ე.ი. ფასი 3.5 ლარია."),
    "cmn": ("他说：“我不去。”", "会议结束了。", "价格上涨3.5%，为什么？", "没有人知道！"),
    "ron": (
        "Prețul a crescut cu 3,5 % la nr. 12.",
        "Dl. Ionescu și dr. Pop au plecat.",
        "De ce?",
    ),
    "som": ("Dr. Cali ayaa yimid Muqdisho.", "Maxaa dhacay?", "Qiimuhu waa 3.5 doolar."),
    "swh": ("Mhe. Juma alifika saa 2.30 asubuhi.", "Kwa nini?", "Dkt. Asha alisema bei ni 3.5."),
    "tam": ("மு.க. குமார் ரூ. 500 கோடி ஒதுக்கினார்.", "ஏன் இப்போது?", "விலை 3.5 சதவீதம் உயர்ந்தது."),
    "tur": (
        "5. sınıf öğrencileri Prof. Dr. Ayşe Kaya ile II. Abdülhamit dönemini okudu.",
        "Neden?",
        "Fiyat 3.500 lira oldu.",
    ),
    "vie": ("TS. Lan nói giá tăng 3,5%.", "Vì sao?", "TP. Huế mưa to từ ngày 5.3."),
}  # fmt: skip
UNSPACED = {"jpn", "cmn"}


@pytest.mark.parametrize("language", WHOLE)
def test_whole_sentences_in_each_language(language: str) -> None:
    sentences = WHOLE[language]
    joined = ("" if language in UNSPACED else " ").join(sentences)
    assert split_sentences(joined, language) == list(sentences)
    assert all(is_sentence(sentence) for sentence in sentences)


def test_thai_is_cut_at_spaces_that_no_word_of_connection_follows() -> None:
    first = "ชาวบ้านในหมู่บ้านริมแม่น้ำช่วยกันสร้างเขื่อนดิน เพื่อป้องกันน้ำท่วมในฤดูฝน"
    second = "ผู้ใหญ่บ้านบอกว่าเงินบริจาคมีแล้ว 250,000 บาท และยังขาดอีกครึ่งหนึ่ง"
    assert split_sentences(f"{first} {second}", "tha") == [first, second]
    assert split_sentences(f"{first}\n{second}", "tha") == [first, second]
    assert is_sentence(first)


def test_a_short_thai_headline_stays_whole() -> None:
    assert split_sentences("ฝนตกหนัก น้ำท่วมถนน", "tha") == ["ฝนตกหนัก น้ำท่วมถนน"]


def test_thai_abbreviations_end_nothing() -> None:
    text = "พ.ศ. ๒๕๖๙ มีงานใหญ่ที่กทม. ประชาชนมาก"
    assert split_sentences(text, "tha") == [text]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("He said no. Then no. 5 won.", ["He said no.", "Then no. 5 won."]),
        ("He lives in the U.S. The law passed.", ["He lives in the U.S.", "The law passed."]),
        ("The cat sat. He left.", ["The cat sat.", "He left."]),
        ("Really?! Yes... Perhaps.", ["Really?!", "Yes...", "Perhaps."]),
        ("He left (at last.) Then it rained.", ["He left (at last.)", "Then it rained."]),
        ("One line\nof a wrapped text. Two.", ["One line of a wrapped text.", "Two."]),
        ("A headline\nThe text begins.", ["A headline", "The text begins."]),
        ("First paragraph\n\nsecond one", ["First paragraph", "second one"]),
        ("See yle.fi or 10.5.2026 for it.", ["See yle.fi or 10.5.2026 for it."]),
        ("वह आया। वह गया।", ["वह आया।", "वह गया।"]),
        ("هل جاء؟ نعم. انتهى.", ["هل جاء؟", "نعم.", "انتهى."]),
        ("社長は「はい。」と言った。拍手。", ["社長は「はい。」と言った。", "拍手。"]),
        ("", []),
        (" \n\t ", []),
        ("...", ["..."]),
    ],
)
def test_where_sentences_end(text: str, expected: list[str]) -> None:
    assert split_sentences(text, "eng") == expected


def test_a_text_without_any_full_stop_is_cut_at_commas_and_spaces() -> None:
    parts = split_sentences("one two three, " * 100)
    assert max(map(len, parts)) <= LONGEST
    assert all(part.endswith(",") for part in parts)
    assert max(map(len, split_sentences("字" * 3 * LONGEST))) == LONGEST


def test_a_headline_is_no_sentence() -> None:
    assert not is_sentence("Council lowers fares")
    assert not is_sentence("市が運賃を下げる")


ALPHABET = st.sampled_from(
    [*"aB1I。.?!…「」”')] \n,", "Dr", "ก", "ที่", "மு", "ა", "と", "的", " ก "]
)


@settings(deadline=None)
@given(st.lists(ALPHABET, max_size=120).map("".join), st.sampled_from(["eng", "fin", "tha", "jpn"]))
def test_nothing_but_spaces_is_lost(text: str, language: str) -> None:
    found = split_sentences(text, language)
    assert "".join("".join(found).split()) == "".join(text.split())
    assert all(one and one == " ".join(one.split()) and len(one) <= LONGEST for one in found)


@settings(deadline=None)
@given(st.text(max_size=200))
def test_any_text_is_kept(text: str) -> None:
    assert "".join("".join(split_sentences(text)).split()) == "".join(text.split())
