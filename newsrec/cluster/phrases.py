"""Phrases that could name a cluster: runs of one to three words that stand in its texts."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from newsrec.cluster.segment import UNSPACED, Cut
from newsrec.cluster.words import Word, clean, scan

# Between two words of a phrase: a space, or what a possessive leaves ("mayor's office").
_GAP = re.compile(r"(?:['’]s?)? ")
#: Languages that write syllables apart: a word is about two of them.
_SYLLABLES = frozenset({"vie"})
_LONGEST = {"spaced": 40, "unspaced": 14}  # characters
_HELD = 200  # phrases kept of one cluster


@dataclass(frozen=True, slots=True)
class Phrase:
    """``text`` as it stands in the articles; ``words``: folded, without stop words; ``n_words``
    all of them; ``count``: titles and abstracts that have it; ``in_title``: a title has it."""

    text: str
    words: tuple[str, ...]
    n_words: int
    count: int
    in_title: bool
    shortest: int  # words of the shortest phrase of the language


def phrases(
    titles: Sequence[str],
    others: Sequence[str],
    language: str,
    longest: int,
    cut: Cut | None = None,
    most: int = _HELD,
) -> list[Phrase]:
    """Phrases of up to ``longest`` words that neither begin nor end with a stop word.

    The ``most`` frequent ones, shorter before longer, in an order that does not depend on that of
    the texts. Nothing reaches across punctuation. A phrase that comes again, but never outside one
    same longer phrase, is left out (C-value, Frantzi et al. 2000, in its strictest form).
    """
    count: Counter[tuple[str, ...]] = Counter()
    forms: dict[tuple[str, ...], Counter[str]] = defaultdict(Counter)
    bare: dict[tuple[str, ...], tuple[str, ...]] = {}
    entitled: set[tuple[str, ...]] = set()
    for number, raw in enumerate([*titles, *others]):
        text = clean(raw)
        found = scan(text, language, cut)
        seen = set()
        for start, end in _spans(text, found, language, longest):
            run = found[start:end]
            key = tuple(word.key for word in run)
            forms[key][_form(text, run, start)] += 1
            bare[key] = tuple(word.key for word in run if not word.stop)
            seen.add(key)
        count.update(seen)
        if number < len(titles):
            entitled |= seen
    nested, shortest = _nested(count), 2 if language in _SYLLABLES else 1
    order = sorted(count.keys() - nested, key=lambda key: (-count[key], len(key), key))[:most]
    return [
        Phrase(_usual(forms[key]), bare[key], len(key), count[key], key in entitled, shortest)
        for key in order
    ]


def _nested(count: Counter[tuple[str, ...]]) -> set[tuple[str, ...]]:
    """Phrases that come twice or more, and as often inside a longer one."""
    return {
        part
        for key, times in count.items()
        if len(key) > 1 and times > 1
        for part in (key[:-1], key[1:], *((word,) for word in key))
        if part != key and count.get(part) == times
    }


def _spans(text: str, found: list[Word], language: str, longest: int) -> Iterable[tuple[int, int]]:
    unspaced = language in UNSPACED
    limit = _LONGEST["unspaced" if unspaced else "spaced"]
    step = 2 if language in _SYLLABLES else 1
    for start, first in enumerate(found):
        if first.stop:
            continue
        for end in range(start + 1, min(start + longest * step, len(found)) + 1):
            last = found[end - 1]
            if end > start + 1 and not _adjacent(text, found[end - 2], last, unspaced):
                break
            if last.end - first.start > limit and end > start + 1:
                break
            # An unspaced phrase with a particle inside is half a sentence.
            if unspaced and last.stop:
                break
            if not last.stop and (end - start) % step == 0:
                yield start, end


def _adjacent(text: str, a: Word, b: Word, unspaced: bool) -> bool:
    gap = text[a.end : b.start]
    return not gap.strip() and b.start >= a.end if unspaced else bool(_GAP.fullmatch(gap))


def _form(text: str, run: list[Word], at: int) -> str:
    """As it stands; at the beginning of a text a capital says nothing: marked by a tab."""
    form = text[run[0].start : run[-1].end]
    return f"\t{form}" if at == 0 else form


def _usual(forms: Counter[str]) -> str:
    """The most frequent form; one from inside a text rather than from its beginning."""
    best = min(forms, key=lambda form: (form[0] == "\t", -forms[form], form))
    return best.lstrip("\t")


def capital(text: str, language: str) -> str:
    """``text`` with a capital, where the script has one."""
    if not text:
        return text
    if text[0] == "i" and language in ("tur", "azj", "crh", "tat"):
        return "İ" + text[1:]
    return text[0].title() + text[1:]
