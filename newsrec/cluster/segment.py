"""Words of scripts without spaces: one table of segmenters, the only file that imports them."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from importlib.util import find_spec
from itertools import pairwise

#: Cuts a run of letters into pieces that, end to end, are the run: what a caller may pass in.
Cut = Callable[[str], Sequence[str]]
#: ``(piece, whether it can be a keyword)``, end to end the text that went in.
Piece = tuple[str, bool]

_JAPANESE_NOUNS = ("名詞", "形状詞", "接頭辞", "接尾辞")
# Of jieba's tags: nouns, verbs, adjectives, idioms, abbreviations, foreign words.
_CHINESE_CONTENT = "navbzijlesgh"


@cache
def _jieba() -> Callable[[str], Iterator[Piece]]:
    import rjieba

    def cut(text: str) -> Iterator[Piece]:
        for piece, tag in rjieba.tag(text):
            yield piece, tag[:1] in _CHINESE_CONTENT and tag != "uj"

    return cut


@cache
def _sudachi() -> Callable[[str], Iterator[Piece]]:
    from sudachipy import Dictionary, SplitMode

    tokenizer = Dictionary(dict="small").tokenizer(mode=SplitMode.C)

    def cut(text: str) -> Iterator[Piece]:
        return _glued((one.surface(), one.part_of_speech()) for one in tokenizer.tokenize(text))

    return cut


def _glued(morphemes: Iterator[tuple[str, Sequence[str]]]) -> Iterator[Piece]:
    """Prefixes and suffixes belong to their noun: 小 + 政党, 選挙 + 戦, 半 + 導体, 優勝 + 杯;
    alone, and with a number (第 + 2 + 回, 15 + カ国, 3 + 時間 + 半), they are no words."""
    word, is_noun, counting = "", False, False
    for surface, (kind, sub, sort, *_) in morphemes:
        counter = sort == "助数詞可能"
        counting = sub == "数詞" or (counting and (counter or kind == "接尾辞" or surface == "半"))
        part = kind in _JAPANESE_NOUNS and sub != "助動詞語幹" and not counting
        before = kind == "接頭辞" or surface == "半"
        # 週, 年, 台: what one character counts is a keyword only as the end of another.
        behind = kind == "接尾辞" or (counter and len(surface) == 1)
        if word and not (part and is_noun == behind):
            yield word, is_noun
            word, is_noun = "", False
        if part and (word or not behind):
            word += surface
            is_noun = not before
        else:
            yield surface, False
    if word:
        yield word, is_noun


@cache
def _pythainlp() -> Callable[[str], Iterator[Piece]]:
    # Else the import makes a folder in the reader's home.
    if not {"PYTHAINLP_READ_ONLY", "PYTHAINLP_READ_MODE"} & os.environ.keys():
        os.environ["PYTHAINLP_READ_ONLY"] = "1"
    from pythainlp.tokenize import word_tokenize

    def cut(text: str) -> Iterator[Piece]:
        for piece in word_tokenize(text, engine="newmm-safe"):
            yield piece, True

    return cut


def _icu(language: str) -> Callable[[], Callable[[str], Iterator[Piece]]]:
    @cache
    def load() -> Callable[[str], Iterator[Piece]]:
        from icu4py.breakers import WordBreaker

        def cut(text: str) -> Iterator[Piece]:
            for piece in WordBreaker(text, language):
                yield str(piece), True

        return cut

    return load


#: Language: name of the segmenter, the packages it needs, what loads it.
_SEGMENTERS: dict[
    str, tuple[str, tuple[str, ...], Callable[[], Callable[[str], Iterator[Piece]]]]
] = {
    "cmn": ("jieba", ("rjieba",), _jieba),
    "yue": ("jieba", ("rjieba",), _jieba),
    "jpn": ("sudachi", ("sudachipy", "sudachidict_small"), _sudachi),
    "tha": ("pythainlp", ("pythainlp",), _pythainlp),
    "lao": ("icu", ("icu4py",), _icu("lo")),
    "khm": ("icu", ("icu4py",), _icu("km")),
    "mya": ("icu", ("icu4py",), _icu("my")),
}
#: Languages that put no spaces between words.
UNSPACED = frozenset(_SEGMENTERS)


@cache
def _installed(packages: tuple[str, ...]) -> bool:
    try:
        return all(find_spec(package) is not None for package in packages)
    except ImportError:
        return False


def segmenter(language: str) -> Callable[[str], Iterator[Piece]] | None:
    """What cuts ``language`` into words; None where spaces do or the extra is not installed."""
    if language not in _SEGMENTERS:
        return None
    _, packages, load = _SEGMENTERS[language]
    return load() if _installed(packages) else None


def segmentation(language: str, cut: Cut | None = None) -> str:
    """How `words` finds the words of ``language`` (ISO 639-3) here and now.

    ``spaces``; ``jieba``, ``sudachi``, ``pythainlp`` or ``icu`` (the extra ``newsrec[words]``);
    without the extra ``pieces`` where the caller gives ``cut``, else ``bigrams`` of characters.
    """
    if language not in _SEGMENTERS:
        return "spaces"
    name, packages, _ = _SEGMENTERS[language]
    if _installed(packages):
        return name
    return "bigrams" if cut is None else "pieces"


def cut_run(run: str, cut: Cut) -> list[str]:
    """``run`` in the caller's pieces, in the caller's lengths where those add up.

    A tokenizer may fold characters (simplified for traditional Han); the text keeps its own.
    """
    pieces = [piece for piece in cut(run) if piece]
    if sum(map(len, pieces)) != len(run):
        return [run]
    ends = [0]
    for piece in pieces:
        ends.append(ends[-1] + len(piece))
    return [run[a:b] for a, b in pairwise(ends)]
