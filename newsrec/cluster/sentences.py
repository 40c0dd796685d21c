"""Text to sentences in any script, by punctuation where there is any, else by spaces and length.

A few rules and short tables, no model: news is well punctuated, and what matters is that no
sentence is cut short. Where a full stop may also be an abbreviation's, nothing is cut.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise

#: Characters from which a piece without any full stop is cut at a comma or a space.
LONGEST = 400

# Ends a sentence wherever it stands: CJK, Arabic, Indic, Khmer, Burmese, Armenian, Ethiopic.
_ALWAYS = "。！？｡︒．؟۔।॥។៕။։።፧"
_END = re.compile(
    rf"(?P<stop>[.?!…]+|[{_ALWAYS}][{_ALWAYS}?!…]*)"
    r"(?P<close>[\"'”’»›」』）】》〉)\]]*)"
)
_PAIRS = {"「": "」", "『": "』", "（": "）", "【": "】", "《": "》"}
_CJK = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\uff66-\uff9f]")
# After a quotation that ends with a full stop, these go on with the sentence (Japanese particles).
_GOES_ON = tuple("とはがをもにのでや、，")
# Written without full stops: Thai, Lao.
_UNSTOPPED = re.compile(r"[\u0e00-\u0eff]")
# A piece that begins so goes on with the sentence: and, or, which, by, but, after, if, to, …
_THAI_GOES_ON = (
    "และ", "หรือ", "ซึ่ง", "ที่", "โดย", "เพื่อ", "แต่", "หลัง", "พร้อม", "ขณะ", "จาก", "ใน", "เมื่อ",
    "ว่า", "เพราะ", "ก่อน", "จน", "รวม", "ให้", "แม้", "หาก", "ถ้า", "ทั้ง", "เนื่อง", "กับ", "ของ",
    "ด้วย", "จึง", "คือ", "เป็น", "ตาม", "ทำให้", "อย่าง", "เพียง", "ๆ", "ฯ",
)  # fmt: skip
_THAI_LEAST, _THAI_MOST = 40, 240


def _words(spaced: str) -> frozenset[str]:
    return frozenset(spaced.split())


_ABBREVIATIONS = _words(
    "dr prof ing inc ltd dept vs etc approx ca "
    "esim ym yms mm ns puh synt tk nk kr "  # fin
    "dl dna dvs cca yrd doç av alb müh vb vd bkz "  # ron, tur
    "திரு திருமதி டாக்டர் பேரா მაგ შემდ იხ "  # tam, kat
    "bzw usw evtl bspw"
)
# These are also words, or parts of some, unless they begin with a capital.
_TITLES = _words(
    "Mr Mrs Ms St Jr Sr Gen Col Lt Capt Sgt Gov Sen Rep Rev Hon Pres Corp Co Jan Feb Mar Apr Jun "
    "Jul Aug Sep Sept Oct Nov Dec Mon Tue Wed Thu Fri Sat Sun Sra Srta "
    "Dkt Bw Bi Mhe Drs Ir Tn Ny Hj Ts ThS GS TS PGS TP Mwl Me Mme Mlle"
)
# Abbreviations only where a number follows: "no" and "art" are also words.
_BEFORE_NUMBER = _words("no nr nro núm art p pp s str sf fig vol ch rs rp tel ரூ")
# In these languages a number with a full stop is an ordinal ("5. sınıf", "II. Dünya Savaşı").
_ORDINAL_DOT = _words("fin tur deu dan nob nno nor est ces slk slv hrv srp bos hun pol lav isl fao")
_ROMAN = re.compile(r"[IVX]+")
_OPENERS = _words("The A An In It He She They But And On At This That We I")
_CLAUSE = re.compile(r"[,;:،、，；：]\s*|\s+")


def split_sentences(text: str, language: str = "") -> list[str]:
    """The sentences of ``text`` in order, spaces made single; nothing but spaces is lost.

    ``language`` (ISO 639-3) tells how full stops after numbers are read; the rest follows from the
    script. Thai and Lao, which have no full stops, are cut at spaces between 40 and 240 characters;
    a sentence longer than `LONGEST` characters is cut at a comma or a space.
    """
    found = []
    for block in _blocks(text):
        for stopped in _stopped(block, language):
            pieces = _at_spaces(stopped) if _is_unstopped(stopped) else [stopped]
            found += [part for piece in pieces for part in _shortened(piece)]
    return found


def is_sentence(text: str) -> bool:
    """Whether ``text`` ends as sentences do in its script; true of scripts without full stops."""
    ends = [match.end() for match in _END.finditer(text.rstrip())]
    return ends[-1:] == [len(text.rstrip())] or _is_unstopped(text)


def _blocks(text: str) -> Iterator[str]:
    """Paragraphs and lines with single spaces; a line that goes on in small letters is one."""
    block = ""
    for line in [" ".join(line.split()) for line in text.splitlines()]:
        if not line or not (block and _small(line[0]) and not _END.fullmatch(block[-1])):
            if block:
                yield block
            block = line
        else:
            block = f"{block} {line}"
    if block:
        yield block


def _stopped(block: str, language: str) -> Iterator[str]:
    """``block`` cut behind full stops, question and exclamation marks."""
    inside = _quoted(block)
    start = 0
    for match in _END.finditer(block):
        if match.end() in inside or not _ends(block, match, start, language):
            continue
        yield block[start : match.end()].strip()
        start = match.end()
    if block[start:].strip():
        yield block[start:].strip()


def _quoted(block: str) -> set[int]:
    """Places inside East Asian brackets that are closed; a long quotation is a text of its own."""
    inside: set[int] = set()
    opened: list[tuple[str, int]] = []
    for place, char in enumerate(block):
        if char in _PAIRS:
            opened.append((_PAIRS[char], place))
        elif opened and char == opened[-1][0]:
            _, begin = opened.pop()
            if place - begin <= LONGEST // 2:
                inside.update(range(begin + 1, place + 1))
    return inside


def _ends(block: str, match: re.Match[str], start: int, language: str) -> bool:
    """Whether the full stop of ``match`` ends a sentence that began at ``start``."""
    stop, rest = match["stop"], block[match.end() :]
    if not rest:
        return True
    if stop[0] in _ALWAYS or (stop[-1] in "?!" and _CJK.match(rest)):
        return not (match["close"] and rest.startswith(_GOES_ON))
    if not rest[0].isspace():
        return False
    following = rest.lstrip(" \"'“”‘’«»‹›([¿¡–—-")
    if not following or _small(following[0]):
        return not following
    if stop != ".":
        return True
    before = block[start : match.start()].split()
    word = before[-1].lstrip("\"'“‘«(") if before else ""
    return not _is_abbreviation(word, following, language, first=len(before) == 1)


def _is_abbreviation(word: str, following: str, language: str, *, first: bool) -> bool:
    """Whether the full stop behind ``word`` belongs to it."""
    key = word.casefold()
    if word.isdigit():
        return first or (len(word) <= 2 and language in _ORDINAL_DOT)
    if _ROMAN.fullmatch(word) and language in _ORDINAL_DOT:
        return True
    if word and _UNSTOPPED.match(word[-1]):
        return True
    initials = [_is_initial(part) for part in word.split(".")]
    if all(initials):
        # "I" ends sentences too; so does "U.S.", but then a word that opens one follows.
        opener = following.split()[0].rstrip(",") in _OPENERS
        alone = word != "I" and not _small(word[0])
        return alone if len(initials) == 1 else not opener
    return (
        key in _ABBREVIATIONS
        or word in _TITLES
        or (key in _BEFORE_NUMBER and following[0].isdigit())
    )


def _is_initial(part: str) -> bool:
    """One letter, with the vowel signs that Indic scripts write as marks."""
    letters = [char for char in part if char.isalpha()]
    return len(letters) == 1 and len(part) <= 3 and part[0] == letters[0]


def _small(char: str) -> bool:
    """Whether a sentence of a script with capitals would not begin so; Georgian has none."""
    return char.islower() and char != char.title()


def _is_unstopped(text: str) -> bool:
    return 2 * len(_UNSTOPPED.findall(text)) > len(text)


def _at_spaces(text: str) -> list[str]:
    """Thai and Lao: cut at spaces between two words, none of which is a name or a number."""
    pieces = [text[a:b].strip() for a, b in pairwise([0, *_gaps(text), len(text)])]
    found = [""]
    for piece in pieces:
        room = len(found[-1]) < _THAI_LEAST or len(piece) < _THAI_LEAST // 2
        goes_on = piece.startswith(_THAI_GOES_ON)
        joined = f"{found[-1]} {piece}".strip()
        if (room or goes_on) and (len(joined) <= _THAI_MOST or not found[-1]):
            found[-1] = joined
        else:
            found.append(piece)
    return [piece for piece in found if piece]


def _gaps(text: str) -> list[int]:
    return [
        match.start()
        for match in re.finditer(r"(?<=\S) (?=\S)", text)
        if _UNSTOPPED.match(text[match.start() - 1])
        and _UNSTOPPED.match(text[match.end()])
        and not text[match.end()].isdigit()
        and not text[match.start() - 1].isdigit()
    ]


def _shortened(text: str) -> Iterator[str]:
    """Parts of at most `LONGEST` characters, cut behind a comma, else a space, else anywhere."""
    while len(text) > LONGEST:
        cuts = [m for m in _CLAUSE.finditer(text, LONGEST // 4, LONGEST) if m.end() <= LONGEST]
        marks = [m.end() for m in cuts if m[0].strip()]
        at = (marks or [m.end() for m in cuts] or [LONGEST])[-1]
        yield text[:at].strip()
        text = text[at:].strip()
    if text:
        yield text
