"""What a search has tried."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

DONE, PRUNED, FAILED, RUNNING = "done", "pruned", "failed", "unfinished"
#: What a trial is measured by when it is not a metric of lists.
LOSS = "loss"


@dataclass(frozen=True, slots=True)
class Trial:
    """One set of values, trained once.

    ``number`` from 0; ``state``: ``done``, ``pruned`` (stopped early, because others were further
    or its loss was no number), ``failed``, ``unfinished``; ``value``: what was measured, NaN unless
    done; ``losses``: validation loss after each epoch; ``seconds`` of training; ``note``: why it
    failed.
    """

    number: int
    state: str
    value: float
    settings: Mapping[str, Any]
    losses: tuple[float, ...] = ()
    seconds: float = 0.0
    note: str = ""


@dataclass(frozen=True, slots=True)
class Search:
    """All trials of a search for the best ``metric``, by number, and what each value mattered.

    ``importance``: shares of 1 by name (PED-ANOVA, Watanabe et al. 2023), empty with too few
    trials; ``notes``: what a reader of the figures should know.
    """

    metric: str
    maximise: bool
    trials: tuple[Trial, ...]
    importance: Mapping[str, float] = field(default_factory=dict)
    notes: tuple[str, ...] = ()

    @property
    def ranked(self) -> tuple[Trial, ...]:
        """Trials that are done, best first; the earlier one of equals."""
        done = [trial for trial in self.trials if trial.state == DONE]
        sign = -1 if self.maximise else 1
        return tuple(sorted(done, key=lambda trial: (sign * trial.value, trial.number)))

    @property
    def best(self) -> Trial | None:
        """None when no trial is done."""
        return next(iter(self.ranked), None)

    def best_so_far(self) -> list[float]:
        """After each trial, the best value yet; NaN before the first that is done."""
        values = np.array([trial.value for trial in self.trials], np.float64)
        better = np.fmax if self.maximise else np.fmin
        return [float(x) for x in better.accumulate(values)] if len(values) else []

    def count(self, state: str) -> int:
        """How many trials are in a state."""
        return sum(trial.state == state for trial in self.trials)
