"""Character n-grams of texts in any script, counted in hashed buckets; numpy only.

No words are needed, so Thai, Japanese and Chinese are read like any other language.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from newsrec.types import Ragged

#: Texts hashed at a time: the n-grams of 2,000 news texts are some 50 MB.
_BLOCK = 2000

_MIX = np.uint64(0x9E3779B97F4A7C15)
_BASE = np.uint64(0x100000001B3)


def plain_text(text: str) -> str:
    """NFKC, lower case, one space between words and one at each end."""
    return f" {' '.join(unicodedata.normalize('NFKC', text).lower().split())} "


def count_ngrams(
    texts: Sequence[str], *, sizes: tuple[int, ...] = (2, 3, 4), bits: int = 18
) -> tuple[Ragged, NDArray[np.float32]]:
    """N-grams of ``sizes`` characters per text: buckets and how often each occurs.

    Returns a `Ragged` of ``len(texts)`` rising lists of ``int32`` buckets below ``2 ** bits``, and
    the counts ``(nnz,) float32`` in the same order. Two n-grams in one bucket are one feature.
    """
    buckets, counts, lengths = [], [], []
    for first in range(0, len(texts), _BLOCK):
        block = [plain_text(text) for text in texts[first : first + _BLOCK]]
        found, times = np.unique(_keys(block, sizes, bits), return_counts=True)
        owner = (found >> np.uint64(bits)).astype(np.int64)
        buckets.append((found & np.uint64((1 << bits) - 1)).astype(np.int32))
        counts.append(times.astype(np.float32))
        lengths.append(np.bincount(owner, minlength=len(block)))
    if not lengths:
        return Ragged.from_lists([]), np.zeros(0, np.float32)
    return (
        Ragged.from_lengths(np.concatenate(buckets), np.concatenate(lengths)),
        np.concatenate(counts),
    )


def _keys(texts: list[str], sizes: tuple[int, ...], bits: int) -> NDArray[np.uint64]:
    """``text number << bits | bucket`` of every n-gram of every text."""
    joined = "".join(texts).encode("utf-32-le", "surrogatepass")
    codes = np.frombuffer(joined, np.uint32).astype(np.uint64)
    owner = np.repeat(
        np.arange(len(texts), dtype=np.uint64), np.fromiter(map(len, texts), np.int64, len(texts))
    )
    space = codes == 32
    parts = []
    rolling = np.zeros(len(codes), np.uint64)
    for n in range(1, max(sizes) + 1):
        # rolling[i] hashes the n characters that begin at i.
        rolling = rolling[: len(codes) - n + 1] * _BASE + codes[n - 1 :] + np.uint64(1)
        if n not in sizes:
            continue
        inside = owner[: len(rolling)] == owner[n - 1 :]
        if n == 1:
            inside &= ~space
        parts.append(owner[: len(rolling)][inside] << np.uint64(bits) | _mix(rolling, bits)[inside])
    return np.concatenate(parts)


def _mix(values: NDArray[np.uint64], bits: int) -> NDArray[np.uint64]:
    """The best-mixed ``bits`` of each value (splitmix64's last steps)."""
    x = (values ^ (values >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return (x ^ (x >> np.uint64(31))) >> np.uint64(64 - bits)
