"""Scores that something else made: a file that is aligned with a split of the corpus."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from newsrec.errors import ConfigError, DataError
from newsrec.rank.sides import Floats
from newsrec.types import Features, Impressions


@dataclass(frozen=True, slots=True, eq=False)
class StoredScores:
    """A `Ranker`: ``scores (nnz,)`` of ``impressions``, found again by impression and article.

    Any part of those impressions in any order gets the same scores; what was not scored is a
    `DataError`. ``where`` names the source in errors.
    """

    impressions: Impressions
    scores: Floats
    where: str = "scores"

    def __post_init__(self) -> None:
        wanted = self.impressions.candidates.values.shape
        if self.scores.shape != wanted or self.scores.dtype != np.float32:
            raise DataError(
                f"{self.where}: {self.scores.dtype} {self.scores.shape}, expected float32 {wanted}:"
                " one score per candidate of the split, in its order"
            )

    @classmethod
    def open(cls, seed: int, listed: Impressions, file: str = "") -> StoredScores:
        """The ``.npy`` in ``file``, in which ``{seed}`` stands for the seed.

        A ``.json`` of the same name (`describe`) must name the very impressions ``listed``.
        """
        if not file:
            raise ConfigError("no file named, expected file=SCORES.npy ({seed} in it is the seed)")
        path = Path(file.replace("{seed}", str(seed))).expanduser()
        try:
            scores = np.load(path, mmap_mode="r", allow_pickle=False)
        except (OSError, ValueError, EOFError) as error:
            raise DataError(f"{path}: cannot be read as .npy ({error})") from None
        if not isinstance(scores, np.ndarray):
            raise DataError(f"{path}: an archive of arrays, expected one array (.npy)")
        _check_described(path, listed)
        return cls(listed, scores, str(path))

    def score(self, impressions: Impressions, features: Features) -> Floats:
        """``(nnz,) float32``."""
        scored, n_news = self.impressions, len(features.news)
        lists = _found(scored.ids, impressions.ids, self.where)
        keys = scored.candidates.owner() * n_news + scored.candidates.values
        order = np.argsort(keys, kind="stable")
        wanted = np.repeat(lists, impressions.candidates.lengths) * n_news
        wanted += impressions.candidates.values
        at = np.searchsorted(keys, wanted, sorter=order)
        at = order[np.minimum(at, max(len(order) - 1, 0))] if len(order) else at
        strange = np.flatnonzero(keys[at] != wanted) if len(order) else np.arange(len(wanted))
        if len(strange):
            row = int(impressions.candidates.owner()[strange[0]])
            article = features.news.ids[impressions.candidates.values[strange[0]]]
            raise DataError(
                f"{self.where}: no score of article {str(article)!r} in impression "
                f"{str(impressions.ids[row])!r}"
            )
        return np.asarray(self.scores[at], np.float32)


def describe(impressions: Impressions) -> dict[str, Any]:
    """What the ``.json`` beside a file of scores must say of the impressions they belong to."""
    return {
        "format": "newsrec scores",
        "impressions": len(impressions),
        "candidates": len(impressions.candidates.values),
        "digest": digest_of(impressions),
    }


def digest_of(impressions: Impressions) -> str:
    """16 hex digits over ids and candidates: what scores are aligned with."""
    digest = hashlib.sha256("\n".join(impressions.ids.tolist()).encode("utf-8", "surrogatepass"))
    digest.update(np.ascontiguousarray(impressions.candidates.values, np.int32).tobytes())
    digest.update(np.ascontiguousarray(impressions.candidates.offsets, np.int64).tobytes())
    return digest.hexdigest()[:16]


def _check_described(path: Path, listed: Impressions) -> None:
    beside = path.with_suffix(".json")
    if not beside.exists():
        return
    try:
        said = json.loads(beside.read_text("utf-8"))
    except (OSError, ValueError) as error:
        raise DataError(f"{beside}: cannot be read as JSON ({error})") from None
    if not isinstance(said, dict) or "digest" not in said:
        raise DataError(f"{beside}: no 'digest' of the impressions that {path.name} belongs to")
    if said["digest"] != digest_of(listed):
        raise DataError(
            f"{path}: scores of other impressions (digest {said['digest']}, this split has "
            f"{digest_of(listed)}); name the corpus and --split that they were made for"
        )


def _found(ids: NDArray[np.str_], wanted: NDArray[np.str_], where: str) -> NDArray[np.int64]:
    """Rows of ``wanted (k,)`` in ``ids (n,)``, which are unique."""
    order = np.argsort(ids, kind="stable")
    ranked = ids[order]
    twice = np.flatnonzero(ranked[1:] == ranked[:-1])
    if len(twice):
        raise DataError(f"{where}: impression id {str(ranked[twice[0]])!r} occurs twice")
    if not len(wanted):
        return np.zeros(0, np.int64)
    at = np.minimum(np.searchsorted(ranked, wanted), max(len(ranked) - 1, 0))
    missing = np.flatnonzero(ranked[at] != wanted) if len(ranked) else np.arange(len(wanted))
    if len(missing):
        raise DataError(f"{where}: no scores of impression {str(wanted[missing[0]])!r}")
    return np.asarray(order[at], np.int64)
