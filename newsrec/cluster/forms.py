"""Forms of one word, by its letters: there is no lemmatiser for most languages."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import takewhile


def echoes(phrase: tuple[str, ...], said: Sequence[str]) -> bool:
    """Whether every word of ``phrase`` is one of ``said`` or another form of one."""
    return bool(phrase) and all(
        any(word == one or same_stem((word,), (one,)) for one in said) for word in phrase
    )


def same_stem(a: tuple[str, ...], b: tuple[str, ...]) -> bool:
    """One word each, alike but for the end: kaupungin, kaupunki."""
    if len(a) != 1 or len(b) != 1:
        return False
    pairs = zip(a[0], b[0], strict=False)
    shared = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))
    return shared >= 4 and shared >= 0.7 * max(len(a[0]), len(b[0]))
