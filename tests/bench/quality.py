"""Clusters of real news: ours beside k-means, HDBSCAN and BERTopic, on the same vectors.

What a method may choose (ours its threshold, the others their smallest cluster) is chosen on one
half of the articles and measured on the other. ``python -m tests.bench.quality_tables`` writes
all tables of `scripts/EXPERIMENTS.md`; one part of them with its name.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from newsrec.cluster import Curve, Level, cluster_levels, merge_nearest, tune_levels
from newsrec.cluster.quality import alone
from newsrec.encode import load_encoder
from newsrec.encode.presets import THRESHOLDS
from newsrec.protocols import Encoder
from newsrec.rank.centre import unit_rows, without_means
from newsrec.rank.sides import Side
from tests.bench import Row, others
from tests.bench.news_sets import SHELVES, Graded, Shelf, semeval
from tests.bench.truth import Measured, Pairs, Topics, Truth, measured

Vectors = NDArray[np.float32]
Labels = NDArray[np.integer]

#: Characters of title and opening together: what a feed or a MIND abstract gives.
LENGTH = 300
#: Thresholds tried.
GRID = np.round(np.arange(-0.1, 0.9, 0.01), 2)
LEVELS = ("theme", "topic", "story")
#: Smallest clusters that HDBSCAN and BERTopic are tried with, on topics and on graded pairs.
SIZES, PAIR_SIZES = (5, 10, 20, 50), (2, 3, 5, 10)
SEEDS = (0, 1)


@dataclass(frozen=True)
class Part:
    """One half: what is clustered, and the truth about it."""

    vectors: Vectors
    texts: list[str]
    truth: Truth


@dataclass(frozen=True)
class Question:
    """A half to tune on, a half to measure on, and what ours says about the latter: by name,
    ``(labels, chosen threshold)``; the first of them is what the others are compared with."""

    name: str
    dim: int
    tune: Part
    test: Part
    ours: dict[str, tuple[Labels, str]]
    sizes: tuple[int, ...]


@dataclass(frozen=True)
class Answer:
    """One line of the table; ``alone``: the share of articles in no cluster with another."""

    question: Question
    method: str
    chosen: str
    measured: Measured
    clusters: float
    alone: float


def shared() -> Path | None:
    """The shared data folder, if it is there."""
    beside = Path(__file__).resolve().parents[3] / "shared" / "data"
    folder = Path(os.environ.get("NEWSREC_SHARED", beside))
    return folder if folder.is_dir() else None


def vectors_of(
    encoder: Encoder, texts: Sequence[str], language: NDArray[np.str_], centre: bool = True
) -> Vectors:
    """``(n, dim)`` unit rows, without the mean of their language as late fusion takes it out."""
    raw = encoder.encode(texts)
    if not centre:
        return raw
    group = np.unique(language, return_inverse=True)[1]
    side = unit_rows(without_means(Side(raw, (raw != 0).any(1), group=group)))
    return side.at(np.arange(len(raw)))


def curve(
    vectors: Vectors, dim: int, truth: Truth, linkage: str = "average", step: int = 1
) -> Curve:
    """What each threshold of `GRID` gives at one level, against all that is known."""
    grid = GRID[::step]
    if linkage == "average":
        forest = merge_nearest(vectors, float(grid[0]), dim=dim)
        found = [forest.labels(float(threshold)) for threshold in grid]
    else:
        found = [merge_nearest(vectors, float(t), linkage, dim=dim).labels() for t in grid]
    rates = np.array([truth.rates(labels) for labels in found])
    clusters = np.array([int(labels.max()) + 1 for labels in found])
    return Curve(dim, grid, rates[:, 0], rates[:, 1], rates[:, 2], clusters)


def halves(
    shelf: Shelf, encoder: Encoder, most: int, length: int | None = LENGTH, centre: bool = True
) -> list[Part]:
    """Both halves, at most ``most`` articles each, each with the language means of its own."""
    parts = []
    for half in (0, 1):
        rows = np.flatnonzero(shelf.half == half)
        rows = np.sort(np.random.default_rng(0).permutation(rows)[:most])
        part = shelf.take(rows)
        texts = part.texts(length)
        vectors = vectors_of(encoder, texts, part.language, centre)
        kept = np.flatnonzero((vectors != 0).any(1))
        truth = Topics(part.topic[kept])
        parts.append(Part(vectors[kept], [texts[i] for i in kept], truth))
    return parts


def shelf_questions(
    shelf: Shelf, encoder: Encoder, most: int, dims: Sequence[int], length: int | None = LENGTH
) -> Iterator[Question]:
    """One question a slice; the shipped thresholds are asked about themes."""
    tune, test = halves(shelf, encoder, most, length)
    for number, dim in enumerate(dims):
        best = curve(tune.vectors, dim, tune.truth).best.threshold
        ours = {"ours, tuned": (merge_nearest(test.vectors, best, dim=dim).labels(), f"{best:.2f}")}
        default = THRESHOLDS.get(encoder.spec.name)
        if default is not None and number == 0:
            labels = merge_nearest(test.vectors, default[0], dim=dim).labels()
            ours["ours, shipped threshold"] = (labels, f"{default[0]:.2f}")
        yield Question(f"{shelf.name}, {dim}", dim, tune, test, ours, SIZES)


def graded_part(
    half: Graded, encoder: Encoder, length: int | None = LENGTH, centre: bool = True
) -> tuple[Vectors, list[str]]:
    """Vectors and texts of one half of SemEval."""
    texts = [text[:length] for text in half.text]
    return vectors_of(encoder, texts, half.language, centre), texts


def pairs_at(half: Graded, level: int) -> Pairs:
    """The pairs of a half that belong together at ``level`` (1 theme … 3 story)."""
    group = np.unique(half.group, return_inverse=True)[1]
    return Pairs(half.pairs, half.grade >= level, group)


def graded_questions(
    graded: Graded, encoder: Encoder, dims: Sequence[int], length: int | None = LENGTH
) -> Iterator[Question]:
    """One question a level, ours nested as it is used."""
    tune, test = graded.take(0), graded.take(1)
    (tuning, tuning_texts), (testing, texts) = (
        graded_part(half, encoder, length) for half in (tune, test)
    )
    best = [c.best for c in tune_levels(tuning, dims, tune.pairs, tune.grade, thresholds=GRID)]
    trees = {"ours, tuned": best}
    default = THRESHOLDS.get(encoder.spec.name)
    if default is not None:
        trees["ours, shipped threshold"] = [
            Level(dim, threshold) for dim, threshold in zip(dims, default, strict=True)
        ]
    found = {name: cluster_levels(testing, levels).tree.labels for name, levels in trees.items()}
    for number, dim in enumerate(dims):
        ours = {
            name: (found[name][number], f"{levels[number].threshold:.2f}")
            for name, levels in trees.items()
        }
        ours["all in one cluster"] = (np.zeros(len(testing), np.int64), "")
        parts = [
            Part(vectors, words, pairs_at(half, number + 1))
            for vectors, words, half in ((tuning, tuning_texts, tune), (testing, texts, test))
        ]
        name = f"SemEval {LEVELS[number]}, {dim}"
        yield Question(name, dim, parts[0], parts[1], ours, PAIR_SIZES)


def answers(
    questions: Sequence[Question], *, topics: bool = True, times: int = 1000
) -> Iterator[Answer]:
    """Every method on every question; ``topics``: BERTopic too; ``times``: resamples."""
    modelled = bertopic_answers(questions) if topics else [None] * len(questions)
    for question, bertopic in zip(questions, modelled, strict=True):
        for name, (labels, chosen) in question.ours.items():
            yield answer(times, question, name, chosen, [labels])
        test, k = question.test, question.test.truth.n_clusters
        sliced = test.vectors[:, : question.dim]
        runs = [others.kmeans(sliced, k, seed) for seed in SEEDS]
        yield answer(times, question, "k-means, told the number", f"k = {k}", runs)
        size = best_of(
            question.sizes,
            lambda s, q=question: q.tune.truth.rates(others.hdbscan(q.tune.vectors[:, : q.dim], s))[
                2
            ],
        )
        yield answer(times, question, "HDBSCAN", f"{size} at least", [others.hdbscan(sliced, size)])
        if bertopic is not None:
            yield answer(times, question, "BERTopic", bertopic[0], bertopic[1])


def best_of(options: Sequence[Any], score: Callable[[Any], float]) -> Any:
    """The option of the highest score, the first of equals."""
    return options[int(np.argmax([score(option) for option in options]))]


def answer(
    times: int, question: Question, method: str, chosen: str, runs: Sequence[Labels]
) -> Answer:
    """A line from the labels of one or several runs."""
    ours = next(iter(question.ours.values()))[0]
    found = measured(runs, ours, question.test.truth, times)
    clusters = float(np.mean([len(np.unique(run[run >= 0])) for run in runs]))
    by_itself = [np.bincount(alone(run))[alone(run)] == 1 for run in runs]
    return Answer(question, method, chosen, found, clusters, float(np.mean(by_itself)))


def bertopic_answers(questions: Sequence[Question]) -> list[tuple[str, list[Labels]]]:
    """What to try is chosen on the tuning half with the first seed."""

    def job(part: Part, question: Question, seed: int) -> others.Job:
        return part.vectors[:, : question.dim], part.texts, seed, question.sizes

    tuning = others.bertopic([job(q.tune, q, SEEDS[0]) for q in questions])
    testing = others.bertopic([job(q.test, q, seed) for q in questions for seed in SEEDS])
    found = []
    for number, (question, tuned) in enumerate(zip(questions, tuning, strict=True)):
        option = best_of(list(tuned), lambda o, q=question, t=tuned: q.tune.truth.rates(t[o])[2])
        runs = testing[number * len(SEEDS) : (number + 1) * len(SEEDS)]
        found.append((option, [run.get(option, next(iter(run.values()))) for run in runs]))
    return found


def questions_of(
    data: Path, encoder: Encoder, names: Sequence[str], most: int = 1000
) -> Iterator[Question]:
    """The questions about the sets ``names``: `SHELVES`, ``semeval`` and its English pairs alone,
    ``semeval_eng``. An encoder without three levels looks at all its dimensions at each."""
    levels = encoder.spec.levels
    for name in names:
        if name.startswith("semeval"):
            dims = levels if len(levels) == 3 else (levels[-1],) * 3
            yield from graded_questions(semeval(data, name == "semeval_eng"), encoder, dims)
        else:
            yield from shelf_questions(SHELVES[name](data), encoder, most, levels[-3:])


def masakha_alone(data: Path, encoder: Encoder) -> Iterator[Question]:
    """Every language of MasakhaNEWS as a shelf of its own, themes only."""
    whole = SHELVES["masakhanews"](data)
    for language in np.unique(whole.language):
        rows = np.flatnonzero(whole.language == language)
        shelf = whole.take(rows, f"MasakhaNEWS {language}")
        yield from shelf_questions(shelf, encoder, 1000, encoder.spec.levels[:1])


def rows(quick: bool) -> Iterator[Row]:
    """F1 of ours, and of the others beside it."""
    data = shared()
    if data is None:
        yield Row("clusters of real news", "not measured", "", "NEWSREC_SHARED")
        return
    encoder = load_encoder("mini")
    names = ("tnews", "semeval_eng") if quick else (*SHELVES, "semeval")
    asked = list(questions_of(data, encoder, names, most=150 if quick else 1000))
    topics = not quick and others.bertopic_python() is not None
    lines: dict[str, list[Answer]] = {}
    for found in answers(asked, topics=topics, times=100 if quick else 1000):
        lines.setdefault(found.question.name, []).append(found)
    for name, found in lines.items():
        yield Row(
            f"F1 of clusters, {name} dimensions",
            _interval(found[0].measured, 2),
            "",
            "; ".join(f"{a.method} {a.measured.mean[2]:.3f}" for a in found[1:]),
        )


def _interval(found: Measured, column: int) -> str:
    return f"{found.mean[column]:.3f} [{found.low[column]:.3f}, {found.high[column]:.3f}]"
