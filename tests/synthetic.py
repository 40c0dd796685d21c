"""A small corpus whose right answer is known."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from newsrec.types import (
    Embeddings,
    EmbeddingSpec,
    EncoderSpec,
    Features,
    Impressions,
    NewsTable,
    Ragged,
    Strings,
    Texts,
)

VIEW = "title+abstract"
DAY = np.datetime64("2024-05-01T00:00:00", "s")


class Known(NamedTuple):
    """What `known_answer` makes."""

    news: NewsTable
    impressions: Impressions
    features: Features


def known_answer(
    rng: np.random.Generator,
    *,
    answer: str = "topic",
    n_news: int = 240,
    n_impressions: int = 80,
    n_topics: int = 4,
    dim: int = 16,
    noise: float = 0.2,
    empty: float = 0.0,
    languages: tuple[str, str] = ("eng", "eng"),
    normalized: bool = True,
) -> Known:
    """Impressions in which the clicked candidates are, by construction, the right ones.

    Every article has one topic, told by its vector (a unit direction per topic plus ``noise``) and
    its category; every reader reads one topic. With ``answer="topic"`` the clicked candidates are
    those of the reader's topic; with ``"recent"`` the newest; with ``"popular"`` the one with the
    smallest row, which is clicked more often in `popular_log`. A share ``empty`` of the readers has
    no history. When the two ``languages`` differ, history vectors have a direction of their own
    added to every row (a language bias) and are noised apart.
    """
    topic = rng.integers(0, n_topics, n_news)
    news = news_table(topic, n_topics, rng)
    directions, _ = np.linalg.qr(rng.standard_normal((dim, dim)))
    clean = directions[topic]
    shelf = clean + noise * rng.standard_normal((n_news, dim)) / np.sqrt(dim)
    history = shelf
    if languages[0] != languages[1]:
        own = noise * rng.standard_normal((n_news, dim)) / np.sqrt(dim)
        history = clean + own + 2 * directions[n_topics]
    views = [
        {VIEW: embeddings(v, normalized=normalized, language=language)}
        for v, language in zip((history, shelf), languages, strict=True)
    ]
    if languages[0] == languages[1]:
        views[0] = views[1]
    impressions = impressions_of(rng, topic, news, n_impressions, answer, empty)
    return Known(news, impressions, Features(news, views[0], views[1]))


def news_table(topic: NDArray[np.int64], n_topics: int, rng: np.random.Generator) -> NewsTable:
    """Categories are topics; subcategories halve them; published over ten days, all different."""
    n = len(topic)
    return NewsTable(
        ids=np.array([f"N{i}" for i in range(n)]),
        category=topic.astype(np.int16),
        subcategory=(2 * topic + rng.integers(0, 2, n)).astype(np.int16),
        category_names=tuple(f"topic {t}" for t in range(n_topics)),
        subcategory_names=tuple(f"part {t}" for t in range(2 * n_topics)),
        published=DAY + rng.permutation(n) * np.timedelta64(864_000 // n, "s"),
        story=np.full(n, -1, np.int32),
    )


def embeddings(
    vectors: NDArray[np.floating],
    *,
    normalized: bool = True,
    language: str = "eng",
    present: NDArray[np.bool_] | None = None,
) -> Embeddings:
    """``vectors (n, dim)`` with a spec; rows scaled to length 1 when ``normalized``."""
    x = np.array(vectors, np.float32)
    if normalized:
        x /= np.maximum(np.linalg.norm(x, axis=1, keepdims=True), 1e-12)
    dim = x.shape[1]
    encoder = EncoderSpec("synthetic", "0", dim, "mean", (dim,), normalized=normalized)
    here = np.ones(len(x), np.bool_) if present is None else present
    x[~here] = 0
    return Embeddings(x, here, EmbeddingSpec(encoder, language, VIEW, "synthetic"))


def topic_texts(news: NewsTable, rng: np.random.Generator) -> Texts:
    """Titles that put the five words of the article's category in some order. Words have two CJK
    letters, categories share no letter, and nothing stands between words."""
    titles = []
    for category in news.category.tolist():
        letters = [chr(0x4E00 + 10 * category + i) for i in range(10)]
        titles.append("".join(letters[2 * w] + letters[2 * w + 1] for w in rng.permutation(5)))
    blank = Strings.pack([""] * len(news))
    return Texts("cmn", Strings.pack(titles), blank, np.ones(len(news), np.bool_))


def popular_log(known: Known) -> Impressions:
    """Impressions of the day before: each offers one pair of articles, the smaller row is clicked
    once more often than the next."""
    n = len(known.news)
    lists = [[row, (row + 1) % n] for row in range(n) for _ in range(n - row)]
    k = len(lists)
    return Impressions(
        ids=np.array([f"L{i}" for i in range(k)]),
        user=np.zeros(k, np.int32),
        time=np.full(k, DAY - np.timedelta64(1, "D")),
        history=Ragged.from_lists([[]]),
        history_of=np.zeros(k, np.int32),
        candidates=Ragged.from_lists(lists),
        clicked=np.tile([True, False], k),
    )


def impressions_of(
    rng: np.random.Generator,
    topic: NDArray[np.int64],
    news: NewsTable,
    n: int,
    answer: str = "topic",
    empty: float = 0.0,
) -> Impressions:
    """``n`` impressions of ``news`` with ``topic (n_news,)``; the rest as in `known_answer`."""
    of_topic = [np.flatnonzero(topic == t) for t in range(int(topic.max()) + 1)]
    taste = rng.integers(0, len(of_topic), max(1, n * 3 // 4))
    reader = rng.integers(0, len(taste), n)
    histories = [
        rng.choice(of_topic[t], rng.integers(1, 9)).tolist() if rng.random() >= empty else []
        for t in taste
    ]
    lists, clicked = [], []
    for t in taste[reader]:
        size = int(rng.integers(3, 9))
        right = rng.choice(of_topic[t], rng.integers(1, 3), replace=False)
        wrong = rng.choice(np.flatnonzero(topic != t), size, replace=False)
        shown = rng.permutation(np.concatenate([right, wrong]))
        if answer == "topic":
            yes = np.isin(shown, right)
        elif answer == "recent":
            yes = news.published[shown] == news.published[shown].max()
        elif answer == "popular":
            yes = shown == shown.min()
        else:
            raise ValueError(f"answer {answer!r}: topic, recent or popular")
        lists.append(shown.tolist())
        clicked += yes.tolist()
    return Impressions(
        ids=np.array([f"I{i}" for i in range(n)]),
        user=reader.astype(np.int32),
        time=DAY + np.timedelta64(20, "D") + rng.integers(0, 86_400, n).astype("timedelta64[s]"),
        history=Ragged.from_lists(histories),
        history_of=reader.astype(np.int32),
        candidates=Ragged.from_lists(lists),
        clicked=np.array(clicked, np.bool_),
    )


def last_click_decides(rng: np.random.Generator, news: NewsTable, n: int) -> Impressions:
    """``n`` impressions of readers who read of every topic alike and click on that of their last
    click: each history is a shuffle with every topic twice, one candidate of each topic is shown.
    """
    topic = news.category.astype(np.int64)
    of_topic = [np.flatnonzero(topic == t) for t in range(int(topic.max()) + 1)]
    kinds = np.arange(len(of_topic))
    orders = [rng.permutation(np.repeat(kinds, 2)) for _ in range(n)]
    histories = [[int(rng.choice(of_topic[t])) for t in order] for order in orders]
    shown = [rng.permutation(kinds) for _ in range(n)]
    return Impressions(
        ids=np.array([f"I{i}" for i in range(n)]),
        user=np.arange(n, dtype=np.int32),
        time=np.full(n, DAY + np.timedelta64(20, "D")),
        history=Ragged.from_lists(histories),
        history_of=np.arange(n, dtype=np.int32),
        candidates=Ragged.from_lists([[int(rng.choice(of_topic[t])) for t in s] for s in shown]),
        clicked=np.concatenate([s == order[-1] for s, order in zip(shown, orders, strict=True)]),
    )
