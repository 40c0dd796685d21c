"""How a head is trained. Nothing heavy here: configs may read it."""

from __future__ import annotations

from dataclasses import asdict, dataclass, fields
from math import cos, pi
from typing import Any

from newsrec.errors import ConfigError, DataError, unknown_name

LOSSES = ("ce", "scl")
SCHEDULES = ("constant", "linear", "cosine")
#: Temperature of each loss where none is given (paper 004: SCL 0.38).
TEMPERATURES = {"ce": 1.0, "scl": 0.38}


class Diverged(DataError):
    """A loss that is no number."""


@dataclass(frozen=True, slots=True)
class FitOptions:
    """``loss``, ``temperature``: None for the head's own. ``negatives`` a click.

    ``history_limit`` clicks are read, the newest or (``newest=False``) the oldest. An optimiser
    step sees ``batch`` rows, ``micro_batch`` of them at a time. ``schedule`` takes the learning
    rate to 0 after ``warmup`` (a share of all steps); ``clip``: longest gradient. Training ends
    after ``epochs``, or when the validation loss has not fallen for ``patience`` epochs.
    ``checkpoint_steps``: steps between checkpoints inside an epoch, 0 for only after each.
    """

    loss: str | None = None
    temperature: float | None = None
    negatives: int = 4
    history_limit: int = 50
    newest: bool = True
    batch: int = 256
    micro_batch: int = 128
    epochs: int = 10
    learning_rate: float = 1e-3
    schedule: str = "linear"
    warmup: float = 0.05
    clip: float | None = 5.0
    patience: int = 3
    seed: int = 42
    checkpoint_steps: int = 0
    device: str = "cpu"

    def __post_init__(self) -> None:
        if self.loss is not None and self.loss not in LOSSES:
            raise unknown_name("loss", self.loss, LOSSES)
        if self.schedule not in SCHEDULES:
            raise unknown_name("schedule", self.schedule, SCHEDULES)
        for name in ("negatives", "history_limit", "batch", "micro_batch", "epochs", "patience"):
            if getattr(self, name) < 1:
                raise ConfigError(f"{name}: {getattr(self, name)}, expected at least 1")
        for name in ("temperature", "learning_rate", "clip"):
            found = getattr(self, name)
            if found is not None and not 0 < found < float("inf"):
                raise ConfigError(f"{name}: {found}, expected a positive number")
        if not 0 <= self.warmup <= 1:
            raise ConfigError(f"warmup: {self.warmup}, expected a share from 0 to 1")
        if self.checkpoint_steps < 0:
            raise ConfigError(f"checkpoint_steps: {self.checkpoint_steps}, expected 0 or more")

    @classmethod
    def paper_004(cls, **changed: Any) -> FitOptions:
        """As "News Without Borders" trained: Adam at 1e-5, batches of 8, 10 epochs, patience 3,
        the oldest 50 clicks."""
        given = {"batch": 8, "micro_batch": 8, "learning_rate": 1e-5, "schedule": "constant",
                 "warmup": 0.0, "clip": None, "newest": False}  # fmt: skip
        return cls(**{**given, **changed})

    def rate(self, step: int, n_steps: int) -> float:
        """Learning rate of ``step``, from 0, of ``n_steps``."""
        warm = max(1, round(self.warmup * n_steps))
        if self.warmup and step < warm:
            return self.learning_rate * (step + 1) / warm
        left = 1 - (step - warm) / max(1, n_steps - warm) if self.warmup else 1 - step / n_steps
        share = {"constant": 1.0, "linear": left, "cosine": (1 - cos(pi * left)) / 2}
        return self.learning_rate * share[self.schedule]

    def to_dict(self) -> dict[str, Any]:
        """Plain fields, ready for JSON."""
        return asdict(self)

    @property
    def lasting(self) -> dict[str, Any]:
        """The fields that change a result; a run that goes on must have the same."""
        return {
            f.name: getattr(self, f.name)
            for f in fields(self)
            if f.name not in ("checkpoint_steps", "device")
        }


@dataclass(frozen=True, slots=True)
class EpochReport:
    """One epoch, counted from 1: mean losses of training and validation rows (None without any),
    seconds, rows trained on in a second, and whether it is the best so far."""

    epoch: int
    train_loss: float
    valid_loss: float | None
    seconds: float
    rows_per_s: float
    best: bool
