"""Whose themes, topics and stories an experiment looks at, and whether its re-rankers can."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from newsrec.cluster.shelf import LEVELS
from newsrec.corpus import Corpus
from newsrec.errors import ConfigError, DataError, unknown_name
from newsrec.evaluate.diversity import ASPECTS
from newsrec.pipeline.clusters import Cut, aspects, clusters, of_file
from newsrec.pipeline.pools import table_aspects
from newsrec.pipeline.systems import System
from newsrec.pipeline.vectors import Vectors
from newsrec.protocols import Encoder
from newsrec.rerank.table import aspects_of
from newsrec.types.clusters import dense

if TYPE_CHECKING:
    from newsrec.encode import EmbeddingStore

#: The clusters that belong to corpus and encoder, made where they are not; no clusters.
AUTO, NONE = "auto", "none"


@dataclass(frozen=True, slots=True)
class Themes:
    """``aspects``: level to classes of all news ``(n_news,)``, numbered without gaps, -1 unknown;
    ``origin``: what the tree was made from, empty without one."""

    aspects: Mapping[str, NDArray[np.integer]] = field(default_factory=dict)
    origin: Mapping[str, object] = field(default_factory=dict)


def choice(asked: str | None, systems: Sequence[System], corpus: Corpus) -> str:
    """`AUTO`, `NONE` or a file; ``asked`` None: what the re-rankers of ``systems`` need.

    Raises `ConfigError` or `DataError` for a re-ranker that reads what neither the table of news
    nor the clusters have, and for a file that is no tree of this corpus.
    """
    told = table_aspects(corpus.news)
    read = {
        (system.reranking.label, aspect)
        for system in systems
        if system.reranker is not None
        for aspect in aspects_of(system.reranker)
    }
    missing = sorted(pair for pair in read if pair[1] not in told)
    if asked is None:
        asked = AUTO if any(aspect in LEVELS for _, aspect in missing) else NONE
    levels: tuple[str, ...] = () if asked == NONE else LEVELS
    if asked not in (AUTO, NONE):
        levels = of_file(corpus, Path(asked)).levels
    for label, aspect in missing:
        if aspect not in levels:
            raise _missing(label, aspect, corpus, (*told, *levels))
    return asked


def _missing(label: str, aspect: str, corpus: Corpus, known: tuple[str, ...]) -> Exception:
    if aspect in LEVELS:
        return ConfigError(
            f"re-ranker {label!r} reads each article's {aspect}, which corpus {corpus.name!r} does "
            "not say; let clusters say it: --clusters auto"
        )
    if aspect in ASPECTS:
        return DataError(
            f"re-ranker {label!r} reads each article's {aspect}, which corpus {corpus.name!r} says "
            "of none; let clusters say something like it: aspect=topic"
        )
    return unknown_name(f"aspect of re-ranker {label!r}", aspect, known or ("(none)",))


def themes(
    corpus: Corpus,
    chosen: str,
    encoder: Encoder | None,
    store: EmbeddingStore | None = None,
    on_progress: Callable[[int, int], None] | None = None,
) -> Themes:
    """The classes of a `choice`; ``encoder`` makes or finds the clusters of `AUTO`."""
    if chosen == NONE:
        return Themes()
    if chosen != AUTO:
        found = of_file(corpus, Path(chosen))
    elif encoder is None:
        raise ConfigError("--clusters auto: needs an encoder")
    else:
        found = clusters(corpus, Vectors(corpus, encoder, store, on_progress=on_progress))
    classes = {name: dense(x).astype(np.int64) for name, x in aspects(corpus, found).items()}
    sizes = dict(zip(found.levels, found.tree.n_clusters, strict=True))
    return Themes(classes, {**found.made, "file": chosen, "clusters": sizes})


def check_cut(corpus: Corpus, encoder: Encoder) -> None:
    """`ConfigError` unless `AUTO` can be made with ``encoder``."""
    Cut().fitted(corpus, encoder.spec)
