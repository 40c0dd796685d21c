"""A search as tables."""

from __future__ import annotations

import csv
import io
from typing import Any

import numpy as np

from newsrec.evaluate.render import Grid, number
from newsrec.pipeline.tune.trials import DONE, FAILED, LOSS, PRUNED, RUNNING, Search, Trial


def best_trials(found: Search, most: int = 10) -> Grid:
    """The best trials, a row each, and how many there were in all."""
    names = _names(found)
    rows = [
        (
            str(trial.number),
            measured(trial.value, found.metric),
            _loss(trial),
            str(len(trial.losses)) if trial.losses else "–",
            *(shown(trial.settings.get(name)) for name in names),
        )
        for trial in found.ranked[:most]
    ]
    counts = (f"{found.count(state)} {state}" for state in (DONE, PRUNED, FAILED, RUNNING)
              if found.count(state))  # fmt: skip
    notes = [f"{len(found.trials)} trials{': ' * bool(found.trials)}{', '.join(counts)}."]
    if found.importance:
        shares = (f"{name} {100 * x:.0f} %" for name, x in found.importance.items())
        notes.append(f"What mattered (PED-ANOVA): {', '.join(shares)}.")
    failed = next((trial for trial in found.trials if trial.state == FAILED), None)
    if failed is not None:
        notes.append(f"Trial {failed.number} failed: {failed.note}")
    title = f"Best trials by {found.metric} on validation"
    columns = ("trial", found.metric, "valid loss", "epochs", *names)
    return Grid(title, columns, tuple(rows), (*notes, *found.notes))


def trials_csv(found: Search) -> str:
    """Every trial, a line each; values as they are."""
    out, names = io.StringIO(), _names(found)
    table = csv.writer(out, lineterminator="\n")
    table.writerow(
        ["trial", "state", found.metric, "best_valid_loss", "epochs", "seconds", *names, "note"]
    )
    for trial in found.trials:
        value = "" if np.isnan(trial.value) else repr(trial.value)
        loss = repr(min(trial.losses)) if trial.losses else ""
        table.writerow(
            [trial.number, trial.state, value, loss, len(trial.losses), f"{trial.seconds:.3f}",
             *(shown(trial.settings.get(name), exact=True) for name in names), trial.note]
        )  # fmt: skip
    return out.getvalue()


def measured(value: float, metric: str) -> str:
    """A metric as tables have it; a loss with four digits."""
    if metric != LOSS:
        return number(value, metric)
    return "–" if np.isnan(value) else f"{value:.4f}"


def shown(value: Any, exact: bool = False) -> str:
    """A setting: numbers with four digits, or ``exact``."""
    if isinstance(value, float):
        return repr(value) if exact else f"{value:.4g}"
    if isinstance(value, tuple):
        return "×".join(map(str, value))
    return "none" if value is None else str(value)


def _loss(trial: Trial) -> str:
    return f"{min(trial.losses):.4f}" if trial.losses else "–"


def _names(found: Search) -> tuple[str, ...]:
    return tuple(dict.fromkeys(name for trial in found.trials for name in trial.settings))
