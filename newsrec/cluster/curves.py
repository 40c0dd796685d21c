"""The curves by which thresholds were chosen, as a figure and as rows."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from newsrec.cluster.tune import Curve
from newsrec.files import atomic_file

# Okabe and Ito's palette, told apart by colour-blind readers.
_F1, _PRECISION, _RECALL = "#0072B2", "#009E73", "#E69F00"


def chosen(curves: Sequence[Curve], names: Sequence[str]) -> list[dict[str, Any]]:
    """A row a level: ``{level, dim, threshold, precision, recall, f1, clusters, together, apart,
    flat}``.

    ``flat``: from which to which threshold F1 stays within 1 % of the best.
    """
    rows = []
    for curve, name in zip(curves, names, strict=True):
        at = int(np.argmin(np.abs(curve.threshold - curve.best.threshold)))
        near = curve.threshold[curve.f1 >= 0.99 * curve.f1.max()]
        rows.append({
            "level": name, "dim": curve.dim, "threshold": round(curve.best.threshold, 4),
            "precision": float(curve.precision[at]), "recall": float(curve.recall[at]),
            "f1": float(curve.f1[at]), "clusters": int(curve.clusters[at]),
            "together": curve.together, "apart": curve.apart,
            "flat": [round(float(near.min()), 4), round(float(near.max()), 4)],
        })  # fmt: skip
    return rows


def draw_curves(curves: Sequence[Curve], names: Sequence[str], path: Path) -> None:
    """Precision, recall and F1 by threshold, a panel a level, as PNG."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(4.2 * len(curves), 3.4), layout="constrained")
    panels = figure.subplots(1, len(curves), sharey=True, squeeze=False)[0]
    for panel, curve, name in zip(panels, curves, names, strict=True):
        for values, colour, what, width in (
            (curve.precision, _PRECISION, "precision", 1.2),
            (curve.recall, _RECALL, "recall", 1.2),
            (curve.f1, _F1, "F1", 2.2),
        ):
            panel.plot(curve.threshold, values, color=colour, label=what, linewidth=width)
        best = curve.best.threshold
        panel.axvline(best, color="#555555", linewidth=0.8, linestyle="--")
        panel.set_title(f"{name}: {best:.2f} at {curve.dim} dimensions", fontsize=10)
        panel.set_xlabel("cosine down to which clusters merge")
        panel.set_ylim(0, 1.02)
        panel.grid(alpha=0.25)
        panel.spines[["top", "right"]].set_visible(False)
    panels[0].set_ylabel("over judged pairs")
    panels[-1].legend(frameon=False, fontsize=9)
    FigureCanvasAgg(figure)
    with atomic_file(path) as file:
        figure.savefig(file, format="png", dpi=150)
