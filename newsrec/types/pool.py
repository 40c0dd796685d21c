"""What a re-ranker sees: one reader's scored candidates."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from newsrec.errors import DataError

Classes = NDArray[np.integer]


@dataclass(frozen=True, slots=True, eq=False)
class Pool:
    """``n`` candidates of one reader and what is known of them; only ``scores`` must be there.

    ``scores (n,)`` float, finite, higher is better; ``vectors (n, dim)`` float of the articles as
    the reader would see them. ``aspects``: name (``category``, ``theme``, ``topic``, ``story``, …)
    to the class of each candidate ``(n,) int``, -1 unknown; ``history``: the same names to the
    classes of the articles that the reader clicked, ``(h,) int``, numbered alike. ``affinity``:
    name to how near a candidate is to the history in that aspect, ``(n,)`` float (MANNeR's
    A-modules). ``language (n,) int`` indexes ``languages`` (ISO 639-3) on a mixed shelf, or None.
    """

    scores: NDArray[np.floating]
    vectors: NDArray[np.floating] | None = None
    aspects: Mapping[str, Classes] = field(default_factory=dict)
    history: Mapping[str, Classes] = field(default_factory=dict)
    affinity: Mapping[str, NDArray[np.floating]] = field(default_factory=dict)
    language: Classes | None = None
    languages: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        _check("scores", self.scores, (None,), "f")
        n = len(self.scores)
        _finite("scores", self.scores)
        if self.vectors is not None:
            _check("vectors", self.vectors, (n, None), "f")
        for name, classes in self.aspects.items():
            _check(f"aspects[{name!r}]", classes, (n,), "iu")
        for name, classes in self.history.items():
            _check(f"history[{name!r}]", classes, (None,), "iu")
        for name, values in self.affinity.items():
            _check(f"affinity[{name!r}]", values, (n,), "f")
            _finite(f"affinity[{name!r}]", values)
        if self.language is not None:
            _check("language", self.language, (n,), "iu")
            last = len(self.languages) - 1
            if n and not (self.language.min() >= 0 and self.language.max() <= last):
                raise DataError(f"Pool.language: code outside 0 … {last} (its `languages`)")

    def __len__(self) -> int:
        return len(self.scores)

    def classes(self, aspect: str) -> NDArray[np.int64]:
        """Class of each candidate ``(n,)``, -1 unknown; `DataError` names the aspects there are."""
        if aspect not in self.aspects:
            known = ", ".join(sorted(self.aspects)) or "none"
            raise DataError(f"the candidates have no aspect {aspect!r}; they have: {known}")
        return np.asarray(self.aspects[aspect], np.int64)

    def read(self, aspect: str) -> NDArray[np.int64]:
        """Classes of the clicked articles that are known, ``(h,)``; none without history."""
        classes = np.asarray(self.history.get(aspect, ()), np.int64)
        return classes[classes >= 0]


def _check(name: str, array: Any, shape: tuple[int | None, ...], kinds: str) -> None:
    """`DataError` unless an array of that shape (None: any length) and kind of number."""
    wanted = "(" + ", ".join("any" if size is None else str(size) for size in shape) + ")"
    kind = "int" if "i" in kinds else "float"
    if not isinstance(array, np.ndarray) or array.dtype.kind not in kinds:
        found = array.dtype if isinstance(array, np.ndarray) else type(array).__name__
        raise DataError(f"Pool.{name}: {found}, expected an array of {kind}, shape {wanted}")
    fits = array.ndim == len(shape) and all(
        size is None or size == found for size, found in zip(shape, array.shape, strict=True)
    )
    if not fits:
        raise DataError(f"Pool.{name}: shape {array.shape}, expected {wanted}")


def _finite(name: str, values: NDArray[np.floating]) -> None:
    bad = np.flatnonzero(~np.isfinite(values))
    if len(bad):
        raise DataError(
            f"Pool.{name}: {values[bad[0]]} for candidate {bad[0]} "
            f"({len(bad)} of {len(values)}), expected finite numbers"
        )
