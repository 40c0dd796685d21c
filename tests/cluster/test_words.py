"""Words in any script, with the segmenters and without them."""

from __future__ import annotations

import subprocess
import sys
import unicodedata

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from newsrec.cluster import segmentation, stop_words
from newsrec.cluster.stopwords import listed
from newsrec.cluster.words import words
from newsrec.corpus.sample import LANGUAGES, read_news, read_texts
from newsrec.encode import load_encoder
from newsrec.errors import DataError

CONTENT = {
    "eng": "police government president election war school health",
    "fin": "poliisi hallitus presidentti vaalit koulu",
    "cmn": "美国 中国 政府 学校",
    "tur": "abd polis hükümet okul",
    "swh": "marekani kura polisi serikali",
    "vie": "chính thể học nhật",
}


@pytest.mark.parametrize(
    ("language", "text", "expected"),
    [
        ("eng", "The mayor’s 2 free-bus plans, in 2024!", ["mayor", "free-bus", "plans"]),
        ("fra", "L’école d’Arles", ["école", "arles"]),
        ("tur", "ANKARA'DA IŞIK İSTANBUL", ["ankara", "ışık", "istanbul"]),
        ("grn", "mbo'ehao", ["mbo'ehao"]),
        ("tam", "பள்ளித் தோட்டம்", ["பள்ளித்", "தோட்டம்"]),
        ("kat", "სკოლის ბაღი", ["სკოლის", "ბაღი"]),
        ("hin", "विद्यालय १२३", ["विद्यालय"]),
        ("eng", "ＦＵＬＬ width soft\u00adware", ["full", "width", "software"]),
        ("jpn", "小政党が学校を見た", ["小政党", "学校"]),
        ("jpn", "15カ国の首脳が第2回世界大会で3時間半走った", ["首脳", "世界", "大会"]),
        ("jpn", "半導体工場は週4日で優勝杯は半分", ["半導体", "工場", "優勝杯", "半分"]),
        ("cmn", "学校的花园", ["学校", "花园"]),
        ("tha", "น้ำในโรงเรียน", ["น้ำ", "โรงเรียน"]),
        ("lao", "ລັດຖະບານ", ["ລັດຖະບານ"]),
        ("khm", "រដ្ឋាភិបាលប្រកាសច្បាប់", ["រដ្ឋាភិបាល", "ប្រកាស", "ច្បាប់"]),
        ("eng", "G20 ٣ ५ ½ Ⅷ 12th", ["g20", "viii"]),
        ("eng", "", []),
        ("eng", f"harbour {'x' * 61} {'y' * 60}", ["harbour", "y" * 60]),
    ],
)
def test_words_are_those_of_the_language(language: str, text: str, expected: list[str]) -> None:
    assert words(text, language) == expected


@settings(deadline=None)
@given(st.text(), st.sampled_from([*LANGUAGES, "fra", "arb", "mya", "kor"]))
def test_words_are_folded_letters_and_never_numerals_or_stop_words(
    text: str, language: str
) -> None:
    for word in words(text, language):
        assert word not in stop_words(language)
        assert not word.isnumeric()
        assert any(unicodedata.category(c)[0] == "L" for c in word)
        assert not word[0].isdigit()
        assert not any(c.isspace() for c in word)


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_language_of_the_sample_has_words_and_a_list(language: str) -> None:
    shelf = read_texts(language, read_news())
    assert len(stop_words(language)) >= 40
    for text in shelf.view("title+abstract"):
        found = words(text, language)
        assert len(found) >= 5
        assert not stop_words(language).intersection(found)


def test_words_that_mean_something_are_no_stop_words() -> None:
    for language, content in CONTENT.items():
        assert not stop_words(language) & set(content.split()), language
    assert len(listed()) >= 50


def test_codes_of_any_kind_are_understood() -> None:
    assert words("学校的花园", "zh-CN") == words("学校的花园", "cmn")
    with pytest.raises(DataError, match="unknown language"):
        words("x", "klingon")


def test_the_segmenters_are_named() -> None:
    assert segmentation("eng") == "spaces"
    assert segmentation("jpn") == "sudachi"
    assert segmentation("cmn") == segmentation("yue") == "jieba"
    assert segmentation("tha") == "pythainlp"
    assert segmentation("mya") == "icu"


WITHOUT = """
import sys
from importlib.abc import MetaPathFinder

GONE = {"rjieba", "sudachipy", "sudachidict_small", "pythainlp", "icu4py"}
class Absent(MetaPathFinder):
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in GONE:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)

sys.meta_path.insert(0, Absent())
from newsrec.cluster import segmentation
from newsrec.cluster.words import words
from newsrec.encode import load_encoder
cut = load_encoder("mini").cut
texts = {"jpn": "学校の菜園", "cmn": "學校的花園", "tha": "โรงเรียนในหมู่บ้าน", "mya": "အစိုးရက"}
for language, text in texts.items():
    print(segmentation(language), *words(text, language))
    print(segmentation(language, cut), *words(text, language, cut))
"""


def test_without_the_extra_pieces_or_pairs_of_characters_stand_in() -> None:
    done = subprocess.run(
        [sys.executable, "-c", WITHOUT], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    lines = [line.split() for line in done.stdout.splitlines()]
    assert [line[0] for line in lines] == ["bigrams", "pieces"] * 4
    assert "学校" in lines[0]
    assert "学校" in lines[1]
    assert "學校" in lines[3]  # the text's own characters, though the encoder simplifies
    assert all(len(line) > 1 for line in lines)


def test_pieces_of_the_encoder_are_as_long_as_the_run() -> None:
    cut = load_encoder("mini").cut
    for run in ("學校的花園", "โรงเรียนในหมู่บ้าน", "選挙戦始まる", "x", "𠮷野家"):
        assert sum(map(len, cut(run))) == len(run)
