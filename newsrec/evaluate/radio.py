"""RADio's five normative metrics (Vrijenhoek et al. 2022): rank-aware divergences of a list.

All are Jensen–Shannon divergences in base 2, in [0, 1]; places of a list weigh 1 / rank, histories
and candidate pools weigh every article the same. Calibration and fragmentation follow from any
corpus; the others need *traits* that only the owner of the articles knows, as arrays over news
rows, and are left out, and said so, without them:

* ``affect (n_news,)`` in [0, 1], strength of sentiment, NaN unknown: activation;
* ``viewpoints``: `Ragged` of ``n_news`` lists of viewpoint or actor numbers: representation;
* ``minority``: `Ragged` of ``n_news`` lists of 0 (majority voice) and 1 (minority voice), one per
  person mentioned: alternative voices.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from newsrec.errors import DataError
from newsrec.evaluate.diversity import Listing, NotInCorpus, calibration_js
from newsrec.evaluate.shares import Floats, Ints, Shares
from newsrec.types import Ragged

TRAITS = ("affect", "viewpoints", "minority")
_AFFECT_BINS = 10
_PEERS = 5


def fragmentation(listing: Listing, k: int, rng: np.random.Generator) -> Floats:
    """Mean divergence of a reader's list from those of other readers, over stories.

    Stories where the corpus knows them, else the finest category known; 5 impressions of other
    readers drawn by ``rng`` stand for all pairs. 0: everybody reads the same; 1: nothing shared.
    """
    lists = listing.top_shares(finest_aspect(listing), k, by_rank=True)
    n, user = len(lists.total), listing.impressions.user
    total, compared = np.zeros(n), np.zeros(n)
    for _ in range(_PEERS):
        peer = rng.integers(0, max(n, 1), n)
        divergence = np.where(user[peer] != user, lists.js(lists, peer), np.nan)
        found = ~np.isnan(divergence)
        total[found] += divergence[found]
        compared += found
    return np.where(compared > 0, total / np.maximum(compared, 1), np.nan)


def finest_aspect(listing: Listing) -> str:
    """``story``, ``subcategory`` or ``category``: the first that the corpus knows."""
    for aspect in ("story", "subcategory", "category"):
        try:
            listing.classes(aspect)
        except NotInCorpus:
            continue
        return aspect
    raise NotInCorpus("no article has a story, a subcategory or a category")


def activation(listing: Listing, k: int, rng: np.random.Generator) -> Floats:
    """Divergence of the list's affect from that of all candidates, in ten bins."""
    affect = np.asarray(_trait(listing, "affect"), np.float64)
    known = ~np.isnan(affect)
    if np.any((affect[known] < 0) | (affect[known] > 1)):
        raise DataError("trait affect: expected numbers in [0, 1] or NaN")
    bins = np.where(known, np.minimum(np.nan_to_num(affect) * _AFFECT_BINS, _AFFECT_BINS - 1), -1)
    codes = bins.astype(np.int64)
    owned = Ragged.from_lengths(codes[codes >= 0], (codes >= 0).astype(np.int64))
    return _against_pool(listing, k, owned, _AFFECT_BINS)


def representation(listing: Listing, k: int, rng: np.random.Generator) -> Floats:
    """Divergence of the list's viewpoints from those of all candidates."""
    viewpoints = _lists(listing, "viewpoints")
    return _against_pool(listing, k, viewpoints, int(viewpoints.values.max(initial=0)) + 1)


def alternative_voices(listing: Listing, k: int, rng: np.random.Generator) -> Floats:
    """Divergence of the list's share of minority voices from that of all candidates."""
    minority = _lists(listing, "minority")
    if not np.isin(minority.values, (0, 1)).all():
        raise DataError("trait minority: expected 0 (majority) or 1 (minority)")
    return _against_pool(listing, k, minority, 2)


def _trait(listing: Listing, name: str) -> object:
    trait = listing.traits.get(name)
    if trait is None:
        raise NotInCorpus(f"needs the trait {name!r} of the articles, which was not given")
    size, expected = len(trait), len(listing.news)  # type: ignore[arg-type]
    if size != expected:
        raise DataError(f"trait {name}: {size} articles, the corpus has {expected}")
    return trait


def _lists(listing: Listing, name: str) -> Ragged:
    trait = _trait(listing, name)
    if not isinstance(trait, Ragged):
        raise DataError(f"trait {name}: {type(trait).__name__}, expected Ragged")
    return trait


def _against_pool(listing: Listing, k: int, owned: Ragged, n_classes: int) -> Floats:
    """JS of the first ``k`` from all candidates, over the classes that each article owns."""
    rows = listing.top_news(k)
    place = np.flatnonzero(rows.ravel() >= 0)
    weights = np.reciprocal(place % k + 1.0, dtype=np.float64)
    top = _spread(place // k, rows.ravel()[place], weights, owned)
    lists = listing.impressions.candidates
    same = np.ones(len(lists.values), np.float64)
    pool = _spread(lists.owner(), lists.values.astype(np.int64), same, owned)
    mine = Shares.of(*top, len(rows), n_classes)
    return mine.js(Shares.of(*pool, len(rows), n_classes), np.arange(len(rows)))


def _spread(lists: Ints, rows: Ints, weights: Floats, owned: Ragged) -> tuple[Ints, Ints, Floats]:
    """One entry for each class of each article: its list, the class, the article's weight."""
    lengths = owned.lengths[rows]
    classes = owned.values[owned.positions(rows)].astype(np.int64)
    return np.repeat(lists, lengths), classes, np.repeat(weights, lengths)


def calibration(listing: Listing, k: int, rng: np.random.Generator) -> Floats:
    """Divergence of the list's categories from those of the history (`calibration_js`)."""
    return calibration_js(listing, k)


#: Per-impression metrics; every one takes a cut-off and a random generator.
RADIO: dict[str, Callable[[Listing, int, np.random.Generator], Floats]] = {
    "radio_calibration@": calibration,
    "radio_fragmentation@": fragmentation,
    "radio_activation@": activation,
    "radio_representation@": representation,
    "radio_alternative_voices@": alternative_voices,
}

RADIO_DEFAULT = tuple(f"{name}10" for name in RADIO)
