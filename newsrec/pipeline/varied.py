"""A list by relevance to one that is varied: what `recommend` does between search and page."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np
from numpy.typing import NDArray

from newsrec.cluster.shelf import ClusteredShelf
from newsrec.corpus import Corpus
from newsrec.encode.presets import THRESHOLDS
from newsrec.pipeline.clusters import aspects, clusters
from newsrec.pipeline.naming import Naming
from newsrec.pipeline.pools import table_aspects
from newsrec.pipeline.request import Request
from newsrec.pipeline.tuned import tuned_diversity
from newsrec.pipeline.variety import Variety
from newsrec.pipeline.vectors import Vectors
from newsrec.rank.mixed import MixedList
from newsrec.rerank.in_turn import InTurn
from newsrec.rerank.quota import Quota, over_quota
from newsrec.rerank.table import aspects_of
from newsrec.types import Pool

#: Relevant articles from which a list is chosen: at least `POOL`, `POOL_PER_K` times its length. A
#: bubble is wider than a page: of the hundred nearest articles nearly all may be of one theme.
POOL, POOL_PER_K = 2000, 100

Rows = NDArray[np.integer]
Classes = dict[str, NDArray[np.integer]]


class Varied:
    """Chooses a reader's list as ``variety`` says.

    Clusters are made, where there are none, if limits or the re-ranker need them; otherwise they
    only name themes and topics, where the encoder's thresholds are known.
    """

    def __init__(
        self, corpus: Corpus, vectors: Vectors, request: Request, variety: Variety
    ) -> None:
        self._vectors, self._request, self._variety = vectors, request, variety
        tuned = None
        if variety.label is not None and variety.diversity is None:
            tuned = tuned_diversity(corpus, variety.label, vectors.label)
        self._reranker = variety.reranker(request.k, tuned)
        self._limits = Quota(at_most=dict(variety.at_most), languages=request.languages)
        self._aspects: Classes = table_aspects(corpus.news)
        read = () if self._reranker is None else aspects_of(self._reranker)
        needed = bool(variety.at_most) or any(name not in self._aspects for name in read)
        self._shelf = _clusters(corpus, vectors, variety, needed)
        self._naming = None
        if self._shelf is not None:
            self._naming = Naming(corpus, vectors, self._shelf)
            self._aspects |= aspects(corpus, self._shelf)

    @property
    def every_version(self) -> bool:
        """Whether all versions of a story are to be found: the limit chooses among them."""
        return self._variety.every_version

    def named(self, rows: Rows) -> list[dict[str, str] | None]:
        """The names, in the first of the reader's languages, of the clusters that news ``rows
        (k,)`` are in, by level but the finest; None for articles in no cluster."""
        if self._shelf is None or self._naming is None:
            return [None] * len(rows)
        tree, language = self._shelf.tree, self._request.languages[0]
        levels = range(max(1, tree.n_levels - 1))
        names = [self._naming.names(level, language) for level in levels]
        found: list[dict[str, str] | None] = []
        for row in rows.tolist():
            at = [int(tree.labels[level, row]) for level in levels]
            known = zip(self._shelf.levels, names, at, strict=False)
            found.append(None if at[0] < 0 else {level: of[c] for level, of, c in known if c >= 0})
        return found

    def choose(self, search: Callable[[int], MixedList], read: Rows, offered: int) -> MixedList:
        """The list for who has read the news rows ``read (h,)``.

        ``search(n)``: the ``n`` most relevant of ``offered``. More are looked at while the limits
        leave too few.
        """
        k, size = self._request.k, max(POOL, POOL_PER_K * self._request.k)
        while True:
            best = search(size)
            chosen = self._ordered(best, read)
            if len(chosen.rows) == k or size >= offered:
                return chosen
            size *= 4

    def _ordered(self, best: MixedList, read: Rows) -> MixedList:
        """`Pool` to permutation to list: at most ``k``, none over a limit, no article twice."""
        best = self._unread(best, read)
        if not len(best.rows):
            return best
        steps = [self._reranker] if self._reranker is not None else []
        steps += [self._limits] if self._variety.at_most else []
        order = InTurn(*steps)(self._pool(best, read))
        rows = best.rows[order]
        limits: Mapping[str, int] = self._variety.at_most
        parts = [(np.asarray(self._aspects[a][rows], np.int64), n) for a, n in limits.items()]
        order = order[~over_quota([(rows.astype(np.int64), 1), *parts], len(rows))]
        return _taken(best, order[: self._request.k])

    def _unread(self, best: MixedList, read: Rows) -> MixedList:
        """Without stories that were read, if stories have a limit: the articles read count."""
        if "story" not in self._variety.at_most:
            return best
        story = np.asarray(self._aspects["story"], np.int64)
        known = story[read]
        return _taken(best, np.flatnonzero(~np.isin(story[best.rows], known[known >= 0])))

    def _pool(self, best: MixedList, read: Rows) -> Pool:
        languages = [best.languages[place] for place in best.language]
        return Pool(
            scores=best.scores,
            vectors=self._vectors.at(best.rows, languages),
            aspects={name: classes[best.rows] for name, classes in self._aspects.items()},
            history={name: classes[read] for name, classes in self._aspects.items()},
            language=best.language,
            languages=best.languages,
        )


def _clusters(
    corpus: Corpus, vectors: Vectors, variety: Variety, needed: bool
) -> ClusteredShelf | None:
    """None where nothing needs them and nobody has measured how to make them."""
    if variety.clusters is None and not needed and vectors.encoder.spec.name not in THRESHOLDS:
        return None
    return clusters(corpus, vectors, path=variety.clusters)


def _taken(best: MixedList, at: NDArray[np.integer]) -> MixedList:
    return MixedList(best.languages, best.language[at], best.rows[at], best.scores[at])
