"""Frozen, strict models: what every part of a config is."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict

from newsrec.plain import digest

Scalar = str | int | float | bool | None


class Strict(BaseModel):
    """Frozen; unknown keys and values of another type are errors."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    @property
    def hash(self) -> str:
        """16 hex digits over every field."""
        return digest(self.model_dump(mode="json"))
