"""The classes of a pool, numbered without gaps, and how a reader's history is spread over them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from newsrec.rerank.greedy import Floats, Ints
from newsrec.types import Pool


@dataclass(frozen=True, slots=True, eq=False)
class Mix:
    """``m`` classes that occur in the pool or in the history.

    ``of (n,)``: class of each candidate, -1 unknown; ``history (m,)``: share of each class among
    the clicks of known class, all 0 where there are none; ``offered (m,) bool``: which classes the
    pool has.
    """

    of: Ints
    history: Floats
    offered: NDArray[np.bool_]

    @classmethod
    def in_pool(cls, pool: Pool, aspect: str) -> Mix:
        """Raises `DataError` where the candidates have no such aspect."""
        classes, read = pool.classes(aspect), pool.read(aspect)
        known = classes >= 0
        names, codes = np.unique(np.concatenate([classes[known], read]), return_inverse=True)
        codes = codes.reshape(-1)
        n_offered = int(np.count_nonzero(known))
        of = np.full(len(classes), -1, np.int64)
        of[known] = codes[:n_offered]
        counts = np.bincount(codes[n_offered:], minlength=len(names)).astype(np.float64)
        offered = np.bincount(codes[:n_offered], minlength=len(names)) > 0
        return cls(of, counts / max(len(read), 1), offered)

    def at(self, values: Floats, otherwise: float = 0.0) -> Floats:
        """``values (m,)`` of each candidate's class, ``(n,)``; ``otherwise`` where unknown."""
        return np.append(values, otherwise)[self.of]

    def room(self, lists: int, values: NDArray[np.generic] | float = 0.0) -> Floats:
        """``(lists, m + 1)``: ``values (m,)`` of every class, and a last column of zeros for
        unknown ones, so that ``room[:, mix.of]`` is ``(lists, n)``."""
        found = np.zeros((lists, len(self.history) + 1))
        found[:, :-1] = values
        return found

    def wanted(self, exploration: float) -> Floats:
        """Weight of each class ``(m,)``, sum 1: the history's share, and a part ``exploration`` of
        the weight spread evenly over the classes that the pool has (all of it without history)."""
        even = self.offered / max(int(self.offered.sum()), 1)
        if not self.history.any():
            return np.asarray(even)
        return np.asarray((1 - exploration) * self.history + exploration * even)
