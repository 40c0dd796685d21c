"""Ids as bytes to rows, a block of them at a time.

An id is read as 8-byte words (the last one padded with zeros), so that comparing two ids is
comparing a few integers. Any id works; those of up to 8 bytes (``N12345``) take one word.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.lib.stride_tricks import as_strided
from numpy.typing import NDArray

from newsrec.errors import DataError

Words = list[NDArray[np.uint64]]

#: Longest id, in bytes.
MAX_BYTES = 256
#: What has to follow the last byte of a text for `words_at`.
PADDING = bytes(MAX_BYTES + 8)

_MASKS = np.array([(1 << (8 * n)) - 1 for n in range(9)], "<u8")
# Odd multipliers (splitmix64 constants and successors): one a word, the first is Fibonacci's.
_MULTIPLIERS = (
    np.arange(1, MAX_BYTES // 8 + 1, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)
) | np.uint64(1)


def refuse_long(name: str, where: str) -> None:
    """`DataError` for an id of more than `MAX_BYTES`: ids are stored as wide as the longest is."""
    if 4 * len(name) > MAX_BYTES and (found := len(name.encode("utf-8"))) > MAX_BYTES:
        raise DataError(
            f"{where} {name[:40]!r}… of {found:,} bytes, expected up to {MAX_BYTES} in UTF-8"
        )


def word_view(padded: NDArray[np.uint8]) -> NDArray[np.uint64]:
    """The 8 bytes that start at each byte of ``padded (n,)`` as little-endian words, without a
    copy, ``(n - 7,)``."""
    first = padded[: len(padded) // 8 * 8].view("<u8")
    return as_strided(first, shape=(len(padded) - 7,), strides=(1,), writeable=False)


def words_at(
    view: NDArray[np.uint64], starts: NDArray[np.int64], lengths: NDArray[np.int64]
) -> Words:
    """Words of the byte strings at ``starts (k,)`` of ``lengths (k,)``, each ``(k,) uint64``."""
    n_words = max(1, -(-int(lengths.max(initial=0)) // 8))
    if n_words == 1:
        return [view[starts] & _MASKS.take(lengths)]
    return [
        view[starts + 8 * j] & _MASKS.take(np.clip(lengths - 8 * j, 0, 8)) for j in range(n_words)
    ]


def as_bytes(words: Words) -> NDArray[np.bytes_]:
    """The byte strings themselves, ``(k,)``."""
    table = np.stack(words, axis=1).astype("<u8", copy=False)
    return np.ascontiguousarray(table).view(f"S{8 * len(words)}").reshape(-1)


def as_str(strings: NDArray[np.bytes_]) -> NDArray[np.str_]:
    """UTF-8 byte strings ``(k,)`` as text."""
    if not len(strings):
        return np.array([], np.str_)
    if strings.view(np.uint8).max() < 128:
        return strings.astype(np.str_)
    return np.array([s.decode("utf-8") for s in strings.tolist()], np.str_)


@dataclass(frozen=True, slots=True, eq=False)
class IdIndex:
    """A hash table from ids to rows; open addressing, a quarter full at most.

    ``rows (n_slots,) int32`` (-1 = free) and, for each word of the longest id, ``keys (n_slots,)``.
    Equality is checked word by word, so a hash collision costs a step and is never a wrong row.
    """

    n_ids: int
    rows: NDArray[np.int32]
    keys: Words
    shift: np.uint64

    @classmethod
    def build(cls, ids: Sequence[str]) -> IdIndex:
        """``ids`` are distinct; row ``i`` is ``ids[i]``."""
        encoded = [text.encode("utf-8") for text in ids]
        lengths = np.fromiter((len(e) for e in encoded), np.int64, len(encoded))
        text = np.frombuffer(b"".join([*encoded, PADDING]), np.uint8)
        starts = np.cumsum(lengths) - lengths
        words = words_at(word_view(text), starts, lengths)
        bits = max(4, int(4 * len(ids)).bit_length())
        rows = np.full(1 << bits, -1, np.int32)
        shift = np.uint64(64 - bits)
        slots, left = _slots(words, shift), np.arange(len(ids), dtype=np.int32)
        while len(left):
            free = left[rows[slots[left]] < 0]
            rows[slots[free]] = free
            left = left[rows[slots[left]] != left]
            slots[left] = (slots[left] + 1) & (len(rows) - 1)
        keys = [np.where(rows >= 0, word[rows], 0) if len(ids) else 0 * rows for word in words]
        return cls(len(ids), rows, [key.astype(np.uint64) for key in keys], shift)

    def find(self, words: Words) -> NDArray[np.int32]:
        """Rows of the ids given as ``words``, ``(k,) int32``, -1 where unknown."""
        slots = _slots(words, self.shift)
        rows = self.rows.take(slots)
        hit = self._equal(words, slots)
        left = np.flatnonzero(~hit & (rows >= 0))
        rows[~hit] = -1
        while len(left):
            slots = (slots.take(left) if len(slots) != len(left) else slots) + 1
            slots &= len(self.rows) - 1
            words = [word.take(left) if len(word) != len(left) else word for word in words]
            found = self.rows.take(slots)
            hit = self._equal(words, slots)
            rows[left[hit]] = found[hit]
            go_on = ~hit & (found >= 0)
            slots, words, left = slots[go_on], [word[go_on] for word in words], left[go_on]
        return rows

    def knows(self, text: bytes) -> bool:
        """Whether ``text`` is an id."""
        padded = np.frombuffer(text + PADDING, np.uint8)
        words = words_at(word_view(padded), np.array([0]), np.array([len(text)]))
        return 0 < len(text) <= MAX_BYTES and bool(self.find(words)[0] >= 0)

    def _equal(self, words: Words, slots: NDArray[np.int64]) -> NDArray[np.bool_]:
        same: NDArray[np.bool_] = self.keys[0].take(slots) == words[0]
        for key in self.keys[len(words) :]:
            same &= key.take(slots) == 0
        for j, word in enumerate(words[1:], 1):
            same &= (self.keys[j].take(slots) if j < len(self.keys) else np.uint64(0)) == word
        return same


def _slots(words: Words, shift: np.uint64) -> NDArray[np.int64]:
    mixed = words[0] * _MULTIPLIERS[0]
    for word, multiplier in zip(words[1:], _MULTIPLIERS[1:], strict=False):
        mixed += word * multiplier
    mixed >>= shift
    slots: NDArray[np.int64] = mixed.view(np.int64)
    return slots
