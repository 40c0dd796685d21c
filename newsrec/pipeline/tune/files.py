"""The files of a search: written again after every trial, so that they survive a death."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import yaml

from newsrec.config import TrainConfig
from newsrec.config.space import Space
from newsrec.evaluate.render import markdown
from newsrec.files import data_root, write_text
from newsrec.pipeline.tune.figures import draw_search
from newsrec.pipeline.tune.params import Plan
from newsrec.pipeline.tune.tables import best_trials, measured, trials_csv
from newsrec.pipeline.tune.trials import Search
from newsrec.plain import digest

BEST, SPACE, TABLE, TRIALS, FIGURE = (
    "best.yaml", "space.yaml", "report.md", "trials.csv", "search.png"
)  # fmt: skip
#: What a search leaves in a folder.
OURS = frozenset((BEST, SPACE, TABLE, TRIALS, FIGURE, "study.db", "study.db-journal", "trials"))


def write_space(space: Space, folder: Path) -> None:
    """``space.yaml``, which ``--space`` reads back."""
    write_text(folder / SPACE, space.to_yaml())


def write_search(found: Search, plan: Plan, wanted: TrainConfig, folder: Path) -> None:
    """``trials.csv``, ``report.md`` and, when a trial is done, ``best.yaml``: ``wanted`` with the
    best trial's values, as ``newsrec train --config`` takes it."""
    write_text(folder / TRIALS, trials_csv(found))
    write_text(folder / TABLE, markdown(best_trials(found)))
    best = found.best
    if best is None:
        return
    chosen = plan.apply(best.settings)
    plain = wanted.model_dump(mode="json") | {
        key: value
        for key, value in chosen.model_dump(mode="json").items()
        if key in ("head", "encoder", "options", "trainable")
    }
    said = (
        f"# Trial {best.number} of {len(found.trials)}: {found.metric} "
        f"{measured(best.value, found.metric)} on validation.\n"
    )
    write_text(folder / BEST, said + _yaml(plain))


def write_figure(found: Search, folder: Path) -> None:
    """``search.png``, when a trial is done."""
    if found.best is not None:
        draw_search(found, folder / FIGURE)


def _yaml(plain: dict[str, Any]) -> str:
    return yaml.safe_dump(plain, sort_keys=False, allow_unicode=True, default_flow_style=None)


def new_folder(config: TrainConfig, space: Space, metric: str, seed: int) -> Path:
    """``data/tuned/naml-1a2b3c``: the same for the same search, which so goes on."""
    told = [config.model_dump(mode="json"), space.to_dict(), metric, seed]
    return data_root() / "tuned" / f"{config.head.name}-{digest(told)[:6]}"
