"""Where runs are recorded: MLflow, or nothing. Loaded on first use.

Tracking never costs an evaluation or a training: the first failure is told once through ``warn``,
and nothing more is sent.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from newsrec.late import late

if TYPE_CHECKING:
    from newsrec.track.evaluation import MlflowTracker, NoTracker, tracking
    from newsrec.track.metrics import averages, metric_key
    from newsrec.track.model import save_pyfunc
    from newsrec.track.runs import EXPERIMENT, OFF, default_uri
    from newsrec.track.training import MlflowTrainTracker, NoTrainTracker, tracking_training

_PUBLIC = {
    "EXPERIMENT": "newsrec.track.runs",
    "OFF": "newsrec.track.runs",
    "MlflowTracker": "newsrec.track.evaluation",
    "MlflowTrainTracker": "newsrec.track.training",
    "NoTracker": "newsrec.track.evaluation",
    "NoTrainTracker": "newsrec.track.training",
    "averages": "newsrec.track.metrics",
    "default_uri": "newsrec.track.runs",
    "metric_key": "newsrec.track.metrics",
    "save_pyfunc": "newsrec.track.model",
    "tracking": "newsrec.track.evaluation",
    "tracking_training": "newsrec.track.training",
}
__all__ = [
    "EXPERIMENT", "OFF", "MlflowTracker", "MlflowTrainTracker", "NoTracker", "NoTrainTracker",
    "averages", "default_uri", "metric_key", "save_pyfunc", "tracking", "tracking_training",
]  # fmt: skip
__getattr__, __dir__ = late(__name__, _PUBLIC)
