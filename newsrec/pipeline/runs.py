"""The runs of a training: a shelf, so many impressions, a seed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from newsrec.rank.fit_options import EpochReport


@dataclass(frozen=True, slots=True)
class Run:
    """One training: a shelf, so many impressions (None: all), a seed."""

    language: str
    shots: int | None
    seed: int

    @property
    def family(self) -> str:
        """What seeds share: ``eng-full``, ``eng-10-shots``."""
        return f"{self.language}-{'full' if self.shots is None else f'{self.shots}-shots'}"

    @property
    def name(self) -> str:
        """``eng-10-shots seed 42``."""
        return f"{self.family} seed {self.seed}"

    def folder(self, root: Path) -> Path:
        """Where its checkpoint and its ranker are."""
        return root / self.family / f"seed{self.seed}"


OnEpoch = Callable[[Run, EpochReport], None]
