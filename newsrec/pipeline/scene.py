"""One shelf of an experiment: which impressions it can serve, and what their readers read."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from newsrec.config import ExperimentConfig
from newsrec.corpus import Corpus
from newsrec.errors import DataError
from newsrec.evaluate.groups import group_labels
from newsrec.languages import canonical
from newsrec.pipeline.features import Ints, Stack, history_stack, shelf_stack
from newsrec.types import Impressions, Ragged
from newsrec.types.shelf import keep_shown

#: ``--history-lang``: each article in the language in which it was read.
OWN = "own"
#: Clicks that newsreclib keeps: the oldest ones.
OLDEST = 50


@dataclass(frozen=True, slots=True, eq=False)
class Scene:
    """``impressions``: those that can be served, with their whole histories; ``readable``: the
    same with histories cut to articles that have text where they are read; ``rows``: their rows in
    the split; ``shelf``, ``history``, ``history_rows``: what the sides read (`Stack`)."""

    language: str
    history_language: str
    impressions: Impressions
    readable: Impressions
    rows: Ints
    counts: dict[str, int]
    groups: dict[str, NDArray[np.str_]]
    shelf: Stack
    history: Stack
    history_rows: Ints | None


def labelled(corpus: Corpus, split: str) -> Impressions:
    """The impressions of ``split``; `DataError` when there are none or they have no labels."""
    impressions = corpus.impressions(split)
    if not len(impressions):
        raise DataError(f"corpus {corpus.name!r}: split {split!r} is empty, nothing to evaluate")
    if impressions.clicked is None:
        raise DataError(
            f"corpus {corpus.name!r}: split {split!r} has no labels, expected clicks; "
            "write a leaderboard file instead: --submission prediction.zip"
        )
    return impressions


def make_scene(corpus: Corpus, config: ExperimentConfig, language: str) -> Scene:
    """The scene of shelf ``language`` (``fin``, or ``eng+fin`` for a mixed shelf).

    Raises `DataError` when the shelf has no text or nothing is left to serve.
    """
    shelf = open_shelf(corpus, language)
    impressions = labelled(corpus, config.split)
    spoken, said = spoken_in(corpus, config, impressions, shelf.languages)
    rows, counts = np.arange(len(impressions)), {}
    if config.protocol == "newsreclib":
        rows = np.flatnonzero(impressions.history_lengths > 0)
        counts["skipped_without_history"] = len(impressions) - len(rows)
        impressions, spoken = taken(impressions, spoken, rows)
        impressions, spoken = oldest(impressions, spoken, OLDEST)
    known = read_somewhere(corpus, impressions, spoken)
    kept, at, shown = keep_shown(impressions, shelf.of >= 0, known, config.complete_only)
    if not len(kept):
        reasons = ", ".join(f"{k} {v}" for k, v in {**shown, **counts}.items() if v)
        raise DataError(f"shelf {language}: no impression of {config.split!r} is left ({reasons})")
    _, spoken = taken(impressions, spoken, at)
    readable, history_rows, history = readable_part(corpus, kept, spoken, shelf)
    return Scene(
        language=language,
        history_language=said,
        impressions=kept,
        readable=readable,
        rows=rows[at],
        counts=shown | counts,
        groups=group_labels(kept, corpus.news, kept.history_lengths),
        shelf=shelf,
        history=history,
        history_rows=history_rows,
    )


def whole_scene(corpus: Corpus, config: ExperimentConfig, language: str) -> Scene:
    """The scene of every impression with every candidate, labelled or not, for a leaderboard."""
    shelf = open_shelf(corpus, language)
    impressions = corpus.impressions(config.split)
    spoken, said = spoken_in(corpus, config, impressions, shelf.languages)
    if config.protocol == "newsreclib":
        impressions, spoken = oldest(impressions, spoken, OLDEST)
    readable, history_rows, history = readable_part(corpus, impressions, spoken, shelf)
    return Scene(
        language=language,
        history_language=said,
        impressions=impressions,
        readable=readable,
        rows=np.arange(len(impressions)),
        counts={"impressions": len(impressions)},
        groups={},
        shelf=shelf,
        history=history,
        history_rows=history_rows,
    )


def open_shelf(corpus: Corpus, language: str) -> Stack:
    """The shelf named ``fin`` or ``eng+fin``; `DataError` when nothing on it has text."""
    shelf = shelf_stack(corpus, language.split("+"))
    if not np.any(shelf.of >= 0):
        raise DataError(f"corpus {corpus.name!r}: no article has text in {language}")
    return shelf


def spoken_in(
    corpus: Corpus, config: ExperimentConfig, impressions: Impressions, shelf: tuple[str, ...]
) -> tuple[NDArray[np.integer], str]:
    """Language of each click ``(nnz of history,)`` as index into ``corpus.languages``, -1 where it
    has no text in it, and the name of the choice.

    A click whose own language is unknown or without text is read in the shelf's.
    """
    clicks = impressions.history.values
    chosen = list(shelf) if config.history_lang is None else []
    spoken = np.full(len(clicks), -1, np.int64)
    if config.history_lang == OWN:
        own = corpus.history_language(config.split)
        if own is None:
            raise DataError(
                f"corpus {corpus.name!r}: split {config.split!r} does not say in which language "
                "articles were read; name one: --history-lang CODE"
            )
        spoken, chosen = own.astype(np.int64), list(shelf)
        for i, language in enumerate(corpus.languages):
            lost = (spoken == i) & ~corpus.texts(language).present[clicks]
            spoken = np.where(lost, -1, spoken)
    elif config.history_lang is not None:
        chosen = [canonical(config.history_lang, "--history-lang")]
    for language in chosen:
        present = corpus.texts(language).present[clicks]
        code = corpus.languages.index(language)
        spoken = np.where((spoken < 0) & present, code, spoken)
    return spoken, OWN if config.history_lang == OWN else "+".join(chosen)


def read_somewhere(
    corpus: Corpus, impressions: Impressions, spoken: NDArray[np.integer]
) -> NDArray[np.bool_]:
    """Articles ``(n_news,)`` that at least one click can be read of."""
    known = np.zeros(len(corpus.news), np.bool_)
    known[impressions.history.values[spoken >= 0]] = True
    return known


def readable_part(
    corpus: Corpus, impressions: Impressions, spoken: NDArray[np.integer], shelf: Stack
) -> tuple[Impressions, Ints | None, Stack]:
    """Histories cut to clicks with a language, their rows in the stack, and the stack."""
    keep = spoken >= 0
    running = np.concatenate([[0], np.cumsum(keep)])
    offsets = running[impressions.history.offsets].astype(np.int64)
    clicks = impressions.history.values[keep]
    readable = replace(impressions, history=Ragged(clicks, offsets))
    if not len(clicks):
        return readable, None, shelf
    history, rows = history_stack(corpus, clicks, spoken[keep])
    return readable, rows, history


def taken(
    impressions: Impressions, spoken: NDArray[np.integer], rows: Ints
) -> tuple[Impressions, NDArray[np.integer]]:
    """`Impressions.take` with ``spoken`` kept in step: unused histories go."""
    used = np.unique(impressions.history_of[rows])
    return impressions.take(rows), spoken[impressions.history.positions(used)]


def oldest(
    impressions: Impressions, spoken: NDArray[np.integer], limit: int
) -> tuple[Impressions, NDArray[np.integer]]:
    """Histories cut to their first ``limit`` clicks."""
    history = impressions.history
    cut = replace(impressions, history=history.head(limit))
    return cut, history.like(spoken).head(limit).values
