"""MIND's behaviors, fast: blocks of raw bytes, parsed by column arithmetic on two threads."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from newsrec.corpus.blocks import BLOCK_BYTES, Block, Readable, read_blocks
from newsrec.corpus.distinct import distinct_bytes, distinct_lists
from newsrec.corpus.ids import IdIndex, as_str
from newsrec.corpus.lines import N_COLUMNS, Parsed, parse_block
from newsrec.types import Impressions, Ragged


@dataclass(frozen=True, slots=True, eq=False)
class Behaviors:
    """One behaviors file.

    ``impressions.user`` indexes ``users (n_users,)`` in order of appearance; rows of news from
    ``n_ids`` of the index on are ``unknown (n_unknown,)``, sorted: ids that no news file has.
    """

    impressions: Impressions
    users: NDArray[np.str_]
    unknown: NDArray[np.str_]


def read_behaviors(
    stream: Readable,
    index: IdIndex,
    where: str = "behaviors.tsv",
    *,
    threads: int = 2,
    block_bytes: int = BLOCK_BYTES,
) -> Behaviors:
    """Parse MIND's five columns: impression id, user, time, history, impressions.

    ``N1-1 N2-0`` are labelled candidates (the label follows the last ``-``), bare ids unlabelled
    ones; a file is one or the other, as its first candidates are. Raises `DataError` with the line
    of the first thing that is not as stated.
    """
    parts = list(_parsed(stream, index, where, threads, block_bytes))
    unknown = _number_unknown(parts, index.n_ids)
    ids = as_str(np.concatenate([part.ids for part in parts]))
    user, users = distinct_bytes(np.concatenate([part.users for part in parts]))
    time = np.concatenate([part.time for part in parts])
    # Blocks before the first candidate of the file have none to label.
    labels = [part.clicked for part in parts if part.clicked is not None]
    clicked = np.concatenate(labels) if labels else None
    candidates = _joined([part.candidates for part in parts])
    histories = _joined([part.history for part in parts])
    parts.clear()  # What was joined need not be held twice.
    history, history_of = distinct_lists(histories)
    impressions = Impressions(ids, user, time, history, history_of, candidates, clicked)
    return Behaviors(impressions, as_str(users), unknown)


def _parsed(
    stream: Readable, index: IdIndex, where: str, threads: int, block_bytes: int
) -> Iterator[Parsed]:
    """Blocks in the order of the file, a few in flight; the first error of the file is raised."""
    labelled: bool | None = None
    waiting: deque[Future[Parsed]] = deque()
    with ThreadPoolExecutor(threads, thread_name_prefix="behaviors") as pool:
        for block in read_blocks(stream, where, block_bytes):
            if labelled is None:
                labelled = _is_labelled(block, index)
            waiting.append(pool.submit(parse_block, block, index, where, labelled))
            if len(waiting) > 2 * threads:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()


def _is_labelled(block: Block, index: IdIndex) -> bool | None:
    """Whether the first candidates of the block carry labels; None when it has no candidates.

    A bare id may hold a ``-`` of its own (a UUID): candidates known as they stand are unlabelled.
    """
    for line in block.data.split(b"\n"):
        columns = line.split(b"\t")
        if len(columns) == N_COLUMNS and (tokens := columns[-1].split()):
            return any(b"-" in token for token in tokens) and not all(map(index.knows, tokens))
    return None


def _number_unknown(parts: list[Parsed], n_ids: int) -> NDArray[np.str_]:
    """Give ids without a row one from ``n_ids`` on, in sorted order, in place; returns them."""
    found = [part.unknown for part in parts if len(part.unknown)]
    if not found:
        return np.array([], np.str_)
    names = np.unique(np.concatenate(found))
    for part in parts:
        row_of = (np.searchsorted(names, part.unknown) + n_ids).astype(np.int32)
        for rows in (part.history.values, part.candidates.values):
            at = np.flatnonzero(rows < 0)
            rows[at] = row_of[-1 - rows[at]]
    return as_str(names)


def _joined(parts: list[Ragged]) -> Ragged:
    lengths = np.concatenate([part.lengths for part in parts])
    return Ragged.from_lengths(np.concatenate([part.values for part in parts]), lengths)
