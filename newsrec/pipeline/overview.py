"""The clusters of a corpus to look at: named, summed up, counted."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from newsrec.cluster.articles import articles_of
from newsrec.cluster.overview import view_of
from newsrec.cluster.shelf import ClusteredShelf
from newsrec.cluster.view import Articles, Captions, View
from newsrec.corpus import Corpus
from newsrec.errors import DataError
from newsrec.pipeline.naming import Naming
from newsrec.types import Texts

if TYPE_CHECKING:
    from newsrec.protocols import Summarizer

#: Clusters of every level that get a summary: the largest. The page shows details of no more.
SUMMED_UP = 200

_PATIENCE = 3

OnProgress = Callable[[int, int], None]


def overview(
    corpus: Corpus,
    shelf: ClusteredShelf,
    naming: Naming,
    language: str,
    *,
    summarizer: Summarizer | None = None,
    most: int = SUMMED_UP,
    on_progress: OnProgress | None = None,
    on_failure: Callable[[str], None] | None = None,
) -> View:
    """A `View` in ``language`` of ``shelf``, whose articles are the rows of the corpus's news.

    ``summarizer``: sums up the ``most`` largest clusters of every level; a cluster that it fails on
    goes without, and ``on_failure`` is told why. One that fails on the first three is not asked
    again: the page is worth having without.
    """
    tree = shelf.tree
    texts = [corpus.texts(code) for code in corpus.languages]
    last = tree.n_levels - 1
    names = [*(naming.names(level, language) for level in range(last)), naming.headlines(language)]
    keywords = [naming.keywords(level, language) for level in range(tree.n_levels)]
    summaries = None
    if summarizer is not None:
        told = _Summaries(shelf, texts, summarizer, language, on_failure)
        summaries = told.of_largest(most, on_progress)
    captions = Captions(names, keywords, summaries, language)
    heads = naming.heads(language)
    return view_of(
        tree, Articles.of(corpus.news, texts), captions, levels=shelf.levels, heads=heads
    )


class _Summaries:
    """Summaries of clusters, each level's largest first."""

    def __init__(
        self,
        shelf: ClusteredShelf,
        texts: Sequence[Texts],
        summarizer: Summarizer,
        language: str,
        on_failure: Callable[[str], None] | None,
    ) -> None:
        self._shelf, self._texts, self._summarizer = shelf, texts, summarizer
        self._language, self._on_failure = language, on_failure
        self._failed = self._tried = self._done = 0

    def of_largest(self, most: int, on_progress: OnProgress | None) -> list[list[str]]:
        """For each level ``(k,)`` texts, empty beyond the ``most`` largest."""
        tree = self._shelf.tree
        wanted = [np.argsort(-tree.sizes(i), kind="stable")[:most] for i in range(tree.n_levels)]
        total = sum(map(len, wanted))
        found = []
        for level, clusters in enumerate(wanted):
            rows = tree.members(level)
            texts = [""] * tree.n_clusters[level]
            for cluster in clusters.tolist():
                texts[cluster] = self._one(rows[cluster], f"{self._shelf.levels[level]} {cluster}")
                if on_progress is not None:
                    on_progress(self._done, total)
            found.append(texts)
        return found

    def _one(self, rows: NDArray[np.int64], name: str) -> str:
        self._done += 1
        if self._failed == _PATIENCE == self._tried:  # an endpoint that is not there
            return ""
        self._tried += 1
        try:
            summary = self._summarizer(articles_of(rows, self._texts), self._language)
        except DataError as error:
            self._failed += 1
            if self._on_failure is not None:
                self._on_failure(f"{name}: no summary ({error})")
            return ""
        return summary.text
