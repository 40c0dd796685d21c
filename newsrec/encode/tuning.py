"""What of an encoder is trained, and how. Nothing heavy here: configs may read it."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from newsrec.errors import ConfigError, unknown_name

#: What of an encoder may be trained. ``last4``: its last four transformer layers (28 M of LaBSE's
#: 471 M); ``last4+embeddings``: everything but the layers below them, embeddings, pooler and what
#: comes after the transformer included (414 M: what the public code of paper 004 trained);
#: ``lora``: low-rank adapters of every linear map inside the transformer's layers.
POLICIES = ("none", "last4", "last4+embeddings", "all", "lora")
#: Arithmetic of the transformer while it is trained; its weights stay fp32.
PRECISIONS = ("fp32", "bf16")


@dataclass(frozen=True, slots=True)
class Tuning:
    """``policy``: one of `POLICIES`. ``rank``, ``alpha``, ``dropout`` of low-rank adapters (Hu et
    al. 2021). ``checkpointing`` keeps no activations inside a layer and computes them again: less
    memory, about a third more time, the same numbers."""

    policy: str = "last4"
    rank: int = 16
    alpha: float = 32
    dropout: float = 0.1
    precision: str = "fp32"
    checkpointing: bool = False

    def __post_init__(self) -> None:
        if self.policy not in POLICIES:
            raise unknown_name("trainable", self.policy, POLICIES)
        if self.precision not in PRECISIONS:
            raise unknown_name("precision of training", self.precision, PRECISIONS)
        if self.rank < 1:
            raise ConfigError(f"rank: {self.rank}, expected at least 1")
        if not 0 < self.alpha < float("inf"):
            raise ConfigError(f"alpha: {self.alpha}, expected a positive number")
        if not 0 <= self.dropout < 1:
            raise ConfigError(f"dropout: {self.dropout}, expected a share from 0 to below 1")

    @property
    def lasting(self) -> dict[str, Any]:
        """The fields that change a result; a run that goes on must have the same."""
        adapters = ("rank", "alpha", "dropout")
        return {
            key: value
            for key, value in asdict(self).items()
            if key != "checkpointing" and (self.policy == "lora" or key not in adapters)
        }
