"""Vectors shaped like a news shelf's, with the clusters that they were made from."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from newsrec.types.clusters import dense
from newsrec.types.embeddings import unit_rows


def news_like(
    n: int, dim: int, rng: np.random.Generator, noise: float = 0.5
) -> tuple[NDArray[np.float32], NDArray[np.int32]]:
    """``(vectors (n, dim), labels (3, n))``: themes, topics and stories of power-law sizes.

    The theme shows in the first quarter of the dimensions, the topic in the second, the story in
    the other half, so each Matryoshka slice tells one level more. Two articles of one story have a
    cosine of about ``1 / (1 + noise)``, all articles share a little (embeddings do).
    """
    vectors = np.empty((n, dim), np.float32)
    return vectors, write_news(vectors, rng, noise)


def write_news(
    vectors: NDArray[np.floating], rng: np.random.Generator, noise: float = 0.5
) -> NDArray[np.int32]:
    """Fill ``vectors (n, dim)``, of any float format, a file too, as `news_like` says; the labels
    ``(3, n)``."""
    n, dim = vectors.shape
    story = power_law(n, max(2, n // 5), 1.0, rng)
    topic = power_law(int(story.max()) + 1, max(2, n // 60), 0.7, rng)[story]
    theme = power_law(int(topic.max()) + 1, max(2, round(n**0.4)), 0.7, rng)[topic]
    blocks = ((0, dim // 4, theme), (dim // 4, dim // 2, topic), (dim // 2, dim, story))
    centres = [
        rng.standard_normal((int(label.max()) + 1, end - start), np.float32) + np.float32(0.3)
        for start, end, label in blocks
    ]
    for a in range(0, n, 8192):
        part = rng.standard_normal((min(8192, n - a), dim), np.float32)
        part *= np.float32(noise**0.5)
        for (start, end, label), centre in zip(blocks, centres, strict=True):
            part[:, start:end] += centre[label[a : a + 8192]]
            part[:, start:end] *= np.float32((end - start) ** -0.5)
        vectors[a : a + 8192] = unit_rows(part)
    return np.stack([dense(label) for label in (theme, topic, story)])


def power_law(n: int, k: int, exponent: float, rng: np.random.Generator) -> NDArray[np.int64]:
    """``(n,)`` draws of ``0 … k - 1``, dense, the r-th most frequent in proportion to
    ``r ** -exponent``."""
    weight = np.arange(1, k + 1) ** -exponent
    drawn = rng.choice(k, n, p=weight / weight.sum())
    return np.unique(drawn, return_inverse=True)[1].reshape(-1)


def days_of(story: NDArray[np.int32], days: int, rng: np.random.Generator) -> NDArray[np.int64]:
    """``(n,)``: the day, 0 … days - 1, of each article: a story begins on any day, and its articles
    come within a few days of that."""
    begins = rng.uniform(-3, days, int(story.max()) + 1)[story]
    return np.clip(begins + rng.exponential(2.0, len(story)), 0, days - 1).astype(np.int64)
