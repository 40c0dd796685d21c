"""A small corpus whose right answer is known, and an encoder that finds it."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from newsrec.corpus import Corpus, write_corpus
from newsrec.types import EncoderSpec, Impressions, NewsTable, Ragged, Strings, Texts

N_NEWS, N_TOPICS, N_USERS = 48, 4, 15
LANGUAGES = ("eng", "fin", "jpn", "swh")


class TopicEncoder:
    """Reads the topic word of a text (``t3``) and little else: eight dimensions, not normalised."""

    def __init__(self, name: str = "topics", skill: float = 1.0) -> None:
        self.skill = skill
        self.spec = EncoderSpec(name, "1", 8, "none", (8,), normalized=False)

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        out = np.zeros((len(texts), 8), np.float32)
        for i, text in enumerate(texts):
            digest = hashlib.sha256(text.encode()).digest()[:8]
            out[i] = np.frombuffer(digest, np.uint8) / 255.0 - 0.5
            topic = next((word for word in text.split() if word.startswith("t")), "t0")
            out[i, int(topic[1:])] += 3 * self.skill
        return out


def write(folder: Path) -> Corpus:
    """Three languages with text and one without; ``train``, ``test``, ``blind`` (no labels) and
    ``void`` (no impression). In Finnish every fourth article is missing."""
    rng = np.random.default_rng(5)
    topic = np.arange(N_NEWS) % N_TOPICS
    news = NewsTable(
        ids=np.asarray([f"N{i}" for i in range(N_NEWS)]),
        category=topic.astype(np.int16),
        subcategory=(np.arange(N_NEWS) % 8).astype(np.int16),
        category_names=("sport", "money", "arts", "world"),
        subcategory_names=tuple(f"s{i}" for i in range(8)),
        published=np.datetime64("2026-01-01", "s") + np.arange(N_NEWS) * 3600,
        story=np.full(N_NEWS, -1, np.int32),
    )
    spoken: dict[str, NDArray[np.int16]] = {}
    splits = {}
    for name, n in (("train", 40), ("test", 150), ("blind", 12), ("void", 0)):
        splits[name], spoken[name] = _split(rng, name, n, topic)
    return write_corpus(
        folder,
        name="shelves",
        news=news,
        users=np.asarray([f"U{i}" for i in range(N_USERS)]),
        texts=[_texts(language, topic) for language in LANGUAGES],
        splits=splits,
        history_language=spoken,
    )


def _texts(language: str, topic: NDArray[np.integer]) -> Texts:
    present = np.full(N_NEWS, language != "swh")
    if language == "fin":
        present[::4] = False
    titles = [f"t{t} n{i} {language}" if p else ""
              for i, (t, p) in enumerate(zip(topic, present, strict=True))]  # fmt: skip
    return Texts(language, Strings.pack(titles), Strings.pack([""] * N_NEWS), present)


def _split(
    rng: np.random.Generator, name: str, n: int, topic: NDArray[np.integer]
) -> tuple[Impressions, NDArray[np.int16]]:
    """Readers like one topic; the first of three has no history. Clicks follow the topic."""
    user = rng.integers(0, N_USERS, n)
    liked = user % N_TOPICS
    histories: list[list[int]] = [[]]
    for taste in range(N_TOPICS):
        histories += [rng.permutation(np.flatnonzero(topic == taste))[:6].tolist()] * 2
    of = np.where(user % 3 == 0, 0, 1 + 2 * liked)
    lists = [rng.choice(N_NEWS, 9, replace=False) for _ in range(n)]
    clicked = [(topic[row] == taste) & (rng.random(9) < 0.8)
               for row, taste in zip(lists, liked, strict=True)]  # fmt: skip
    flat = np.concatenate([np.zeros(0, np.bool_), *clicked])
    history = Ragged.from_lists(histories)
    start = "2026-01-01T12:00:00" if name == "train" else "2026-01-02T00:00:00"
    made = Impressions(
        ids=np.asarray([f"{name}{i}" for i in range(n)], np.str_),
        user=user.astype(np.int32),
        time=np.datetime64(start, "s") + np.arange(n) * 60,
        history=history,
        history_of=of.astype(np.int32),
        candidates=Ragged.from_lists([row.tolist() for row in lists]),
        clicked=None if name == "blind" else flat,
    )
    # Even clicks were read in English, odd ones in Finnish where there is Finnish text.
    missing = history.values % 4 == 0
    spoken = np.where((np.arange(len(history.values)) % 2 == 1) & ~missing, 1, 0)
    return made, spoken.astype(np.int16)
