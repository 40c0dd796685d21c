"""A small search with real training: NAML on a corpus whose right answer is known."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from newsrec.config import TrainConfig
from newsrec.config.named import HeadConfig
from newsrec.config.space import load_space
from newsrec.pipeline.tune.params import Plan, plan
from newsrec.pipeline.tune.study import OnEpoch, Study
from newsrec.pipeline.tune.trials import Search
from newsrec.rank import EpochReport, FitOptions, Inputs, fit, make_head
from tests.contracts.test_rankers import auc
from tests.synthetic import known_answer

SPACE = "learning_rate=1e-4..3e-2 log, query=[4, 8], dropout=0..0.5, epochs=4"


def planned(space: str = SPACE, head: str = "naml") -> Plan:
    return plan(TrainConfig(head=HeadConfig(name=head)), load_space(space))


@dataclass
class Trains:
    """An `Objective`: AUC of the trained head, by the rule of the corpus. ``calls``: trial and
    epochs trained, of this process; ``before`` is told each epoch first."""

    plan: Plan
    before: Callable[[int, EpochReport], None] = lambda number, report: None
    calls: list[tuple[int, int]] = field(default_factory=list)

    def __call__(
        self, number: int, settings: Mapping[str, Any], folder: Path, on_epoch: OnEpoch
    ) -> float:
        config = self.plan.apply(settings)
        known = known_answer(np.random.default_rng(0), n_impressions=40)
        head = make_head("naml", Inputs.of(known.features), seed=1, **config.head.options)
        options = FitOptions(**{"batch": 16, "seed": 1, **config.options})

        def told(report: EpochReport) -> None:
            self.calls.append((number, report.epoch))
            self.before(number, report)
            on_epoch(report)

        ranker = fit(
            head, known.impressions, known.impressions, known.features, options,
            folder=folder, on_epoch=told,
        )  # fmt: skip
        return float(auc(known.impressions, ranker.score(known.impressions, known.features)).mean())


def study(folder: Path, wanted: Plan, seed: int = 7, **told: Any) -> Study:
    return Study.open(
        folder, wanted.params, "auc", maximise=True, seed=seed, told={"seed": seed, **told}
    )


def searched(folder: Path, trials: int = 5, space: str = SPACE, **more: Any) -> Search:
    wanted = planned(space)
    found = study(folder, wanted)
    found.run(Trains(wanted), trials=trials, **more)
    return found.search()


def plain(found: Search) -> list[tuple[Any, ...]]:
    """All of a search but its times."""
    return [(t.number, t.state, t.value if t.state == "done" else None, dict(t.settings), t.losses)
            for t in found.trials]  # fmt: skip
