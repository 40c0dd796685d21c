"""Language codes as data sets and newsrooms write them."""

from __future__ import annotations

import pytest

from newsrec.errors import DataError
from newsrec.languages import NAMES, XMIND, canonical, direction, name, tag


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("fin", "fin"), ("FIN", "fin"), ("fi", "fin"), (" Finnish ", "fin"), ("fin_Latn", "fin"),
        ("zho", "cmn"), ("zh-TW", "cmn"), ("zho_Hans", "cmn"), ("swa", "swh"), ("pt-BR", "por"),
        ("GRN", "grn"), ("kat", "kat"), ("nb", "nob"),
    ],
)  # fmt: skip
def test_spellings_of_a_language(written: str, meant: str) -> None:
    assert canonical(written) == meant


def test_every_code_is_three_letters_and_known_by_its_name() -> None:
    for code, english in NAMES.items():
        assert len(code) == 3
        assert canonical(code) == code
        assert NAMES[canonical(english)] == english
    assert len(XMIND) == 14
    assert name("swa") == "Swahili"


def test_an_unknown_code_names_the_nearest_known() -> None:
    with pytest.raises(DataError, match=r"a\.csv:3: unknown language 'finn'.*nearest known: fin"):
        canonical("finn", where="a.csv:3")
    with pytest.raises(DataError, match="expected an ISO 639-3 code"):
        canonical("")


def test_tags_are_the_shortest_codes_and_directions_those_of_the_script() -> None:
    codes = ("eng", "fin", "cmn", "jpn", "tam", "grn", "arb", "ckb", "haw")
    assert [tag(code) for code in codes] == ["en", "fi", "zh", "ja", "ta", "gn", "ar", "ckb", "haw"]
    assert len({tag(code) for code in NAMES}) == len(NAMES)
    rtl = ("arb", "heb", "fas", "urd", "pus", "yid", "uig", "snd", "div", "ckb", "prs")
    assert {code for code in NAMES if direction(code) == "rtl"} == set(rtl)
    assert direction("ar") == "rtl"
