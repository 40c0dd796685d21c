"""Real news with known topics, and graded pairs, for measuring clusters: read, never copied.

Every loader takes the shared data folder (`../shared/data`); none of the texts enters the project.
"""

from __future__ import annotations

import csv
import gzip
import json
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from newsrec.languages import canonical
from newsrec.text.groups import lines

csv.field_size_limit(1 << 30)

#: Where SemEval's OVERALL (1 the same story, 4 nothing in common) changes its grade: quarters of
#: its range, as in paper 000's code (similarity 0.75, 0.5, 0.25). VS, SS, SD; above is VD.
GRADES = (1.75, 2.5, 3.25)
_TOPICS = ("business", "entertainment", "health", "politics", "religion", "sports", "technology")
MASAKHA = ("amh", "eng", "fra", "hau", "ibo", "som", "swa", "yor")


@dataclass(frozen=True)
class Shelf:
    """Articles with their true topic: ``language``, ``topic`` and ``half`` are ``(n,)``.

    ``half`` 0 is for tuning, 1 for measuring; cut at random once and for all.
    """

    name: str
    title: list[str]
    body: list[str]
    language: NDArray[np.str_]
    topic: NDArray[np.int64]
    half: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.title)

    def take(self, rows: NDArray[np.integer], name: str = "") -> Shelf:
        """Only ``rows``."""
        return replace(
            self,
            name=name or self.name,
            title=[self.title[i] for i in rows],
            body=[self.body[i] for i in rows],
            language=self.language[rows],
            topic=self.topic[rows],
            half=self.half[rows],
        )

    def texts(self, length: int | None) -> list[str]:
        """Title and as much of the body as makes ``length`` characters together (None: all of it;
        0: the title alone)."""
        pairs = zip(self.title, self.body, strict=True)
        return [opening(title, body, length) for title, body in pairs]


@dataclass(frozen=True)
class Graded:
    """SemEval's articles and pairs: ``pairs (m, 2)`` rows, ``overall (m,)``, ``group (n,)`` numbers
    of articles that any pair connects, ``half (n,)`` by group: no article is in both halves."""

    text: list[str]
    language: NDArray[np.str_]
    pairs: NDArray[np.int64]
    overall: NDArray[np.float64]
    group: NDArray[np.int64]
    half: NDArray[np.int64]

    @property
    def grade(self) -> NDArray[np.int64]:
        """``(m,)``: 0 very dissimilar to 3 very similar, as `tune_levels` counts."""
        return sum((self.overall <= bound).astype(np.int64) for bound in GRADES)  # type: ignore[return-value]

    def take(self, half: int) -> Graded:
        """The articles and pairs of one half, numbered anew."""
        rows = np.flatnonzero(self.half == half)
        new = np.full(len(self.text), -1)
        new[rows] = np.arange(len(rows))
        kept = self.half[self.pairs[:, 0]] == half
        return Graded(
            [self.text[i] for i in rows], self.language[rows], new[self.pairs[kept]],
            self.overall[kept], self.group[rows], self.half[rows],
        )  # fmt: skip


def opening(title: str, body: str, length: int | None) -> str:
    """The title, and the body up to ``length`` characters of both (None: all, 0: title only)."""
    if length == 0:
        return title
    whole = f"{title} {body}".strip()
    return whole if length is None else whole[: max(length, len(title))]


def bbc(data: Path) -> Shelf:
    """2,225 English articles, 5 topics."""
    with gzip.open(data / "bbc_news/bbc.tsv.gz", "rt", encoding="utf-8", newline="") as file:
        rows = [(r["category"], r["text"]) for r in csv.DictReader(file, delimiter="\t")]
    split = [(topic, *_first_line(text)) for topic, text in rows]
    return _shelf("BBC", [("eng", topic, title, body) for topic, title, body in split])


def ag_news(data: Path) -> Shelf:
    """7,600 English headlines and openings, 4 topics."""
    with gzip.open(data / "ag_news/test.csv.gz", "rt", encoding="utf-8", newline="") as file:
        rows = [("eng", topic, title, body) for topic, title, body in csv.reader(file)]
    return _shelf("AG News", rows)


def masakhanews(data: Path) -> Shelf:
    """Articles in 8 languages, at most 7 topics that they share."""
    found = []
    for language in MASAKHA:
        for path in sorted((data / "masakhanews" / language).glob("*.tsv.gz")):
            for topic, title, body in _masakha_rows(path):
                found.append((canonical(language), topic, title, body))
    return _shelf("MasakhaNEWS", found)


def tnews(data: Path) -> Shelf:
    """Mandarin headlines, 15 topics; those with a label."""
    rows = []
    for part in ("train_few_all", "dev_few_all"):
        for line in lines(data / f"fewclue_tnews/{part}.json.gz"):
            entry = json.loads(line)
            rows.append(("cmn", str(entry["label"]), entry["sentence"], ""))
    return _shelf("TNEWS", rows)


SHELVES: dict[str, Callable[[Path], Shelf]] = {
    "bbc": bbc,
    "ag_news": ag_news,
    "masakhanews": masakhanews,
    "tnews": tnews,
}


def semeval(data: Path, english: bool = False) -> Graded:
    """SemEval 2022 task 8, the pairs whose full text is here (``english``: both sides English)."""
    path = data / "semeval2022_task8/pairs_with_text.tsv.gz"
    with gzip.open(path, "rt", encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file, delimiter="\t"))
    if english:
        rows = [row for row in rows if row["lang1"] == row["lang2"] == "en"]
    articles: dict[tuple[str, str], int] = {}
    source: list[str] = []
    pairs = []
    for row in rows:
        both = []
        for side, number in zip("12", row["pair_id"].split("_"), strict=True):
            key = (row[f"lang{side}"], row[f"text{side}"])
            if key not in articles:
                articles[key] = len(articles)
                source.append(re.sub(r"\D", "", number))
            both.append(articles[key])
        pairs.append(both)
    found = np.array(pairs)
    group = _connected(found, source)
    rng = np.random.default_rng(0)
    return Graded(
        [text for _, text in articles],
        np.array([canonical(language) for language, _ in articles]),
        found,
        np.array([float(row["overall"]) for row in rows]),
        group,
        rng.integers(0, 2, int(group.max()) + 1)[group],
    )


def _shelf(name: str, rows: Iterable[tuple[str, str, str, str]]) -> Shelf:
    """From (language, topic, title, body); an article that comes twice counts once, as what it is
    called first."""
    once: dict[tuple[str, ...], str] = {}
    for language, topic, *text in rows:
        once.setdefault((language, *(" ".join(part.split()) for part in text)), topic)
    languages, title, body = (list(column) for column in zip(*once, strict=True))
    _, number = np.unique(list(once.values()), return_inverse=True)
    half = np.random.default_rng(0).integers(0, 2, len(once))
    return Shelf(name, title, body, np.array(languages), number, half)


def _first_line(text: str) -> tuple[str, str]:
    title, _, body = text.strip().partition("\n")
    return title, body


def _masakha_rows(path: Path) -> Iterator[tuple[str, str, str]]:
    """(topic, headline, text); English is quoted and spans lines, the others are not."""
    with gzip.open(path, "rt", encoding="utf-8", newline="") as file:
        quoting = csv.QUOTE_MINIMAL if path.parent.name == "eng" else csv.QUOTE_NONE
        for row in csv.DictReader(file, delimiter="\t", quoting=quoting):
            if row["category"] in _TOPICS:
                yield row["category"], row["headline"] or "", row["text"] or ""


def _connected(pairs: NDArray[np.int64], source: list[str]) -> NDArray[np.int64]:
    """Dense numbers of articles connected by a pair, or by being one article's translations."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    _, same = np.unique(source, return_inverse=True)
    n = len(source)
    rows = np.concatenate([pairs[:, 0], np.arange(n)])
    columns = np.concatenate([pairs[:, 1], n + same])
    size = n + int(same.max()) + 1
    graph = coo_array((np.ones(len(rows)), (rows, columns)), shape=(size, size))
    return np.unique(connected_components(graph, directed=False)[1][:n], return_inverse=True)[1]
