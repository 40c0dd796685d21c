"""Encoders and shelves made up for tests: every vector follows from its text alone."""

from __future__ import annotations

import hashlib
import os
import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from newsrec.types import EncoderSpec, Strings, Texts


class HashEncoder:
    """A vector is a hash of its text; ``seen`` and the file ``log`` record what was encoded."""

    def __init__(
        self, dim: int = 8, log: Path | None = None, sleep_s: float = 0, **spec: object
    ) -> None:
        fields = {"name": "hash", "revision": "1", "pooling": "hash", "normalized": False}
        levels = (dim // 2, dim)
        self.spec = EncoderSpec(dim=dim, levels=levels, **{**fields, **spec})  # type: ignore[arg-type]
        self.seen: list[str] = []
        self._log, self._sleep_s = log, sleep_s

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        self.seen += texts
        if self._log is not None:
            # One write each: what a killed process began to encode stays counted.
            with self._log.open("ab", buffering=0) as file:
                file.write(f"{len(texts)}\n".encode())
        time.sleep(self._sleep_s)
        return np.stack([self.vector(text) for text in texts])

    def vector(self, text: str) -> NDArray[np.float32]:
        digest = hashlib.sha256(text.encode()).digest()
        seed = int.from_bytes(digest[:8], "little")
        return np.random.default_rng(seed).standard_normal(self.spec.dim, np.float32)


def shelf(n: int = 50, language: str = "eng", *, repeat: int = 10, skip: int = 7) -> Texts:
    """``n`` articles: every ``repeat``-th has the text of article 0, every ``skip``-th none."""
    present = np.arange(n) % skip != skip - 1
    numbers = [0 if i % repeat == 0 else i for i in range(n)]
    titles = [f"{language} title {i}" * int(present[k]) for k, i in enumerate(numbers)]
    leads = [("lead " * (i % 5) + str(i)) * int(present[k]) for k, i in enumerate(numbers)]
    return Texts(language, Strings.pack(titles), Strings.pack(leads), present)


def encoded_in(log: Path) -> int:
    """How many texts all processes that write to ``log`` began to encode."""
    return sum(map(int, log.read_text().split())) if log.exists() else 0


def run(root: str, log: str, n: str, batch_size: str, sleep_s: str) -> None:
    """A process that fills the store at ``root``; its log gets a first line when it begins."""
    from newsrec.encode import EmbeddingStore

    Path(log).with_suffix(f".{os.getpid()}").touch()
    encoder = HashEncoder(log=Path(log), sleep_s=float(sleep_s))
    EmbeddingStore(root, batch_size=int(batch_size)).get(encoder, shelf(int(n)), "title", "corpus")


if __name__ == "__main__":
    import sys

    run(*sys.argv[1:])
