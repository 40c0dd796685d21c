"""Word-for-word dictionaries out of translations: which English word a foreign one stands for.

IBM model 1 (Brown et al. 1993, "The Mathematics of Statistical Machine Translation"), with the
vectors of `mini` saying beforehand which words may belong together.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from newsrec.encode.static import StaticEncoder, unpack
from newsrec.text.pool import Pool
from newsrec.types.embeddings import unit_rows

#: A word: the pieces of `mini` that write it.
Word = tuple[int, ...]
Vectors = NDArray[np.float32]

_ROUNDS = 5
#: How much the vectors count: exp(8 cos) beforehand, as a tenth of one sighting; exp(3 cos) after.
_BEFORE, _WEIGHT, _AFTER = 8.0, 0.1, 3.0
#: Added to what the words of a sentence share, so that a word may stand for nothing beside it.
_NOTHING = 1e-3
_LONGEST = 5
_MOST = 80  # words of a text that are read
_SHORT = re.compile("a|i|to|of|in|is|it|he|on|as|at|be|or|by|an|my|do|we|no|so|up|if|go|me|us|am")
#: Han and kana, Thai: written without spaces, so that a piece is a word.
_UNSPACED = re.compile("[\u3040-\u30ff\u4e00-\u9fff\u0e00-\u0e7f]")


class Words:
    """Texts as words: pieces up to the next space, single pieces where nobody writes spaces."""

    def __init__(self, mini: StaticEncoder) -> None:
        self._mini = mini
        self._names = mini._rows[0::2]
        self._rows = unpack(mini._codes, mini._step)
        self._single = np.array([bool(_UNSPACED.search(name)) for name in self._names])

    def of(self, texts: Sequence[str]) -> list[list[Word]]:
        """The words of each text in its order."""
        return [self._joined([p for p in ids if p]) for ids in self._mini.pieces(texts)]

    def _joined(self, ids: Sequence[int]) -> list[Word]:
        found: list[list[int]] = []
        for i, piece in enumerate(ids):
            alone = self._single[piece] or (i > 0 and self._single[ids[i - 1]])
            if not found or alone or self._names[piece].startswith("▁"):
                found.append([])
            found[-1].append(piece)
        return [tuple(word) for word in found]

    def spell(self, word: Word) -> str:
        """A word as it is written, in lower case as `mini` reads it."""
        return "".join(self._names[piece] for piece in word).replace("▁", "")

    def vectors(self, words: Sequence[Word]) -> Vectors:
        """``(n, dim)``: the sums of the pieces' rows, length 1."""
        rows = np.zeros((len(words), self._rows.shape[1]), np.float32)
        for row, word in zip(rows, words, strict=True):
            row += self._rows[list(word)].sum(0)
        return unit_rows(rows)


@dataclass(frozen=True)
class Lexicon:
    """One language: ``english`` of each word, and the ``phrases`` of several that count as one."""

    english: dict[Word, str]
    phrases: frozenset[Word]

    def units(self, words: Sequence[Word]) -> list[Word]:
        """``words`` with the longest phrases joined, from left to right."""
        found: list[Word] = []
        while words:
            for length in range(min(_LONGEST, len(words)), 0, -1):
                unit = _one(words[:length])
                if length == 1 or unit in self.phrases:
                    break
            found.append(unit)
            words = words[length:]
        return found


def english_words(texts: Iterable[str], known: Collection[str]) -> list[str]:
    """Those of ``known`` that stand 20 times or more in English ``texts``; of one or two letters
    those that are surely English, however rare."""
    count = Counter(word for text in texts for word in _latin(text))
    return [
        word for word, n in count.items()
        if word in known and (_SHORT.fullmatch(word) or (len(word) > 2 and n >= 20))
    ]  # fmt: skip


def learn(pool: Pool, language: str, words: Words, english: Sequence[str]) -> Lexicon:
    """The lexicon of ``language`` from all that is translated into English in ``pool``."""
    number = {word: i for i, word in enumerate(english)}
    mine = pool.languages.index(language)
    texts, sides, entries = [], [], []
    for row, side, source in zip(pool.groups, pool.english, pool.source, strict=True):
        if side < 0:
            continue
        for text in row[pool.language[row] == mine]:
            texts.append(pool.texts[text])
            sides.append(pool.texts[side])
            entries.append(pool.sources[source] == "dictionary")
    read = words.of(texts)
    phrases = frozenset(
        _one(entry)
        for entry, whole in zip(read, entries, strict=True)
        if whole and 1 < len(entry) <= _LONGEST
    )
    bare = Lexicon({}, phrases)
    seen: dict[Word, int] = {}
    foreign, targets = [], []
    for entry, side in zip(read, sides, strict=True):
        units = list(dict.fromkeys(bare.units(entry)))[:_MOST]
        known = list(dict.fromkeys(number[w] for w in _latin(side) if w in number))[:_MOST]
        if units and known:
            foreign.append([seen.setdefault(unit, len(seen)) for unit in units])
            targets.append(known)
    keys = list(seen)
    near = words.vectors(keys), words.vectors([_one(w) for w in words.of(english)])
    best, sure = align(foreign, targets, *near)
    return Lexicon(
        {key: english[e] for key, e, ok in zip(keys, best, sure, strict=True) if ok}, phrases
    )


def align(
    foreign: Sequence[Sequence[int]], english: Sequence[Sequence[int]], own: Vectors, other: Vectors
) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """``(n,)`` the English word of each foreign one, and whether it was seen twice or is near it.

    ``foreign`` and ``english``: the words of each pair of texts, none without any; ``own``,
    ``other``: vectors. The rate is P(English word | foreign word): each English word of a pair is
    shared out among the foreign ones beside it.
    """
    f = np.concatenate([np.repeat(a, len(b)) for a, b in zip(foreign, english, strict=True)])
    e = np.concatenate([np.tile(b, len(a)) for a, b in zip(foreign, english, strict=True)])
    lengths = np.array([len(b) for b in english])
    start = np.cumsum(lengths) - lengths
    place = np.concatenate(
        [np.tile(np.arange(n) + s, len(a)) for a, n, s in zip(foreign, lengths, start, strict=True)]
    )
    cells, cell = np.unique(f.astype(np.int64) * len(other) + e, return_inverse=True)
    f, e = cells // len(other), cells % len(other)
    cosine = np.concatenate(
        [
            np.einsum("nd,nd->n", own[f[b : b + 2**20]], other[e[b : b + 2**20]])
            for b in range(0, len(cells), 2**20)
        ]
    )
    before = _share(np.exp(_BEFORE * cosine), f)
    rate = before
    for _ in range(_ROUNDS):
        part = rate[cell]
        part /= (np.bincount(place, part) + _NOTHING)[place]
        rate = _share(np.bincount(cell, part, len(cells)) + _WEIGHT * before, f)
    order = np.lexsort((-(np.log(rate + 1e-9) + _AFTER * cosine), f))
    best = order[np.r_[True, f[order][1:] != f[order][:-1]]]
    times = np.bincount(np.concatenate([np.asarray(a) for a in foreign]), minlength=len(own))
    return e[best], (times >= 2) | (cosine[best] > 0.4)


def _share(values: NDArray[np.floating], group: NDArray[np.int64]) -> NDArray[np.float64]:
    """``values`` over the sum of their group."""
    return values / np.bincount(group, values)[group]


def _latin(text: str) -> list[str]:
    return re.findall("[a-z]+", text.lower())


def _one(words: Sequence[Word]) -> Word:
    """All pieces as one word."""
    return tuple(piece for word in words for piece in word)
