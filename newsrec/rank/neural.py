"""A trained head as a ranker.

Scores do not depend on what else is scored, to the last bit: a matrix product's last bits depend on
its shape, so every product here has a shape that follows from the item alone. Articles are encoded
in blocks of one size, histories are read with others of the same length in blocks of one size, and
what is missing is padded.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from newsrec.errors import HeadError
from newsrec.rank.articles import Articles, articles_of
from newsrec.rank.heads.head import NewsHead
from newsrec.rank.inputs import Ints
from newsrec.rank.news_modules import Items
from newsrec.rank.sides import Floats, Side
from newsrec.types import Features, Impressions, Ragged

#: Articles encoded at a time.
ARTICLES = 256
#: Histories read at a time, and pairs of history and candidate scored at a time.
HISTORIES, PAIRS = 32, 64
# Values of reader vectors held at a time: 128 MB.
_READER_VALUES = 1 << 25


@dataclass(frozen=True, slots=True, eq=False)
class NeuralRanker:
    """A `Ranker`: ``head`` with the weights that training left.

    Reads the ``history_limit`` newest (or oldest) clicks that have a vector. ``made``: provenance.
    Readers without a readable history score 0 for every candidate.
    """

    head: NewsHead
    history_limit: int = 50
    newest: bool = True
    made: Mapping[str, Any] = field(default_factory=dict)

    def score(self, impressions: Impressions, features: Features) -> Floats:
        """``(nnz,) float32``. `ConfigError` when ``features`` are another encoder's."""
        articles = articles_of(
            impressions,
            features,
            self.head.inputs,
            history_limit=self.history_limit,
            newest=self.newest,
        )
        self.check(features)
        scores = np.zeros(len(articles.candidates.values), np.float32)
        training = self.head.training
        self.head.eval()
        with torch.inference_mode():
            vectors = encoded(self.head, articles)
            fill = self._by_vector if self.head.reader.one_vector else self._by_pair
            fill(impressions.history_of, articles, vectors, scores)
        self.head.train(training)
        return scores

    def check(self, features: Features) -> None:
        """`ConfigError` when ``features`` know none of the categories that the head needs."""
        inputs = self.head.inputs
        if inputs.views or not len(features.news):
            return
        if not inputs.category_rows(features.news).any():
            known = ", ".join(inputs.categories[:5])
            here = ", ".join(features.news.category_names[:5]) or "none"
            raise HeadError(
                f"head {self.head.name!r} reads categories and was trained on {known}, …; this "
                f"corpus has {here}: no category in common"
            )

    def _by_vector(
        self, history_of: NDArray[np.integer], articles: Articles, vectors: Floats, scores: Floats
    ) -> None:
        """Every reader once, then dot products."""
        shelf = Side(vectors, np.ones(len(vectors), np.bool_))
        order = np.argsort(history_of, kind="stable")
        sorted_of, candidates = history_of[order], articles.candidates
        step = max(1, _READER_VALUES // max(1, vectors.shape[1]))
        for first in range(0, len(articles.history), step):
            last = min(first + step, len(articles.history))
            lists = articles.history.take(np.arange(first, last))
            readers = np.zeros((len(lists), vectors.shape[1]), np.float32)
            for rows, state in self._read(lists, vectors):
                readers[rows] = state[0][: len(rows)].cpu().numpy()
            a, b = np.searchsorted(sorted_of, [first, last])
            places = candidates.positions(order[a:b])
            scores[places] = shelf.dots(
                candidates.take(order[a:b]), readers, sorted_of[a:b] - first
            )

    def _by_pair(
        self, history_of: NDArray[np.integer], articles: Articles, vectors: Floats, scores: Floats
    ) -> None:
        """Every candidate with its reader's history."""
        order = np.argsort(history_of, kind="stable")
        starts = np.searchsorted(history_of[order], np.arange(len(articles.history) + 1))
        shown_to = Ragged(order, starts.astype(np.int64))
        for rows, state in self._read(articles.history, vectors):
            impressions = shown_to.take(rows)
            candidates = articles.candidates.take(impressions.values)
            owner = np.repeat(impressions.owner(), candidates.lengths)
            places = articles.candidates.positions(impressions.values)
            for start in range(0, len(places), PAIRS):
                here = slice(start, start + PAIRS)
                which = torch.from_numpy(_filled(owner[here], PAIRS)).to(self._device)
                shown = self._tensor(vectors[_filled(candidates.values[here], PAIRS)])
                state_of = tuple(part[which] for part in state)
                found = self.head.reader.score(state_of, shown[:, None])[:, 0]
                scores[places[here]] = found[: len(places[here])].cpu().numpy()

    def _read(self, lists: Ragged, vectors: Floats) -> Iterator[tuple[Ints, tuple[Tensor, ...]]]:
        """Lists of one length, at most `HISTORIES` of them, and their state padded to as many."""
        lengths = lists.lengths
        for length in np.unique(lengths[lengths > 0]).tolist():
            same = np.flatnonzero(lengths == length)
            numbers = torch.arange(HISTORIES * length).view(HISTORIES, length).to(self._device)
            mask = torch.ones(numbers.shape, dtype=torch.bool, device=self._device)
            for start in range(0, len(same), HISTORIES):
                rows = same[start : start + HISTORIES]
                read = lists.values[lists.square(_filled(rows, HISTORIES))].ravel()
                state = self.head.reader.read(self._tensor(vectors[read]), numbers, mask)
                yield rows, state if isinstance(state, tuple) else (state,)

    def _tensor(self, values: Floats) -> Tensor:
        return torch.from_numpy(values).to(self._device)

    @property
    def _device(self) -> torch.device:
        return device_of(self.head)


def device_of(head: NewsHead) -> torch.device:
    """Where the head's weights are; the CPU for a head without any."""
    return next((p.device for p in head.parameters()), torch.device("cpu"))


def encoded(head: NewsHead, articles: Articles) -> Floats:
    """The news vectors of all ``articles``: ``(n, width) float32``."""
    device, out = str(device_of(head)), np.zeros((0, 0), np.float32)
    for start in range(0, len(articles), ARTICLES):
        which = np.arange(start, min(start + ARTICLES, len(articles)))
        block = head.news(Items.of(articles, _filled(which, ARTICLES), device, trim=False))
        if not len(out):
            out = np.zeros((len(articles), block.shape[1]), np.float32)
        out[which] = block[: len(which)].cpu().numpy()
    return out


def _filled(rows: NDArray[np.integer], size: int) -> Ints:
    """``rows (k,)`` and its first one again and again: ``(size,)``."""
    out = np.full(size, rows[0], np.int64)
    out[: len(rows)] = rows
    return out
