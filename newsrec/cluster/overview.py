"""A tree of clusters and its articles to a `View`, however many there are."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from newsrec.cluster.shelf import level_names
from newsrec.cluster.timeline import Timeline, timeline
from newsrec.cluster.view import (
    Articles,
    Captions,
    Counts,
    Headline,
    Node,
    Span,
    View,
    own_bytes,
)
from newsrec.errors import DataError
from newsrec.excerpt import excerpt
from newsrec.languages import canonical
from newsrec.types.clusters import ClusterTree

MAX_BYTES = 8_000_000
_SUMMARY, _KEYWORDS, _URL = 700, 12, 500
_LINK = re.compile(r"https?://[^\s]+", re.IGNORECASE)
_SHRINK = 0.92
_FEWEST, _FEWEST_DETAILED = 50, 600


@dataclass(frozen=True, slots=True)
class Limits:
    """The largest ``listed`` clusters are in the view, with a name and a headline in up to two
    languages; the largest ``detailed`` of them with languages, times, keywords, summary and up to
    ``headlines`` articles each, an article in up to ``versions`` languages."""

    listed: int = 24_000
    detailed: int = 5_000
    headlines: int = 6
    versions: int = 24


def view_of(
    tree: ClusterTree,
    articles: Articles,
    captions: Captions,
    *,
    levels: Sequence[str] | None = None,
    heads: Sequence[Sequence[int]] | None = None,
    limits: Limits | None = None,
    max_bytes: int = MAX_BYTES,
) -> View:
    """Count, name and choose headlines, so that the view as JSON takes at most ``max_bytes``.

    ``levels``: what a cluster of each level is called, in the singular; ``heads``: for each cluster
    of the finest level rows to show first, such as its medoids (the others are the newest, each
    language once before any twice). Where all is more than ``max_bytes``, fewer clusters are listed
    and detailed than ``limits`` says, the largest first. Raises `DataError` when the parts do not
    fit together.
    """
    captions.check(tree)
    names = tuple(levels or level_names(tree.n_levels))
    for what, found, expected in (
        ("articles", len(articles), len(tree)),
        ("levels", len(names), tree.n_levels),
        ("heads", tree.n_clusters[-1] if heads is None else len(heads), tree.n_clusters[-1]),
    ):
        if found != expected:
            raise DataError(f"{what}: {found}, the tree has {expected}")
    gathered = _Gathered.of(tree, articles, captions, heads)
    allowed = limits or Limits()
    while True:
        view = View(
            gathered.root(allowed), names, tree.n_clusters, gathered.languages, gathered.language,
            gathered.time,
        )  # fmt: skip
        size = len(view.to_json().encode())
        if size <= max_bytes or allowed.listed <= _FEWEST:
            return view
        allowed = _smaller(allowed, view, size, max_bytes)


def _smaller(limits: Limits, view: View, size: int, most: int) -> Limits:
    """Limits for a view of about ``most`` bytes. Fewer details first, for a cluster that is only
    listed can still be found."""
    if limits.headlines > 3 or limits.versions > 4:
        return replace(limits, headlines=min(3, limits.headlines), versions=min(4, limits.versions))
    if limits.detailed > _FEWEST_DETAILED:
        details = [own_bytes(node) for node in view.root.walk() if node.detailed]
        share = max(0.2, _SHRINK * (most - size + sum(details)) / sum(details))
        return replace(limits, detailed=max(_FEWEST_DETAILED, int(len(details) * share)))
    listed = max(_FEWEST, int(_SHRINK * most / size * sum(1 for _ in view.root.walk())))
    return replace(limits, listed=listed, detailed=min(limits.detailed, listed))


@dataclass(frozen=True, slots=True, eq=False)
class _Gathered:
    """All that does not depend on the limits. ``present (n_languages, n_news) bool``; ``first
    (n_news,)``: an article's first language, -1 without text; ``bucket (n_news,)``; ``place
    (n_news,)``: rank among the heads of its finest cluster."""

    tree: ClusterTree
    articles: Articles
    captions: Captions
    languages: tuple[str, ...]
    language: str | None
    time: Timeline | None
    present: NDArray[np.bool_]
    first: NDArray[np.int64]
    bucket: NDArray[np.int64]
    place: NDArray[np.int64]

    @classmethod
    def of(
        cls,
        tree: ClusterTree,
        articles: Articles,
        captions: Captions,
        heads: Sequence[Sequence[int]] | None,
    ) -> _Gathered:
        own = None if captions.language is None else canonical(captions.language)
        codes = [code for code in articles.titles if articles.present(code).any()]
        found = {code: articles.present(code) for code in codes}
        codes.sort(key=lambda code: (-int(found[code].sum()), code != own, code))
        present = np.array([found[code] for code in codes], np.bool_).reshape(len(codes), len(tree))
        first = np.where(present.any(0), present.argmax(0), -1) if codes else np.full(len(tree), -1)
        time = timeline(articles.published)
        bucket = np.full(len(tree), -1) if time is None else time.bucket(articles.published)
        place = np.full(len(tree), np.iinfo(np.int64).max)
        for rows in heads or ():
            for rank, row in enumerate(rows):
                place[row] = rank
        return cls(tree, articles, captions, tuple(codes), own, time, present, first, bucket, place)

    def root(self, limits: Limits) -> Node:
        """The whole view as one node."""
        grades = _grades(self.tree, limits)
        below: dict[int, list[Node]] = {}
        for level in reversed(range(self.tree.n_levels)):
            below = self._level(level, grades, below, limits)
        nodes = tuple(below.get(-1, ()))
        n = len(self.tree)
        n_loose = int(np.count_nonzero(self.tree.labels[0] < 0))
        whole = np.zeros(n, np.int64)
        return Node(
            -1, -1, n, "", nodes, self.tree.n_clusters[0], n_loose, detailed=True,
            languages=self._languages(whole, 1)[0], over_time=self._over_time(whole, 1)[0],
            span=self._spans(whole, 1)[0],
        )  # fmt: skip

    def _level(
        self,
        level: int,
        grades: list[NDArray[np.int8]],
        below: dict[int, list[Node]],
        limits: Limits,
    ) -> dict[int, list[Node]]:
        """Nodes of ``level`` by the cluster above; ``below`` are those of the next level."""
        labels, grade = self.tree.labels[level], grades[level]
        sizes, above = self.tree.sizes(level), self.tree.parents(level)
        n_children, loose = self._under(level)
        detailed = np.flatnonzero(grade == 2)
        slot = np.full(len(grade) + 1, -1)
        slot[detailed] = np.arange(len(detailed))
        languages = self._languages(slot[labels], len(detailed))
        over_time = self._over_time(slot[labels], len(detailed))
        spans = self._spans(slot[labels], len(detailed))
        wanted = np.where(grade == 2, limits.headlines, np.minimum(grade, 1)).astype(np.int64)
        wanted[[cluster for cluster in below if cluster >= 0]] = 0
        shown = self._chosen(level, wanted)
        versions = {True: limits.versions, False: 2}
        nodes: dict[int, list[Node]] = {}
        listed = np.flatnonzero(grade)
        for i in listed[np.lexsort((listed, -sizes[listed]))].tolist():
            full = bool(grade[i] == 2)
            node = Node(
                i, level, int(sizes[i]), excerpt(self.captions.names[level][i]),
                tuple(below.get(i, ())), int(n_children[i]), int(loose[i]),
                tuple(self._headline(row, versions[full]) for row in shown.get(i, ())), full,
                languages[slot[i]] if full else (), over_time[slot[i]] if full else (),
                self._keywords(level, i) if full else (), self._summary(level, i) if full else "",
                spans[slot[i]] if full else (),
            )  # fmt: skip
            nodes.setdefault(int(above[i]), []).append(node)
        return nodes

    def _under(self, level: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """For each cluster of ``level``: clusters of the next one in it, and articles in none."""
        k = self.tree.n_clusters[level]
        if level + 1 == self.tree.n_levels:
            return np.zeros(k, np.int64), np.zeros(k, np.int64)
        labels = self.tree.labels[level]
        alone = labels[(labels >= 0) & (self.tree.labels[level + 1] < 0)]
        children = np.bincount(self.tree.parents(level + 1), minlength=k)
        return children, np.bincount(alone, minlength=k)

    def _languages(self, slot: NDArray[np.int64], k: int) -> list[Counts]:
        """Articles per language in each of ``k`` slots, most first; ``slot (n_news,)``, -1 none."""
        if not len(self.languages):
            return [()] * k
        table = np.stack([np.bincount(slot[p & (slot >= 0)], minlength=k) for p in self.present])
        order = np.argsort(-table, axis=0, kind="stable")
        return [_pairs(order[:, j], table[order[:, j], j]) for j in range(k)]

    def _over_time(self, slot: NDArray[np.int64], k: int) -> list[Counts]:
        """Articles per bucket in each of ``k`` slots."""
        if self.time is None:
            return [()] * k
        n, known = self.time.n, (self.bucket >= 0) & (slot >= 0)
        cell, count = np.unique(slot[known] * n + self.bucket[known], return_counts=True)
        ends = np.searchsorted(cell, np.arange(k + 1) * n)
        return [_pairs(cell[a:b] - j * n, count[a:b]) for j, (a, b) in enumerate(pairwise(ends))]

    def _spans(self, slot: NDArray[np.int64], k: int) -> list[Span]:
        """First and last second in each of ``k`` slots, of what `_over_time` counts."""
        known = (self.bucket >= 0) & (slot >= 0)
        seconds = self.articles.published[known].astype("datetime64[s]").astype(np.int64)
        first, last = np.full(k, np.iinfo(np.int64).max), np.full(k, np.iinfo(np.int64).min)
        np.minimum.at(first, slot[known], seconds)
        np.maximum.at(last, slot[known], seconds)
        ends = zip(first.tolist(), last.tolist(), strict=True)
        return [(a, b) if a <= b else () for a, b in ends]

    def _chosen(self, level: int, wanted: NDArray[np.int64]) -> dict[int, list[int]]:
        """Up to ``wanted (k,)`` rows of each cluster: heads, then the newest of each language, the
        second newest of each, …"""
        labels = self.tree.labels[level].astype(np.int64)
        rows = np.flatnonzero(np.append(wanted, 0)[labels])
        label = labels[rows]
        published = self.articles.published[rows].astype("datetime64[s]")
        age = np.where(np.isnat(published), np.iinfo(np.int64).max, -published.astype(np.int64))
        by_age = np.lexsort((rows, age, self.first[rows], label))
        turn = np.empty(len(rows), np.int64)
        tongue = label * (len(self.languages) + 1) + self.first[rows] + 1
        turn[by_age] = _turns(tongue[by_age])
        place = self.place[rows] if level + 1 == self.tree.n_levels else np.zeros(len(rows))
        order = np.lexsort((rows, age, turn, place, label))
        order = order[_turns(label[order]) < wanted[label[order]]]
        found: dict[int, list[int]] = {}
        for row, cluster in zip(rows[order].tolist(), label[order].tolist(), strict=True):
            found.setdefault(cluster, []).append(row)
        return found

    def _headline(self, row: int, versions: int) -> Headline:
        articles = self.articles
        published = articles.published[row]
        url = articles.urls[row] if articles.urls is not None else ""
        return Headline(
            excerpt(str(articles.ids[row])),
            None if np.isnat(published) else int(published.astype("datetime64[s]").astype(int)),
            tuple(self._versions(row))[:versions],
            url if len(url) <= _URL and _LINK.fullmatch(url) else "",
        )

    def _versions(self, row: int) -> Iterator[tuple[int, str]]:
        """The title in every language it has, that of the names first."""
        at = np.flatnonzero(self.present[:, row]).tolist()
        for i in sorted(at, key=lambda i: self.languages[i] != self.language):
            yield i, excerpt(self.articles.titles[self.languages[i]][row])

    def _keywords(self, level: int, cluster: int) -> tuple[str, ...]:
        if self.captions.keywords is None:
            return ()
        return tuple(excerpt(word) for word in self.captions.keywords[level][cluster][:_KEYWORDS])

    def _summary(self, level: int, cluster: int) -> str:
        summaries = self.captions.summaries
        return "" if summaries is None else excerpt(summaries[level][cluster], _SUMMARY)


def _grades(tree: ClusterTree, limits: Limits) -> list[NDArray[np.int8]]:
    """For each cluster of each level: 2 detailed, 1 listed, 0 neither; the largest first, so that
    what holds a listed cluster is listed too."""
    sizes = [tree.sizes(level) for level in range(tree.n_levels)]
    order = np.argsort(-np.concatenate(sizes), kind="stable")
    grade = np.zeros(len(order), np.int8)
    grade[order[: max(limits.listed, limits.detailed)]] = 1
    grade[order[: limits.detailed]] = 2
    return np.split(grade, np.cumsum([len(size) for size in sizes])[:-1])


def _turns(groups: NDArray[np.int64]) -> NDArray[np.int64]:
    """``(n,)``: 0, 1, 2, … within each run of equal values."""
    if not len(groups):
        return groups
    starts = np.flatnonzero(np.r_[True, groups[1:] != groups[:-1]])
    lengths = np.diff(np.r_[starts, len(groups)])
    return np.arange(len(groups)) - np.repeat(starts, lengths)


def _pairs(keys: NDArray[np.int64], counts: NDArray[np.int64]) -> Counts:
    return tuple((k, c) for k, c in zip(keys.tolist(), counts.tolist(), strict=True) if c)
