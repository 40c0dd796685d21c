"""Scores to an `EvalReport`: every metric by name, one sort for all of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from newsrec.errors import DataError, unknown_name
from newsrec.evaluate.diversity import (
    DIVERSITY,
    DIVERSITY_DEFAULT,
    POOLED_DIVERSITY,
    Listing,
    NotInCorpus,
    language_shares,
)
from newsrec.evaluate.metrics import (
    ACCURACY,
    PER_IMPRESSION,
    POOLED,
    Ranking,
    examples,
    measure,
    split_name,
)
from newsrec.evaluate.parallel import list_keys
from newsrec.evaluate.radio import RADIO, RADIO_DEFAULT
from newsrec.evaluate.report import EvalReport
from newsrec.evaluate.shares import Floats
from newsrec.types import Impressions, NewsTable, Provenance

#: Names that stand for several metrics.
SETS: dict[str, tuple[str, ...]] = {
    "accuracy": (*ACCURACY, "auc_pooled"),
    "newsreclib": ("auc_torchmetrics",),
    "diversity": DIVERSITY_DEFAULT,
    "radio": RADIO_DEFAULT,
    "exposure": ("language_share@10",),
}

_LANGUAGE_SHARE = "language_share@"
_NEEDS_K = (*DIVERSITY, *POOLED_DIVERSITY, *RADIO, _LANGUAGE_SHARE)


@dataclass(frozen=True, slots=True, eq=False)
class Shown:
    """What was shown, and what is known of it.

    ``impressions``: labelled, ``n``; ``rows (n,)``: their rows in the split; ``news``; ``vectors
    (n_news, dim)`` of the shelf or None; ``language (n_news,)`` and ``languages``: of a mixed
    shelf; ``traits``: see `newsrec.evaluate.radio`; ``groups``: name to labels ``(n,) str``;
    ``counts``: what was dropped before; ``aspects``: classes of all news ``(n_news,)`` by name,
    such as the levels of a cluster tree, numbered without gaps, -1 unknown.
    """

    impressions: Impressions
    rows: NDArray[np.int64]
    news: NewsTable
    vectors: NDArray[np.floating] | None = None
    language: NDArray[np.integer] | None = None
    languages: tuple[str, ...] = ()
    traits: Mapping[str, object] = field(default_factory=dict)
    groups: Mapping[str, NDArray[np.str_]] = field(default_factory=dict)
    counts: Mapping[str, int] = field(default_factory=dict)
    aspects: Mapping[str, NDArray[np.integer]] = field(default_factory=dict)


def expand(names: Sequence[str]) -> tuple[str, ...]:
    """Sets replaced by their metrics, each name once; `ConfigError` for a name nobody knows."""
    flat = [metric for name in names for metric in SETS.get(name, (name,))]
    tables = {**PER_IMPRESSION, **POOLED, **dict.fromkeys(_NEEDS_K)}
    for name in flat:
        if split_name(name)[0] not in tables:
            raise unknown_name("metric", name, [*examples(tables), *SETS])
    return tuple(dict.fromkeys(flat))


def evaluate(
    scores: NDArray[np.floating],
    shown: Shown,
    provenance: Provenance,
    rng: np.random.Generator,
    metrics: Sequence[str] = ("accuracy",),
    labels: Mapping[str, str] | None = None,
) -> EvalReport:
    """Measure ``scores (nnz,)`` of what was shown.

    Raises `DataError` for unlabelled impressions, none at all, or a score that is NaN. ``rng``
    draws the readers that fragmentation compares; nothing else is random.
    """
    impressions = shown.impressions
    if impressions.clicked is None:
        raise DataError("evaluate: the impressions have no labels, expected clicks")
    if not len(impressions):
        raise DataError("evaluate: no impression to measure")
    ranking = Ranking.of(scores, impressions)
    listing = Listing(
        ranking, impressions, shown.news, shown.vectors, shown.language, shown.languages,
        shown.traits, shown.aspects,
    )  # fmt: skip
    values: dict[str, Floats] = {}
    pooled: dict[str, float] = {}
    skipped: dict[str, str] = {}
    for name in expand(metrics):
        try:
            found = _one(name, ranking, listing, rng)
        except NotInCorpus as reason:
            skipped[name] = str(reason)
            continue
        for key, value in found.items():
            if isinstance(value, float):
                pooled[key] = value
            else:
                values[key] = value
    return EvalReport(
        names=tuple(values),
        values=np.stack(list(values.values())) if values else np.zeros((0, len(impressions))),
        rows=shown.rows,
        ids=impressions.ids,
        readers=impressions.user,
        counts=dict(shown.counts),
        provenance=provenance,
        pooled=pooled,
        skipped=skipped,
        groups=shown.groups,
        labels=labels or {},
        lists=list_keys(impressions),
        sizes=impressions.candidates.lengths.astype(np.int32),
    )


def _one(
    name: str, ranking: Ranking, listing: Listing, rng: np.random.Generator
) -> dict[str, Floats | float]:
    """The metric ``name``, or the several that it stands for."""
    key, k = split_name(name)
    if key in POOLED:
        return {name: POOLED[key](ranking)}
    if k is None or key in PER_IMPRESSION:
        return {name: measure(name, ranking)}
    if key == _LANGUAGE_SHARE:
        shares = language_shares(listing, k)
        return {f"language_share_{code}@{k}": share for code, share in shares.items()}
    if key in POOLED_DIVERSITY:
        return {name: POOLED_DIVERSITY[key](listing, k)}
    if key in RADIO:
        return {name: RADIO[key](listing, k, rng)}
    return {name: DIVERSITY[key](listing, k)}
