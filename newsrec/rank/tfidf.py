"""TF-IDF of character n-grams with late fusion: the baseline that reads text but no meaning."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from newsrec.errors import ConfigError, DataError
from newsrec.rank.blocks import spread
from newsrec.rank.histories import history_rows, newest_readable
from newsrec.rank.ngrams import count_ngrams
from newsrec.rank.sides import Floats
from newsrec.types import Features, Impressions, Ragged, Texts

#: N-grams of candidates multiplied at a time: some 20 MB.
_BLOCK = 1 << 20


@dataclass(frozen=True, slots=True, eq=False)
class SparseRows:
    """``n`` sparse rows of length 1 (or 0): their ``buckets``, and ``weights (nnz,)`` of those."""

    buckets: Ragged
    weights: Floats

    @property
    def present(self) -> NDArray[np.bool_]:
        """``(n,)``: rows that are not empty."""
        return self.buckets.lengths > 0


@dataclass(frozen=True, slots=True, eq=False)
class TfIdf:
    """A `Ranker`: mean cosine between a candidate's n-grams and those of the articles read.

    Weights are ``(1 + log count) · (1 + log((1 + n) / (1 + df)))``, as in scikit-learn's
    ``TfidfVectorizer(analyzer="char", sublinear_tf=True)``, on hashed buckets. Reads no vectors:
    fitted texts stand in for ``features``, of which only ``history_rows`` is used. Newest
    ``history_limit`` articles that have text.
    """

    shelf: SparseRows
    history: SparseRows
    bits: int
    history_limit: int | None = 50

    @classmethod
    def fit(
        cls,
        texts: Texts,
        history_texts: Texts | None = None,
        *,
        view: str = "title+abstract",
        sizes: tuple[int, ...] = (2, 3, 4),
        bits: int = 18,
        history_limit: int | None = 50,
    ) -> TfIdf:
        """Document frequencies come from the shelf's ``texts``; ``history_texts`` (default: the
        same) are the history in another language, or one row for each of ``history_rows``."""
        if not sizes or min(sizes) < 1 or not 8 <= bits <= 26:
            raise ConfigError(f"sizes {sizes}, bits {bits}: expected sizes >= 1 and 8 to 26 bits")
        if history_limit is not None and history_limit < 1:
            raise ConfigError(f"history_limit: {history_limit}, expected at least 1, or None")
        found, counts = count_ngrams(texts.view(view), sizes=sizes, bits=bits)
        df = np.bincount(found.values, minlength=1 << bits)
        idf = (np.log((1 + len(found)) / (1 + df)) + 1).astype(np.float32)
        shelf = history = _weighted(found, counts, idf, texts)
        if history_texts is not None and history_texts is not texts:
            found, counts = count_ngrams(history_texts.view(view), sizes=sizes, bits=bits)
            history = _weighted(found, counts, idf, history_texts)
        return cls(shelf, history, bits, history_limit)

    def score(self, impressions: Impressions, features: Features) -> Floats:
        """``(nnz,) float32``, cosines; 0 where the reader or the candidate has no text."""
        candidates = impressions.candidates
        if len(candidates.values) and candidates.values.max() >= len(self.shelf.present):
            raise DataError(
                f"candidate row {candidates.values.max()}, but TF-IDF was fitted on "
                f"{len(self.shelf.present)} texts"
            )
        lists = history_rows(impressions, features)
        read = newest_readable(lists, self.history.present, self.history_limit)
        scores = np.zeros(len(candidates.values), np.float32)
        order = np.argsort(impressions.history_of, kind="stable")
        bounds = np.searchsorted(impressions.history_of[order], np.arange(len(read) + 1))

        def run(start: int, end: int) -> None:
            profile = np.zeros(1 << self.bits, np.float32)
            for h in range(start, end):
                at = candidates.positions(order[bounds[h] : bounds[h + 1]])
                if len(at) and len(read[h]):
                    touched = self._fill(profile, read[h])
                    scores[at] = self._products(candidates.values[at], profile)
                    profile[touched] = 0

        spread(run, len(read), 64)
        return scores

    def _fill(self, profile: Floats, rows: NDArray[np.integer]) -> NDArray[np.integer]:
        """Mean of the history ``rows`` into ``profile (n_buckets,)``; returns what it touched."""
        at = self.history.buckets.positions(rows)
        touched = self.history.buckets.values[at]
        np.add.at(profile, touched, self.history.weights[at])
        profile[touched] /= np.float32(len(rows))  # once each, however often it is in ``touched``
        return np.asarray(touched)

    def _products(self, rows: NDArray[np.integer], profile: Floats) -> Floats:
        """``(k,)``: shelf ``rows`` times ``profile``."""
        out = np.empty(len(rows), np.float32)
        lengths = self.shelf.buckets.lengths[rows]
        step = max(1, _BLOCK // max(1, int(lengths.max(initial=1))))
        for a in range(0, len(rows), step):
            at = self.shelf.buckets.positions(rows[a : a + step])
            products = self.shelf.weights[at] * profile[self.shelf.buckets.values[at]]
            ends = np.cumsum(lengths[a : a + step])
            starts = ends - lengths[a : a + step]
            # A guard element: np.add.reduceat needs every start inside the array.
            sums = np.add.reduceat(np.append(products, np.float32(0)), starts)
            out[a : a + step] = np.where(ends > starts, sums, 0)
        return out


def _weighted(found: Ragged, counts: Floats, idf: Floats, texts: Texts) -> SparseRows:
    """Weights of the present texts, each row of length 1, spread over all rows of ``texts``."""
    weights = (1 + np.log(counts)) * idf[found.values]
    owner = found.owner()
    norms = np.sqrt(np.bincount(owner, weights.astype(np.float64) ** 2, len(found)))
    weights = (weights / np.maximum(norms, 1e-12)[owner]).astype(np.float32)
    lengths = np.zeros(len(texts), np.int64)
    lengths[texts.rows] = found.lengths
    return SparseRows(Ragged.from_lengths(found.values, lengths), weights)
