"""One block of a behaviors file to arrays: work is on whole columns, nothing loops over lines."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from newsrec.corpus.blocks import Block
from newsrec.corpus.ids import MAX_BYTES, PADDING, IdIndex, Words, as_bytes, word_view, words_at
from newsrec.corpus.times import MIND_EXAMPLE, parse_mind
from newsrec.errors import DataError
from newsrec.types import Ragged

N_COLUMNS = 5
_TAB, _NEWLINE, _SPACE, _DASH = 9, 10, 32, 45


@dataclass(frozen=True, slots=True, eq=False)
class Parsed:
    """The ``n`` lines of a block; a news row below 0 is ``unknown[-1 - row]``."""

    ids: NDArray[np.bytes_]
    users: NDArray[np.bytes_]
    time: NDArray[np.datetime64]
    history: Ragged
    candidates: Ragged
    clicked: NDArray[np.bool_] | None
    unknown: NDArray[np.bytes_]


class _Spans(NamedTuple):
    """``k`` pieces of a text, and how many of them each line has, ``(n_lines,)``."""

    starts: NDArray[np.int64]
    lengths: NDArray[np.int64]
    counts: NDArray[np.int64]


def parse_block(block: Block, index: IdIndex, where: str, labelled: bool | None) -> Parsed:
    """``labelled`` None: no candidates so far, so none in this block either."""
    text = _Text(block, where)
    ids, users, times, history, candidates = text.columns()
    text.refuse(times.lengths > 24, times, f"unknown time, expected MIND's {MIND_EXAMPLE!r}")
    time, valid = parse_mind(_chars(text.words(times), len(times.starts)), times.lengths)
    text.refuse(~valid, times, f"unknown time, expected MIND's {MIND_EXAMPLE!r}")
    for name, spans in (("impression id", ids), ("user", users)):
        text.refuse(spans.lengths == 0, spans, f"empty {name}")
    clicked = None
    if labelled:
        clicked = text.labels(candidates)
        candidates = candidates._replace(lengths=candidates.lengths - 2)
    rows, unknown = _rows(text, index, history, candidates)
    shown = rows[len(history.starts) :]
    if labelled:
        whole = candidates._replace(lengths=candidates.lengths + 2)
        what = "label with a sign, expected 0 or 1"
        _refuse_some(text, whole, shown, _signed(unknown, index), what)
    elif labelled is False:
        what = "candidate with a label, the first candidates have none"
        _refuse_some(text, candidates, shown, _labels(unknown), what)
    return Parsed(
        ids=as_bytes(text.words(ids)),
        users=as_bytes(text.words(users)),
        time=time,
        history=Ragged.from_lengths(rows[: len(history.starts)], history.counts),
        candidates=Ragged.from_lengths(shown, candidates.counts),
        clicked=clicked,
        unknown=unknown,
    )


def _rows(
    text: _Text, index: IdIndex, history: _Spans, candidates: _Spans
) -> tuple[NDArray[np.int32], NDArray[np.bytes_]]:
    """Rows of the history's and then the candidates' ids, and the ids that have none."""
    found = [(index.find(words), words) for words in map(text.words, (history, candidates))]
    rows = np.concatenate([rows for rows, _ in found])
    at = np.flatnonzero(rows < 0)
    if not len(at):
        return rows, np.array([], "S8")
    parts = [as_bytes([word[rows < 0] for word in words]) for rows, words in found]
    unknown, code = np.unique(np.concatenate(parts), return_inverse=True)
    rows[at] = -1 - code.reshape(-1).astype(np.int32)
    return rows, unknown


def _labels(unknown: NDArray[np.bytes_]) -> NDArray[np.bool_]:
    """In an unlabelled file, an unknown id that ends like a label is a label."""
    return np.char.endswith(unknown, b"-0") | np.char.endswith(unknown, b"-1")


def _signed(unknown: NDArray[np.bytes_], index: IdIndex) -> NDArray[np.bool_]:
    """In a labelled file, an unknown id that is known without its last dash has a label with a
    sign: ``N3--1``."""
    dashed = np.char.endswith(unknown, b"-")
    dashed[dashed] = [index.knows(name[:-1]) for name in unknown[dashed].tolist()]
    return dashed


def _refuse_some(
    text: _Text,
    candidates: _Spans,
    rows: NDArray[np.int32],
    wrong: NDArray[np.bool_],
    what: str,
) -> None:
    """`DataError` at the first candidate whose unknown id is ``wrong (n_unknown,)``."""
    if wrong.any():
        bad = np.zeros(len(rows), np.bool_)
        at = np.flatnonzero(rows < 0)
        bad[at] = wrong[-1 - rows[at]]
        text.refuse(bad, candidates, what)


def _chars(words: Words, n: int) -> NDArray[np.uint8]:
    """Words as characters ``(n, 24)``."""
    zero = np.zeros(n, np.uint64)
    table = np.stack([*words, zero, zero][:3], axis=1).astype("<u8", copy=False)
    return np.ascontiguousarray(table).view(np.uint8)


class _Text:
    """A block's bytes, and how to say where in the file something is wrong."""

    def __init__(self, block: Block, where: str) -> None:
        self.block = block
        self.where = where
        self.bytes = np.frombuffer(block.data + PADDING, np.uint8)
        self.view = word_view(self.bytes)

    def words(self, spans: _Spans) -> Words:
        self.refuse(spans.lengths > MAX_BYTES, spans, f"longer than {MAX_BYTES} bytes")
        return words_at(self.view, spans.starts, spans.lengths)

    def columns(self) -> tuple[_Spans, _Spans, _Spans, _Spans, _Spans]:
        """The five columns; the last two as the items in them, empty ones left out."""
        at = np.flatnonzero(self.bytes[: len(self.block.data)] <= _SPACE)
        kind = self.bytes[at]
        ends = np.flatnonzero(kind == _NEWLINE)
        tabs = np.flatnonzero(kind == _TAB)
        n = len(ends)
        if len(tabs) != (N_COLUMNS - 1) * n or np.any(
            np.searchsorted(tabs, ends) != (N_COLUMNS - 1) * np.arange(1, n + 1)
        ):
            self._refuse_columns()
        stray = np.flatnonzero((kind != _NEWLINE) & (kind != _TAB) & (kind != _SPACE))
        if len(stray):
            line = int(np.searchsorted(ends, stray[0]))
            raise self._error(line, f"control character 0x{kind[stray[0]]:02x}, expected text")
        tab = tabs.reshape(n, N_COLUMNS - 1)
        one = np.ones(n, np.int64)
        starts = [np.concatenate([[-1], at[ends[:-1]]]), at[tab[:, 0]], at[tab[:, 1]]]
        ids, users, times = (
            _Spans(start + 1, at[tab[:, k]] - start - 1, one) for k, start in enumerate(starts)
        )
        history, candidates = _items(at, tab[:, 2], tab[:, 3]), _items(at, tab[:, 3], ends)
        return ids, users, times, history, candidates

    def labels(self, candidates: _Spans) -> NDArray[np.bool_]:
        """``(nnz,)``: whether each candidate ends in ``-1``; `DataError` unless all end in ``-0``
        or ``-1``."""
        end = candidates.starts + candidates.lengths
        label = self.bytes[end - 1]
        clicked: NDArray[np.bool_] = label == ord("1")
        good = (self.bytes[end - 2] == _DASH) & (clicked | (label == ord("0")))
        good &= candidates.lengths > 2
        if not good.all():
            k = int(np.argmin(good))
            token = self._piece(candidates, k)
            name, dash, after = token.rpartition("-")
            what = (
                f"label {after!r} of candidate {token!r}, expected 0 or 1"
                if dash and name
                else f"candidate {token!r} without "
                + (
                    "an id"
                    if dash
                    else f"a label, expected {token}-0 or -1 (the first candidates "
                    "of the file have labels)"
                )
            )
            raise self._error(_line(candidates, k), what)
        return clicked

    def refuse(self, bad: NDArray[np.bool_], spans: _Spans, what: str) -> None:
        """`DataError` at the first of ``spans (k,)`` where ``bad (k,)`` holds."""
        if bad.any():
            k = int(np.argmax(bad))
            raise self._error(_line(spans, k), f"{what}; found {self._piece(spans, k)!r}")

    def _piece(self, spans: _Spans, k: int) -> str:
        start = int(spans.starts[k])
        data = self.block.data[start : start + min(int(spans.lengths[k]), 60)]
        return data.decode("utf-8", "replace")

    def _refuse_columns(self) -> None:
        for k, line in enumerate(self.block.data.split(b"\n")):
            columns = line.split(b"\t")
            if len(columns) != N_COLUMNS:
                first = columns[0][:60].decode("utf-8", "replace")
                plural = "" if len(columns) == 1 else "s"
                found = f"{len(columns)} column{plural}" if line else "empty line"
                raise self._error(
                    k, f"{found}, expected {N_COLUMNS} (MIND). First field: {first!r}"
                )

    def _error(self, line: int, what: str) -> DataError:
        return DataError(f"{self.where}:{self.block.first_line + line}: {what}")


def _items(at: NDArray[np.int64], first: NDArray[np.int64], last: NDArray[np.int64]) -> _Spans:
    """The pieces between separators ``first[i]`` and ``last[i]`` of every line, without empty ones;
    ``at (m,)`` is where in the text each separator stands."""
    counts = last - first
    begin = np.cumsum(counts) - counts
    gap = np.repeat(first - begin, counts)
    gap += np.arange(len(gap))
    starts = at.take(gap)
    gap += 1
    lengths = at.take(gap)
    starts += 1
    lengths -= starts
    spans = _Spans(starts, lengths, counts)
    empty = np.flatnonzero(lengths == 0)
    if not len(empty):
        return spans
    gone = np.bincount(_lines(spans, empty), minlength=len(counts))
    kept = np.flatnonzero(lengths)
    return _Spans(starts[kept], lengths[kept], counts - gone)


def _lines(spans: _Spans, k: NDArray[np.int64]) -> NDArray[np.int64]:
    """The line, from 0, in which piece ``k`` lies."""
    return np.searchsorted(np.cumsum(spans.counts), k, side="right")


def _line(spans: _Spans, k: int) -> int:
    return int(_lines(spans, np.array([k]))[0])
