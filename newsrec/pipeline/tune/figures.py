"""A search as a picture: what each trial gave, and what mattered."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from newsrec.evaluate.figures import COLOURS, panels, save
from newsrec.pipeline.tune.trials import DONE, LOSS, PRUNED, Search

_GREY = "#777777"


def draw_search(found: Search, path: Path) -> None:
    """A PNG: values by trial with the best so far, learning curves, and shares of importance
    where they are known."""
    wide = bool(found.importance)
    figure, axes = panels(10.5 if wide else 7.6, 3.6, columns=3 if wide else 2)
    _history(found, axes[0])
    _curves(found, axes[1])
    if wide:
        _importance(found, axes[2])
    for each in axes:
        each.spines[["top", "right"]].set_visible(False)
        each.tick_params(labelsize=8)
    save(figure, path)


def _history(found: Search, axes: Any) -> None:
    scale = 1.0 if found.metric == LOSS else 100.0
    numbers = np.array([trial.number for trial in found.trials])
    values = scale * np.array([trial.value for trial in found.trials])
    axes.scatter(numbers, values, s=18, color=COLOURS[0], label="trial", zorder=3)
    axes.step(numbers, scale * np.array(found.best_so_far()), where="post", color=COLOURS[5],
              linewidth=1.2, label="best so far")  # fmt: skip
    pruned = [trial.number for trial in found.trials if trial.state == PRUNED]
    if pruned:
        # At the foot of the panel: what was stopped has no value.
        axes.scatter(pruned, np.full(len(pruned), 0.02), s=16, marker="|", color=_GREY,
                     transform=axes.get_xaxis_transform(), label="pruned")  # fmt: skip
    axes.set_xlabel("trial", fontsize=9)
    axes.set_ylabel(found.metric if found.metric == LOSS else f"{found.metric} (%)", fontsize=9)
    axes.xaxis.get_major_locator().set_params(integer=True)
    axes.legend(frameon=False, fontsize=8, loc="lower center", bbox_to_anchor=(0.5, 1), ncols=3,
                columnspacing=1, handletextpad=0.4)  # fmt: skip


def _curves(found: Search, axes: Any) -> None:
    best = found.best
    for trial in found.trials:
        epochs = np.arange(1, len(trial.losses) + 1)
        if best is not None and trial.number == best.number:
            axes.plot(epochs, trial.losses, color=COLOURS[5], linewidth=1.8, marker="o",
                      markersize=3, zorder=3, label=f"trial {best.number} (best)")  # fmt: skip
        elif trial.losses:
            done = trial.state == DONE
            axes.plot(epochs, trial.losses, color=COLOURS[0] if done else _GREY, linewidth=0.8,
                      alpha=0.6, marker="o", markersize=2)  # fmt: skip
    every = np.array([loss for trial in found.trials for loss in trial.losses])
    if len(every):
        # One trial that ran away would press all others flat: its curve leaves at the top.
        low, middle, high = every.min(), np.median(every), every.max()
        top = min(high, middle + 4 * (middle - low))
        margin = 0.05 * max(top - low, 1e-6)
        axes.set_ylim(low - margin, top + margin)
    axes.set_xlabel("epoch", fontsize=9)
    axes.set_ylabel("validation loss", fontsize=9)
    axes.xaxis.get_major_locator().set_params(integer=True)
    if best is not None and best.losses:
        axes.legend(frameon=False, fontsize=8, loc="lower center", bbox_to_anchor=(0.5, 1))


def _importance(found: Search, axes: Any) -> None:
    names = list(found.importance)[::-1]
    shares = [100 * found.importance[name] for name in names]
    axes.barh(names, shares, color=COLOURS[2], height=0.6)
    axes.set_xlabel("share of what mattered (%)", fontsize=9)
    axes.set_xlim(0, 100)
