"""Keywords of clusters: class-based TF-IDF a language, joined over languages.

Grootendorst 2022, *BERTopic*, equation 4: the weight of word t in class c is
``tf(t, c) · log(1 + A / f(t))``, tf as a share of the words of the class, f over all classes, A the
mean number of words of a class. Two choices are our own: a word counts once in a title and once in
an abstract, however often it stands there (a chant does not lead); and the weight is multiplied by
``1 - share of t in all classes / share of t in c``, at least 0, which takes out what is everywhere
alike, stop words of languages without a list above all.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from newsrec.cluster.segment import Cut
from newsrec.cluster.words import words
from newsrec.errors import DataError
from newsrec.languages import canonical
from newsrec.types.clusters import ClusterTree
from newsrec.types.embeddings import unit_rows
from newsrec.types.texts import Texts

Embed = Callable[[Sequence[str]], NDArray[np.float32]]
#: Cosine from which two words count as one. Of MUSE pairs of English and 15 languages `mini` puts
#: 34 % above it (55 % Romanian … 7 % Korean), of random pairs 0.07 %.
SAME = 0.5
_CANDIDATES = 3  # words of a language looked at, for each one shown


@dataclass(frozen=True, slots=True)
class Keyword:
    """``word`` (folded) in ``language``; ``weight``: mean over the cluster's languages;
    ``languages``: those that have it or a translation of it."""

    word: str
    language: str
    weight: float
    languages: tuple[str, ...]


@dataclass(frozen=True, slots=True, eq=False)
class WordCounts:
    """``counts``: scipy CSR ``(n_news, n_words) float64``, in how many of title and abstract a word
    stands; ``words``: sorted."""

    language: str
    words: tuple[str, ...]
    counts: Any


def count_words(texts: Texts, cut: Cut | None = None) -> WordCounts:
    """Count ``texts``; memory is linear in their length."""
    from scipy.sparse import csr_array

    number: dict[str, int] = {}
    row_of: list[NDArray[np.int32]] = []
    column_of: list[NDArray[np.int32]] = []
    for column in (texts.title, texts.abstract):
        for row in texts.rows.tolist():
            found = {
                number.setdefault(word, len(number))
                for word in words(column[row], texts.language, cut)
            }
            column_of.append(np.fromiter(found, np.int32, len(found)))
            row_of.append(np.full(len(found), row, np.int32))
    order = sorted(number)
    place = np.empty(len(order), np.int32)
    place[[number[word] for word in order]] = np.arange(len(order), dtype=np.int32)
    rows = np.concatenate(row_of or [np.zeros(0, np.int32)])
    columns = place[np.concatenate(column_of)] if len(order) else rows[:0]
    counts = csr_array((np.ones(len(rows)), (rows, columns)), shape=(len(texts), len(order)))
    return WordCounts(texts.language, tuple(order), counts)


def class_weights(counts: WordCounts, labels: NDArray[np.integer]) -> Any:
    """CSR ``(k, n_words)``: the weight of every word in every class; ``labels (n_news,)``, -1 for
    none. With a single class that has words nothing is damped: there is nothing to compare with."""
    from scipy.sparse import csr_array

    if len(labels) != counts.counts.shape[0]:
        raise DataError(f"{len(labels)} labels for {counts.counts.shape[0]} articles")
    member = np.flatnonzero(labels >= 0)
    k = int(labels.max(initial=-1)) + 1
    group = csr_array((np.ones(len(member)), (labels[member], member)), shape=(k, len(labels)))
    classes = csr_array(group @ counts.counts)
    classes.sort_indices()
    of_class = np.asarray(classes.sum(1)).reshape(-1)
    of_word = np.asarray(classes.sum(0)).reshape(-1)
    filled = int((of_class > 0).sum())
    if not filled:
        return classes
    owner = np.repeat(np.arange(k), np.diff(classes.indptr))
    share = classes.data / of_class[owner]
    frequency = of_word[classes.indices]
    weight = share * np.log1p(of_class.sum() / filled / frequency)
    if filled > 1:
        weight *= np.maximum(0, 1 - frequency / of_class.sum() / share)
    return csr_array((weight, classes.indices, classes.indptr), shape=classes.shape)


def cluster_keywords(
    tree: ClusterTree,
    level: int,
    counts: Sequence[WordCounts],
    *,
    language: str | None = None,
    k: int = 8,
    embed: Embed | None = None,
    same: float = SAME,
) -> tuple[tuple[Keyword, ...], ...]:
    """The ``k`` keywords of every cluster of ``level``, most telling first.

    ``counts``: one a language. The same string in several languages, and with ``embed`` words
    whose vectors have a cosine of ``same``, are one keyword, shown in ``language`` where that has
    it, else in the language where it weighs most. What ``language`` has comes before the rest.
    """
    language = None if language is None else canonical(language)
    labels = tree.labels[level]
    found: list[dict[tuple[str, str], float]] = [{} for _ in range(tree.n_clusters[level])]
    spoken = np.zeros(len(found))
    for one in sorted(counts, key=lambda one: one.language):
        weights = class_weights(one, labels)
        for cluster in range(len(found)):
            here = slice(weights.indptr[cluster], weights.indptr[cluster + 1])
            spoken[cluster] += here.stop > here.start
            for column, weight in _top(weights.indices[here], weights.data[here], _CANDIDATES * k):
                found[cluster][one.words[column], one.language] = weight
    vectors = _vectors([word for table in found for word, _ in table], embed)
    return tuple(
        _joined(table, max(1.0, spoken[i]), language, k, vectors, same)
        for i, table in enumerate(found)
    )


def _top(
    columns: NDArray[np.integer], weights: NDArray[np.float64], k: int
) -> list[tuple[int, float]]:
    """The ``k`` heaviest, ties in the order of the words; weightless ones never."""
    order = np.lexsort((columns, -np.round(weights, 12)))[:k]
    return [(int(columns[i]), float(weights[i])) for i in order if weights[i] > 1e-12]


def _vectors(found: Sequence[str], embed: Embed | None) -> Mapping[str, NDArray[np.float32]]:
    texts = sorted(set(found))
    if embed is None or not texts:
        return {}
    return dict(zip(texts, unit_rows(embed(texts)), strict=True))


def _joined(
    table: Mapping[tuple[str, str], float],
    n_languages: float,
    language: str | None,
    k: int,
    vectors: Mapping[str, NDArray[np.float32]],
    same: float,
) -> tuple[Keyword, ...]:
    """Groups of the same word, the heaviest word of each its head: no chains of translations."""
    order = sorted(table, key=lambda key: (-round(table[key], 12), key))
    heads: list[str] = []
    groups: list[list[tuple[str, str]]] = []
    matrix = np.zeros((len(order), len(next(iter(vectors.values()), ()))), np.float32)
    for word, code in order:
        at = heads.index(word) if word in heads else -1
        if at < 0 and vectors and heads:
            near = matrix[: len(heads)] @ vectors[word]
            at = int(near.argmax()) if near.max() >= same else -1
        if at >= 0:
            groups[at].append((word, code))
            continue
        if vectors:
            matrix[len(heads)] = vectors[word]
        heads.append(word)
        groups.append([(word, code)])
    rows = []
    for group in groups:
        kept = next((key for key in group if key[1] == language), group[0])
        weight = sum(table[key] for key in group) / n_languages
        rows.append(Keyword(*kept, weight, tuple(sorted({code for _, code in group}))))
    unread = language in {code for _, code in table}
    rows.sort(key=lambda r: (unread and r.language != language, -round(r.weight, 12), r.word))
    return tuple({row.word: row for row in reversed(rows)}[row.word] for row in rows[:k])
