"""Extractive summaries: the sentences that the articles in all languages agree on.

A sentence is as central as its mean cosine to the others (Radev et al. 2004, centroid
summarisation), whatever their language, with every language weighing alike, in a language every
article, and in an article every sentence: one long article or one frequent language does not
decide. Sentences are taken by maximal marginal relevance (Carbonell and Goldstein 1998).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from newsrec.cluster.articles import in_order, spread, summary_of
from newsrec.cluster.plain import without_markup
from newsrec.cluster.sentences import split_sentences
from newsrec.errors import ConfigError, DataError
from newsrec.languages import canonical
from newsrec.types import Article, Summary
from newsrec.types.embeddings import unit_rows

Floats = NDArray[np.float32]
Embed = Callable[[Sequence[str]], Floats]

#: Texts that are read of a large cluster (`spread`), and the first sentences of each.
MOST_TEXTS, MOST_SENTENCES = 256, 8

#: From this cosine, or this share of common character trigrams, two sentences say the same.
SAME_COSINE, SAME_LETTERS = 0.95, 0.6
_RELEVANCE = 0.7
# A sentence less central than this share of the first one is not worth its place.
_WORTH = 0.5
# Shorter ones ("Yes.", a by-line) say nothing on their own; East Asian scripts say it in fewer.
_LEAST_BYTES = 36


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence of an article: ``row``, ``language``, ``place`` (0 is the title)."""

    text: str
    row: int
    language: str
    place: int


@dataclass(frozen=True, slots=True)
class Extractive:
    """A summarizer (`newsrec.protocols.Summarizer`) that needs no language model.

    ``embed``: ``k`` texts to ``(k, dim) float32``; ``n_sentences``: 1 to 3. Where no article is in
    the wanted language, the summary is in the one that most are in, and says so.
    """

    embed: Embed
    n_sentences: int = 3
    name: str = "extractive"

    def __post_init__(self) -> None:
        if not 1 <= self.n_sentences <= 3:
            raise ConfigError(f"n_sentences: {self.n_sentences}, expected 1 to 3")

    def __call__(self, articles: Sequence[Article], language: str) -> Summary:
        wanted = canonical(language)
        found = sentences_of(spread(in_order(articles), wanted, MOST_TEXTS))
        if not found:
            return summary_of((), wanted, (), self.name)
        vectors = _unit(self.embed([sentence.text for sentence in found]), len(found))
        central = centrality(vectors, weights(found))
        spoken = _spoken(found, central, wanted)
        eligible = _eligible(found, spoken)
        chosen = _reading_order(
            [found[i] for i in _choose(found, vectors, central, eligible, self.n_sentences)]
        )
        rows = [sentence.row for sentence in chosen]
        return summary_of([sentence.text for sentence in chosen], spoken, rows, self.name)


def sentences_of(articles: Sequence[Article]) -> list[Sentence]:
    """Title and first `MOST_SENTENCES` sentences of each article, without repetitions in it."""
    found = []
    for article in articles:
        title = " ".join(without_markup(article.title[:1000]).split())
        prose: list[str] = []
        for text in (article.abstract, article.body):
            if len(prose) < MOST_SENTENCES:
                # Longer than any eight sentences; a book in one body costs no more.
                prose += split_sentences(without_markup(text[:20_000]), article.language)
        first = [text for text in dict.fromkeys(prose) if text != title][:MOST_SENTENCES]
        found += [
            Sentence(text, article.row, article.language, place)
            for place, text in enumerate([title, *first])
            if text
        ]
    return found


def weights(sentences: Sequence[Sentence]) -> NDArray[np.float64]:
    """``(k,)``, sum 1: languages alike, in each its articles, in each of those its sentences."""
    of_text = Counter((s.language, s.row) for s in sentences)
    of_language = Counter(language for language, _ in of_text)
    return np.array(
        [
            1 / len(of_language) / of_language[s.language] / of_text[s.language, s.row]
            for s in sentences
        ]
    )


def centrality(vectors: Floats, weight: NDArray[np.float64]) -> NDArray[np.float64]:
    """``(k,)``: weighted mean cosine of each unit vector ``(k, dim)`` to all the others.

    Time and memory grow with ``k``, not its square: the mean is taken before the product.
    """
    mean = weight @ vectors.astype(np.float64)
    own = np.einsum("kd,kd->k", vectors, vectors, dtype=np.float64)
    others = np.maximum(1 - weight, 1e-12)
    found: NDArray[np.float64] = np.where(weight < 1, (vectors @ mean - weight * own) / others, own)
    return found


def _unit(vectors: Floats, n: int) -> Floats:
    """Rows of length 1; a zero row stays zero, central to nothing."""
    if vectors.ndim != 2 or len(vectors) != n or not np.isfinite(vectors).all():
        raise DataError(
            f"embed gave {vectors.shape} for {n} sentences, expected ({n}, dim), all finite"
        )
    return unit_rows(vectors)


def _spoken(sentences: Sequence[Sentence], central: NDArray[np.float64], wanted: str) -> str:
    """``wanted`` where it is there, else what most articles, then what the most central are in."""
    texts = Counter(language for language, _ in {(s.language, s.row) for s in sentences})
    if wanted in texts:
        return wanted
    best = {
        code: max(c for s, c in zip(sentences, central, strict=True) if s.language == code)
        for code in texts
    }
    return min(texts, key=lambda code: (-texts[code], -best[code], code))


def _eligible(sentences: Sequence[Sentence], language: str) -> list[int]:
    """Sentences of ``language`` that may be shown: prose that says something, else any prose, else
    titles."""
    spoken = [i for i, s in enumerate(sentences) if s.language == language]
    prose = [i for i in spoken if sentences[i].place > 0]
    telling = [i for i in prose if len(sentences[i].text.encode()) >= _LEAST_BYTES]
    return telling or prose or spoken


def _choose(
    sentences: Sequence[Sentence],
    vectors: Floats,
    central: NDArray[np.float64],
    eligible: Sequence[int],
    most: int,
) -> list[int]:
    """At most ``most`` of ``eligible``, the most central first, none that says the same again."""
    letters = {i: _trigrams(sentences[i].text) for i in eligible}
    left = sorted(eligible, key=lambda i: (-round(float(central[i]), 6), i))
    chosen = [left.pop(0)]
    least = _WORTH * central[chosen[0]]
    while left and len(chosen) < most:
        newest = chosen[-1]
        left = [
            i
            for i in left
            if central[i] >= least
            and vectors[i] @ vectors[newest] < SAME_COSINE
            and _shared(letters[i], letters[newest]) < SAME_LETTERS
        ]
        if left:
            gain = [
                _RELEVANCE * central[i]
                - (1 - _RELEVANCE) * float((vectors[chosen] @ vectors[i]).max())
                for i in left
            ]
            chosen.append(left.pop(int(np.argmax(np.round(gain, 6)))))
    return chosen


def _trigrams(text: str) -> frozenset[str]:
    plain = "".join(char for char in text.casefold() if char.isalnum())
    return frozenset(plain[i : i + 3] for i in range(max(1, len(plain) - 2)))


def _shared(one: frozenset[str], other: frozenset[str]) -> float:
    """Share of the smaller set that is in the other."""
    return len(one & other) / min(len(one), len(other))


def _reading_order(chosen: Sequence[Sentence]) -> list[Sentence]:
    """The article of the most central sentence first, then the others by row; each in its order."""
    lead = chosen[0].row
    return sorted(chosen, key=lambda s: (s.row != lead, s.row, s.place))
