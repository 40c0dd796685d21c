"""A list by relevance to one that is varied: what `recommend` does between search and page."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np
from numpy.typing import NDArray

from newsrec.cluster.shelf import ClusteredShelf
from newsrec.corpus import Corpus
from newsrec.pipeline.clusters import aspects, clusters
from newsrec.pipeline.naming import Naming
from newsrec.pipeline.pools import table_aspects
from newsrec.pipeline.request import Request
from newsrec.pipeline.tuned import tuned_diversity
from newsrec.pipeline.variety import Variety
from newsrec.pipeline.vectors import Vectors
from newsrec.rank.mixed import MixedList
from newsrec.rerank.quota import over_quota
from newsrec.types import Pool

#: Relevant articles from which a list of ``k`` is chosen: at least `POOL`, `POOL_PER_K` times k.
POOL, POOL_PER_K = 100, 10

Rows = NDArray[np.integer]


class Varied:
    """Chooses a reader's list as ``variety`` says; the clusters are made when there are none."""

    def __init__(
        self, corpus: Corpus, vectors: Vectors, request: Request, variety: Variety
    ) -> None:
        self.shelf: ClusteredShelf = clusters(corpus, vectors, path=variety.clusters)
        self._vectors, self._request, self._variety = vectors, request, variety
        self._aspects = {**table_aspects(corpus.news), **aspects(corpus, self.shelf)}
        tuned = tuned_diversity(corpus, variety.label) if variety.label else None
        self._naming = Naming(corpus, vectors, self.shelf)
        self._reranker = variety.reranker(request.k, request.languages, tuned)

    @property
    def every_version(self) -> bool:
        """Whether all versions of a story are to be found: the limit chooses among them."""
        return self._variety.every_version

    def named(self, rows: Rows) -> list[dict[str, str] | None]:
        """The names, in the first of the reader's languages, of the clusters that news ``rows
        (k,)`` are in, by level but the finest; None for articles in no cluster."""
        tree, language = self.shelf.tree, self._request.languages[0]
        levels = range(max(1, tree.n_levels - 1))
        names = [self._naming.names(level, language) for level in levels]
        found: list[dict[str, str] | None] = []
        for row in rows.tolist():
            at = [int(tree.labels[level, row]) for level in levels]
            known = zip(self.shelf.levels, names, at, strict=False)
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
        if not len(best.rows):
            return best
        order = self._reranker(self._pool(best, read))
        rows = best.rows[order]
        limits: Mapping[str, int] = self._variety.at_most
        parts = [(np.asarray(self._aspects[a][rows], np.int64), n) for a, n in limits.items()]
        order = order[~over_quota([(rows.astype(np.int64), 1), *parts], len(rows))]
        at = order[: self._request.k]
        return MixedList(best.languages, best.language[at], best.rows[at], best.scores[at])

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
