"""Are the 6 themes, 18 topics and 36 stories of the bundled sample found, in 15 languages? And do
the vectors of a language lie to each other as those of English do?"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from newsrec.cluster import Level, cluster_levels, compare, merge_nearest, tune_level
from newsrec.corpus.sample import LANGUAGES, read_news, read_texts
from newsrec.encode.presets import THRESHOLDS
from newsrec.protocols import Encoder
from newsrec.text.heldout import cut
from newsrec.types import ClusterTree
from newsrec.types.embeddings import unit_rows
from tests.bench.quality import GRID, LEVELS, curve, vectors_of
from tests.bench.truth import Topics
from tests.bench.tuning import middle, tuned

Vectors = NDArray[np.float32]


def shelves(encoder: Encoder) -> dict[str, Vectors]:
    """Language -> ``(72, dim)``, title and abstract, the language's mean out."""
    news = read_news()
    found = {}
    for language in LANGUAGES:
        texts = read_texts(language, news)
        whole = [f"{a} {b}" for a, b in zip(texts.title, texts.abstract, strict=True)]
        found[language] = vectors_of(encoder, whole, np.full(len(whole), language))
    return found


def truth() -> NDArray[np.int64]:
    """``(3, 72)``: theme, topic and story of every article."""
    news = read_news()
    assert news.story is not None
    return np.stack([news.category, news.subcategory, news.story]).astype(np.int64)


def recovered(
    vectors: Vectors, known: NDArray[np.int64], levels: Sequence[Level]
) -> list[list[float]]:
    """F1 of each level: with the thresholds of ``levels``, nested; with the best of all thresholds,
    which the answer was needed for; and the threshold that is best."""
    tree: ClusterTree = cluster_levels(vectors, levels).tree
    lines = [[compare(a, b).f1 for a, b in zip(tree.labels, known, strict=True)]]
    best, where = [], []
    for level, true in zip(levels, known, strict=True):
        forest = merge_nearest(vectors, float(GRID[0]), dim=level.dim)
        f1 = [compare(forest.labels(float(t)), true).f1 for t in GRID]
        best.append(max(f1))
        where.append(float(GRID[int(np.argmax(f1))]))
    return [*lines, best, where]


def shipped(encoder: Encoder) -> list[Level]:
    """The levels of an encoder with the thresholds of its preset."""
    chosen = THRESHOLDS[encoder.spec.name]
    return [Level(d, t) for d, t in zip(encoder.spec.levels, chosen, strict=True)]


def english(data: Path, encoder: Encoder) -> Iterator[str]:
    """The English sample by an encoder of English: title and abstract, title, abstract; thresholds
    from the tuning halves of what is in English."""
    curves = tuned(data, encoder, english=True, most=1000)
    levels = [Level(found.dim, middle(found)) for found in curves]
    yield f"\nThresholds {', '.join(f'{level.threshold:.2f}' for level in levels)}.\n"
    yield "| what is clustered | " + " | ".join(f"{level} F1" for level in LEVELS) + " |"
    yield "|---|---|---|---|"
    texts = read_texts("eng", read_news())
    titles, leads = list(texts.title), list(texts.abstract)
    both = [f"{a} {b}" for a, b in zip(titles, leads, strict=True)]
    for what, view in (("title and abstract", both), ("title", titles), ("abstract", leads)):
        found = vectors_of(encoder, view, np.full(len(view), "eng"))
        yield row(f"72 English articles, {what}", recovered(found, truth(), levels))
        yield halved(found, truth()[2], levels[2].dim)


def table(encoder: Encoder) -> Iterator[str]:
    """All ways to look at the sample."""
    found, known = shelves(encoder), truth()
    everything = np.concatenate(list(found.values()))
    yield "| what is clustered | " + " | ".join(f"{level} F1" for level in LEVELS) + " |"
    yield "|---|---|---|---|"
    ways = {
        "72 articles, mean of 15 languages": (np.mean(list(found.values()), axis=0), known),
        "1,080 (article, language) at once": (everything, np.tile(known, len(found))),
        **{f"{language} alone": (vectors, known) for language, vectors in found.items()},
    }
    alone = []
    for what, (vectors, true) in ways.items():
        lines = recovered(vectors, true, shipped(encoder))
        if what.endswith("alone"):
            alone.append(lines)
        yield row(what, lines)
        if not what.endswith("alone"):
            # Many articles take many pairs: fewer halves.
            yield halved(
                vectors, true[2], encoder.spec.levels[-1], 40 if len(vectors) < 1000 else 10
            )
    yield row("one language alone, mean of 15", np.mean(alone, axis=0).tolist())


def unmeasured(encoder: Encoder) -> Iterator[str]:
    """The sample by an encoder for which no thresholds ship: all 72 articles and all languages,
    each level with the best of all thresholds, stories by `half_known` too."""
    found, known = shelves(encoder), truth()
    dim = encoder.spec.dim
    best = " | ".join(f"best {level} F1" for level in LEVELS)
    yield f"| what is clustered | {best} | stories, λ from half of them |"
    yield "|---|---|---|---|---|"
    for what, vectors, true, times in (
        ("mean of 15 languages", np.mean(list(found.values()), axis=0), known, 40),
        ("1,080 at once", np.concatenate(list(found.values())), np.tile(known, len(found)), 10),
        ("English alone", found["eng"], known, 40),
    ):
        rows = vectors.astype(np.float32)
        cells = []
        for level in true:
            tried = curve(rows, dim, Topics(level))
            cells.append(f"{tried.f1.max():.3f} at {tried.best.threshold:.2f}")
        half = half_known(rows, true[2], dim, times)
        low, high = np.quantile(half, [0.1, 0.9])
        cells.append(f"{half.mean():.3f} (80 %: {low:.3f} to {high:.3f})")
        yield f"| {what} | {' | '.join(cells)} |"


def halved(vectors: Vectors, stories: NDArray[np.int64], dim: int, times: int = 40) -> str:
    """A line of `half_known`."""
    f1 = half_known(vectors.astype(np.float32), stories, dim, times)
    low, high = np.quantile(f1, [0.1, 0.9])
    return (
        "| the same, λ tuned on half of the stories | | | "
        f"{f1.mean():.3f} (80 % of {len(f1)} halves: {low:.3f} to {high:.3f}) |"
    )


def half_known(
    vectors: Vectors, stories: NDArray[np.int64], dim: int, times: int = 40
) -> NDArray[np.float64]:
    """Story F1 of all pairs of articles with the threshold that is best among the pairs within one
    half of the stories, ``(2 · times,)``; halves drawn with seed 42.

    All pairs, those across the halves too: within one half only, most wrong merges would be out of
    sight.
    """
    rng, found = np.random.default_rng(42), []
    names = np.unique(stories)
    whole = curve(vectors, dim, Topics(stories)).f1
    for _ in range(times):
        one = np.isin(stories, rng.permutation(names)[: len(names) // 2])
        for mine in (one, ~one):
            best = tune_level(vectors, dim, *_pairs(stories, mine), thresholds=GRID).best
            found.append(whole[int(np.argmin(np.abs(GRID - best.threshold)))])
    return np.array(found)


def _pairs(
    stories: NDArray[np.int64], among: NDArray[np.bool_]
) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """All pairs of the articles ``among``, and whether each is of one story."""
    rows = np.flatnonzero(among)
    a, b = np.triu_indices(len(rows), 1)
    pairs = np.stack([rows[a], rows[b]], 1)
    return pairs, stories[pairs[:, 0]] == stories[pairs[:, 1]]


def row(what: str, lines: list[list[float]]) -> str:
    """Shipped (best of any, at its threshold)."""
    cells = [f"{a:.3f} ({b:.3f} at {c:.2f})" for a, b, c in zip(*lines, strict=True)]
    return f"| {what} | {' | '.join(cells)} |"


def relational_similarity(one: Vectors, other: Vectors) -> float:
    """Pearson correlation of the cosines of all pairs in one language with those of their
    translations in the other (paper 000, appendix F)."""
    above = np.triu_indices(len(one), 1)
    return float(np.corrcoef((one @ one.T)[above], (other @ other.T)[above])[0, 1])


def alignment(data: Path, encoder: Encoder) -> Iterator[str]:
    """Relational similarity with English: 300 NTREX lines kept out of training, and the sample."""
    ntrex = cut(data).ntrex
    levels = encoder.spec.levels
    names = ", ".join(map(str, levels))
    yield f"| language | NTREX, {names} dimensions | sample, {names} dimensions |"
    yield "|---|---|---|"
    vectors = {
        language: vectors_of(encoder, texts, np.full(len(texts), language))
        for language, texts in ntrex.items()
    }
    sample = shelves(encoder)
    columns: list[list[list[float]]] = [[], []]
    for language in sorted({*vectors, *sample} - {"eng"}):
        cells = []
        for column, found in zip(columns, (vectors, sample), strict=True):
            if language not in found:
                cells.append("")
                continue
            rates = [
                relational_similarity(unit(found["eng"], d), unit(found[language], d))
                for d in levels
            ]
            column.append(rates)
            cells.append(" / ".join(f"{rate:.3f}" for rate in rates))
        yield f"| {language} | {' | '.join(cells)} |"
    means = [" / ".join(f"{m:.3f}" for m in np.mean(column, axis=0)) for column in columns]
    yield f"| mean of {len(columns[0])}; of {len(columns[1])} | {' | '.join(means)} |"


def unit(vectors: Vectors, dim: int) -> Vectors:
    """The first ``dim`` dimensions, rows of length 1."""
    return unit_rows(vectors[:, :dim])
