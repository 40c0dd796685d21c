"""Frozen, strict models: what every part of a config is."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict

Scalar = str | int | float | bool | None


class Strict(BaseModel):
    """Frozen; unknown keys and values of another type are errors."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)
