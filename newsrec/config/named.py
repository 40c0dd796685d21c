"""Encoders, rankers, re-rankers and heads by name, with their options."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Literal

from pydantic import Field

from newsrec.config.strict import Scalar, Strict
from newsrec.spelling import NO_RERANKER


class EncoderConfig(Strict):
    """``name``: preset, model or folder; ``options`` go to `newsrec.encode.load_encoder`."""

    name: str
    options: dict[str, Scalar] = Field(default_factory=dict)

    @property
    def label(self) -> str:
        """Name and options as the command line takes them: ``nase:precision=int8``."""
        return _label(self.name, self.options)


class RankerConfig(Strict):
    """``name`` and ``options`` as in `newsrec.rank.table.RANKERS`, which checks them.

    ``cold``: what readers without readable history get from rankers that read text: the newest and
    most clicked, spread over categories (``cold-start``), or the ranker's own tie (``none``).
    ``called``: its name in tables; None stands for name and options.
    """

    name: str
    options: dict[str, Scalar | list[int] | dict[str, int | float]] = Field(default_factory=dict)
    cold: Literal["cold-start", "none"] = "cold-start"
    called: str | None = None

    @property
    def label(self) -> str:
        """Name and options as the command line takes them (``fusion:centre=none``), or what it is
        called."""
        if self.called is not None:
            return self.called
        changed = {**self.options, **({"cold": "none"} if self.cold == "none" else {})}
        return _label(self.name, changed)


class RerankerConfig(Strict):
    """``name`` and ``options`` as in `newsrec.rerank.table.RERANKERS`, which checks them; ``none``
    leaves the ranker's list as it is."""

    name: str = NO_RERANKER
    options: dict[str, Scalar | list[str] | dict[str, int | float]] = Field(default_factory=dict)

    @property
    def label(self) -> str:
        """Name and options as the command line takes them: ``mmr:relevance_weight=0.7``."""
        return _label(self.name, self.options)

    def with_diversity(self, diversity: float | None) -> RerankerConfig:
        """With a relevance weight of 1 - ``diversity`` where it says none of its own."""
        weighted = self.name == NO_RERANKER or "relevance_weight" in self.options
        if diversity is None or weighted:
            return self
        weight = {"relevance_weight": round(1 - diversity, 10)}
        return RerankerConfig(name=self.name, options={**self.options, **weight})


class HeadConfig(Strict):
    """``name`` and ``options`` as in `newsrec.rank.heads.table.HEADS`, which checks them."""

    name: str
    options: dict[str, Scalar | list[int]] = Field(default_factory=dict)

    @property
    def label(self) -> str:
        """Name and options as the command line takes them: ``naml:query=50``."""
        return _label(self.name, self.options)


def _label(name: str, options: Mapping[str, object]) -> str:
    return ":".join([name, *(f"{key}={_spelled(value)}" for key, value in options.items())])


def _spelled(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value)
