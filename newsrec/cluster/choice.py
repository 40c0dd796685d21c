"""Which of its phrases a cluster is called by: near to it, far from its siblings, for its parts."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from newsrec.cluster.centres import Floats
from newsrec.cluster.families import Case
from newsrec.cluster.forms import same_stem
from newsrec.cluster.phrases import Phrase

_PARTS = {False: 3, True: 2}  # phrases in a name, at most; True: finest level
_GAIN = {False: 0.12, True: 0.03}  # mean cosine with the children that one more phrase must bring
_AWAY = {False: 0.5, True: 0.25}  # weight of the contrast with the siblings; True: finest level
_ALONE = 0.7  # what a single word is worth at the finest level
_OFTEN = 0.08  # for every doubling of the places that have it
_TITLE = 1.1  # what a phrase is worth that stands in a title
_SHORTER = 0.8  # of its score a shorter form of the same word must have


def parts_of(case: Case, vectors: NDArray[np.float64]) -> tuple[str, ...]:
    """The phrases to call ``case`` by; ``vectors (m, dim)`` are those of its phrases."""
    found = case.phrases
    if not found:
        return ()
    to_siblings = vectors @ case.siblings.T
    away = to_siblings[:, 0]
    weight = _AWAY[case.finest]
    score: Floats = (1 - weight) * (vectors @ case.centre) + weight * away
    score = score * np.where(score > 0, [_worth(phrase, case.finest) for phrase in found], 1)
    mine = away >= to_siblings.max(1) - 1e-6
    score = np.round(np.where(mine if mine.any() else True, score, score - 2), 6)
    chosen = [_best(score, found)]
    covered = vectors @ case.children.T
    while len(chosen) < min(_PARTS[case.finest], covered.shape[1]):
        now = np.maximum(covered[chosen].max(0), 0)
        gain = np.maximum(covered, now).mean(1) - now.mean()
        said = {word for i in chosen for word in found[i].words}
        fresh = np.array([not said.intersection(phrase.words) for phrase in found])
        good = fresh & (gain >= _GAIN[case.finest]) & (score > score[chosen[0]] / 3)
        if not good.any():
            break
        chosen.append(_best(np.round(np.where(good, gain + score / 2, -9), 6), found))
    return tuple(found[i].text for i in chosen)


def _worth(phrase: Phrase, finest: bool) -> float:
    worth = (1 + _OFTEN * np.log2(phrase.count)) * (_TITLE if phrase.in_title else 1)
    return float(worth * (_ALONE if finest and phrase.n_words <= phrase.shortest else 1))


def _best(score: Floats, found: Sequence[Phrase]) -> int:
    """The phrase that scores best; of the forms of one word the shortest that is nearly as good."""

    def rank(i: int) -> tuple[float, int, str]:
        return (-score[i], len(found[i].text), found[i].text)

    best = min(range(len(found)), key=rank)
    forms = [
        i
        for i in range(len(found))
        if score[i] >= _SHORTER * score[best] and same_stem(found[i].words, found[best].words)
    ]
    return min(forms, key=lambda i: (len(found[i].text), rank(i)), default=best)
