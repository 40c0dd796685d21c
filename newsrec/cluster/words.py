"""Text to words, in any language: what keywords and labels are made of."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection, Iterator
from dataclasses import dataclass

from newsrec.cluster.segment import UNSPACED, Cut, cut_run, segmenter
from newsrec.cluster.stopwords import stop_words
from newsrec.languages import canonical

_APOSTROPHES = "'’ʼ‘ʻ´`ʹ׳״＇"
_HYPHENS = "-‐‑"
_PLAIN: dict[int, str] = {
    **{ord(c): "'" for c in _APOSTROPHES},
    **{ord(c): "-" for c in _HYPHENS},
    0x200D: "",
}
# What NFKC takes apart and Thai and Lao write as one letter.
_AM = (("\u0e4d\u0e32", "\u0e33"), ("\u0ecd\u0eb2", "\u0eb3"))
_ELISION = re.compile(
    r"(?:l|d|j|m|n|s|t|c|qu|jusqu|lorsqu|puisqu|dell|all|nell|sull|dall|un|quest|quell|gl)'"
)
_ELIDE = frozenset({"fra", "ita", "cat", "oci"})
_DOTTED = frozenset({"tur", "azj", "crh", "tat"})  # i and ı are two letters
_HAN = re.compile("[\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]")


class _Kinds(dict[int, str]):
    """Code point -> one letter for what it is; worked out when a character is first met."""

    def __missing__(self, point: int) -> str:
        char = chr(point)
        kind = unicodedata.category(char)
        if char in _APOSTROPHES or char in _HYPHENS:
            value = "'"
        elif kind[0] == "L":
            value = "a"
        elif kind[0] == "M" or char in "\u200c\u200d":  # joiners stand inside words
            value = "m"
        elif kind[0] == "N":
            value = "0"
        else:
            value = " "
        self[point] = value
        return value


_KINDS = _Kinds()
_WORD = re.compile("a[am0]*(?:'+a[am0]*)*")
_LOOSE = re.compile("[am0']*")


@dataclass(frozen=True, slots=True)
class Word:
    """``key``: folded, what is counted; ``start:end`` of the cleaned text; ``stop``: whether it is
    a stop word, a numeral or a lone letter."""

    key: str
    start: int
    end: int
    stop: bool


#: Letters of a word that may name something: German compounds stay below it.
_LONGEST = 60


def words(text: str, language: str, cut: Cut | None = None) -> list[str]:
    """The words of ``text`` that may be keywords: folded, in order, repeated as they come.

    NFKC and case folding; a word is letters with their marks, inner apostrophes and hyphens, and
    digits behind a letter (``g20``). Numerals of any script, stop words and lone letters (but Han)
    are left out. ``language``: any code of `newsrec.languages`. ``cut`` is what cuts a run of
    letters where spaces do not and the extra ``newsrec[words]`` is missing, such as the pieces of a
    tokenizer; without it pairs of characters stand in (`segmentation` says which was used).
    """
    return [word.key for word in scan(clean(text), canonical(language), cut) if not word.stop]


def clean(text: str) -> str:
    """NFKC, without soft hyphens and tatweel; white space and control characters as one space."""
    text = unicodedata.normalize("NFKC", text).replace("\u00ad", "").replace("\u0640", "")
    for apart, one in _AM:
        text = text.replace(apart, one)
    if not text.isprintable():
        text = "".join(c if c.isprintable() or c in "\u200c\u200d" else " " for c in text)
    return " ".join(text.split())


def fold(word: str, language: str) -> str:
    """``word`` as it is counted and compared."""
    if language in _DOTTED:
        word = word.replace("İ", "i").replace("I", "ı")
    return word.translate(_PLAIN).casefold()


def scan(
    text: str, language: str, cut: Cut | None = None, stops: Collection[str] | None = None
) -> list[Word]:
    """All words of a cleaned ``text``, stop words too; ``language``: ISO 639-3. ``stops`` replaces
    the shipped list."""
    stops = stop_words(language) if stops is None else stops
    found = []
    for start, end, content in _spans(text, language, cut):
        key = fold(text[start:end], language)
        start, end, key = _trimmed(key, start, end, language)
        found.append(Word(key, start, end, not content or key in stops or slight(key)))
    return found


def _spans(text: str, language: str, cut: Cut | None) -> Iterator[tuple[int, int, bool]]:
    kinds = text.translate(_KINDS)
    if language not in UNSPACED:
        for match in _WORD.finditer(kinds):
            yield match.start(), match.end(), True
        return
    segment = segmenter(language)
    if segment is not None:
        at = 0
        for piece, content in segment(text):
            start = text.find(piece, at)
            if start < 0:  # the segmenter changed it
                continue
            at = start + len(piece)
            # A piece that begins with a digit is a number with its counter: 2人.
            for match in _WORD.finditer(kinds, start, at):
                numeral = match.start() > start and kinds[match.start() - 1] == "0"
                yield match.start(), match.end(), content and not numeral
        return
    for match in _WORD.finditer(kinds):
        yield from _fallback(text, match.start(), match.end(), kinds, cut)


def _fallback(
    text: str, start: int, end: int, kinds: str, cut: Cut | None
) -> Iterator[tuple[int, int, bool]]:
    run = text[start:end]
    if run.isascii():
        yield start, end, True
    elif cut is not None:
        for piece in cut_run(run, cut):
            yield start, start + len(piece), True
            start += len(piece)
    else:
        # A base and its marks are one character.
        bases = [i for i in range(start, end) if kinds[i] != "m"] + [end]
        for i in range(max(1, len(bases) - 2)):
            yield bases[i], bases[min(i + 2, len(bases) - 1)], True


def _trimmed(key: str, start: int, end: int, language: str) -> tuple[int, int, str]:
    """Without what hangs on by an apostrophe: mayor's, l'homme, Ankara'da."""
    if "'" not in key or end - start != len(key):
        return start, end, key
    if language == "eng" and key.endswith("'s"):
        return start, end - 2, key[:-2]
    if language in _DOTTED:
        stem = key.split("'")[0]
        return start, start + len(stem), stem
    if language in _ELIDE and (match := _ELISION.match(key)):
        return start + match.end(), end, key[match.end() :]
    return start, end, key


def slight(key: str) -> bool:
    """A numeral (二十 too), a single letter that is no Han character, or too long for a word."""
    if len(key) > _LONGEST:
        return True
    letters = [c for c in key if unicodedata.category(c)[0] in "LN"]
    if all(c.isnumeric() for c in letters):
        return True
    return len(letters) < 2 and not _HAN.match(key)
