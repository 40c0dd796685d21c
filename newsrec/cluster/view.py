"""What can be seen of a tree of clusters: counts, names and a few headlines, small enough to show.

Made by `newsrec.cluster.overview.view_of`; drawn by `newsrec.cluster.page` and `.figures`.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from newsrec.cluster.timeline import Timeline
from newsrec.errors import DataError
from newsrec.languages import NAMES, direction, tag
from newsrec.types.clusters import ClusterTree
from newsrec.types.news import NewsTable
from newsrec.types.texts import Strings, Texts

Counts = tuple[tuple[int, int], ...]
Span = tuple[int, int] | tuple[()]


@dataclass(frozen=True, slots=True, eq=False)
class Articles:
    """What may be shown of ``n`` articles: ``ids (n,)``, ``published (n,) datetime64[s]`` (NaT
    unknown), ``titles``: language (ISO 639-3) to ``(n,)`` titles, empty where there is no text;
    ``urls (n,)``, empty where there is none, or None. Raises `DataError` for other lengths."""

    ids: Sequence[str] | NDArray[np.str_]
    published: NDArray[np.datetime64]
    titles: Mapping[str, Sequence[str]]
    urls: Sequence[str] | None = None

    def __post_init__(self) -> None:
        columns = {f"titles[{code!r}]": column for code, column in self.titles.items()}
        columns |= {"published": self.published}  # type: ignore[dict-item]
        if self.urls is not None:
            columns["urls"] = self.urls
        for name, column in columns.items():
            if len(column) != len(self.ids):
                raise DataError(
                    f"Articles.{name}: {len(column)} rows, expected {len(self.ids)}, one an id"
                )

    def __len__(self) -> int:
        return len(self.ids)

    @classmethod
    def of(
        cls, news: NewsTable, texts: Sequence[Texts], urls: Sequence[str] | None = None
    ) -> Articles:
        """The titles of ``texts`` (one a language) on the rows of ``news``."""
        return cls(news.ids, news.published, {text.language: text.title for text in texts}, urls)

    def present(self, language: str) -> NDArray[np.bool_]:
        """``(n,)``: which articles have a title in ``language``."""
        titles = self.titles[language]
        if isinstance(titles, Strings):
            return np.asarray(titles.data.lengths > 0)
        return np.fromiter((bool(title) for title in titles), np.bool_, len(titles))


@dataclass(frozen=True, slots=True, eq=False)
class Captions:
    """What each cluster is called: ``names[level][cluster]``, and if known its keywords and a
    summary, all in ``language`` (ISO 639-3; None: not stated)."""

    names: Sequence[Sequence[str]]
    keywords: Sequence[Sequence[Sequence[str]]] | None = None
    summaries: Sequence[Sequence[str]] | None = None
    language: str | None = None

    def check(self, tree: ClusterTree) -> None:
        """`DataError` unless there is one of each for every cluster of ``tree``."""
        for what in ("names", "keywords", "summaries"):
            given = getattr(self, what)
            found = None if given is None else tuple(len(row) for row in given)
            if found is not None and found != tree.n_clusters:
                raise DataError(
                    f"{what}: {found} for the levels of a tree with {tree.n_clusters} clusters; "
                    "give one a cluster, coarse to fine"
                )


@dataclass(frozen=True, slots=True)
class Headline:
    """One article: ``texts`` are pairs of a language's place in `View.languages` and the title;
    ``published`` in seconds since 1970 (UTC) or None; ``url`` is empty or begins with http(s)."""

    id: str
    published: int | None
    texts: tuple[tuple[int, str], ...]
    url: str = ""


@dataclass(frozen=True, slots=True, eq=False)
class Node:
    """One cluster: number ``cluster`` of ``level``, ``n`` articles; the root is -1 of level -1.

    ``children`` are the clusters of the next level that are listed, largest first, of
    ``n_children`` in all; ``n_loose`` articles are in none. ``languages``: pairs of a place in
    `View.languages` and articles, most first; ``over_time``: pairs of a bucket and articles;
    ``span``: the first and last second of the articles in a bucket (a bucket may begin before and
    end after them); all are empty where ``detailed`` is False. ``headlines`` only where there are
    no ``children``.
    """

    cluster: int
    level: int
    n: int
    name: str
    children: tuple[Node, ...] = ()
    n_children: int = 0
    n_loose: int = 0
    headlines: tuple[Headline, ...] = ()
    detailed: bool = False
    languages: Counts = ()
    over_time: Counts = ()
    keywords: tuple[str, ...] = ()
    summary: str = ""
    span: Span = ()

    def walk(self) -> Iterator[Node]:
        """This node and all under it, each before its children."""
        yield self
        for child in self.children:
            yield from child.walk()


@dataclass(frozen=True, slots=True, eq=False)
class View:
    """A tree to look at: ``root`` holds the clusters of the coarsest level, those all others.

    ``levels``: what a cluster of each level is called (``theme``, ``topic``, ``story``);
    ``n_clusters``: how many there are of each, listed or not; ``languages``: ISO 639-3, most
    articles first; ``language``: of the names, keywords and summaries, or None; ``time``: None
    when no article has one.
    """

    root: Node
    levels: tuple[str, ...]
    n_clusters: tuple[int, ...]
    languages: tuple[str, ...]
    language: str | None
    time: Timeline | None

    def n_listed(self, level: int) -> int:
        """How many clusters of ``level`` the view holds."""
        return sum(node.level == level for node in self.root.walk())

    def to_json(self) -> str:
        """The view as JSON that may stand inside ``<script type="application/json">``."""
        time = self.time
        value = {
            "levels": [[level, plural(level)] for level in self.levels],
            "clusters": self.n_clusters,
            "languages": [
                [code, NAMES.get(code, code), tag(code), direction(code)]
                for code in self.languages
            ],
            "names": [] if self.language is None else [tag(self.language)],
            "time": None if time is None else {
                "start": time.start, "step": time.step_s, "n": time.n,
                "unknown": time.n_unknown, "outside": time.n_outside,
            },
            "root": _node(self.root),
        }  # fmt: skip
        return in_script(json.dumps(value, ensure_ascii=False, allow_nan=False, **_COMPACT))


def plural(level: str) -> str:
    """``theme`` to ``themes``, ``story`` to ``stories``."""
    if level.endswith("y") and level[-2:-1] not in "aeiou":
        return level[:-1] + "ies"
    return level + "s"


def in_script(text: str) -> str:
    """JSON without anything that could end or change the script element around it."""
    for character in "<>&\u2028\u2029":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return text


_COMPACT: dict[str, Any] = {"separators": (",", ":")}


def own_bytes(node: Node) -> int:
    """How much of the JSON is this node's, without its children."""
    return len(json.dumps(_alone(node), ensure_ascii=False, **_COMPACT).encode())


def _node(node: Node) -> dict[str, Any]:
    value = _alone(node)
    if node.children:
        value["x"] = [_node(child) for child in node.children]
    return value


def _alone(node: Node) -> dict[str, Any]:
    """Short keys, nothing that is empty: there are ten thousands of these."""
    first = node.headlines[0].texts[0][1] if node.headlines and node.headlines[0].texts else None
    value: dict[str, Any] = {
        "c": node.cluster,
        "n": node.n,
        # The page shows the first headline where a name is missing.
        "t": None if node.name == first else node.name,
        "m": node.n_children,
        "o": node.n_loose,
        "d": int(node.detailed),
        "l": [number for pair in node.languages for number in pair],
        "h": [number for pair in node.over_time for number in pair],
        "p": node.span,
        "k": node.keywords,
        "s": node.summary,
        "a": [_headline(article) for article in node.headlines],
    }
    return {key: x for key, x in value.items() if key in "cn" or x}


def _headline(article: Headline) -> list[Any]:
    texts = [part for text in article.texts for part in text]
    return [article.id, article.published, article.url or 0, *texts]
