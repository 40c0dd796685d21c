"""How varied a reader's list is to be: a re-ranker, how much of it, and what comes how often."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from newsrec.errors import ConfigError
from newsrec.protocols import Reranker


@dataclass(frozen=True, slots=True)
class Variety:
    """``rerank``: a re-ranker with options, ``xquad:aspect=topic`` (None: `DEFAULT_RERANKER`,
    if ``diversity`` is given); ``diversity`` from 0 to 1 (None: what was tuned for it);
    ``at_most``: articles of one story, topic or theme; ``clusters``: file of the clusters (None:
    those that belong to corpus and encoder).

    `ConfigError` names what is wrong by its option on the command line.
    """

    rerank: str | None = None
    diversity: float | None = None
    at_most: Mapping[str, int] = field(default_factory=dict)
    clusters: Path | None = None

    def __post_init__(self) -> None:
        if self.diversity is not None and not 0 <= self.diversity <= 1:
            raise ConfigError(
                f"--diversity: {self.diversity}, expected a number from 0 (by relevance) to 1"
            )
        for aspect, n in self.at_most.items():
            if n < 1:
                raise ConfigError(f"--max-per-{aspect}: {n}, expected at least 1")
        if self.rerank is not None:
            self._checked()

    @property
    def asked(self) -> bool:
        """Whether anything is to be changed in the order of scores."""
        return bool(self.rerank or self.diversity is not None or self.at_most)

    @property
    def label(self) -> str | None:
        """The re-ranker and its options; None when there are only limits."""
        if self.rerank is None and self.diversity is not None:
            from newsrec.rerank.table import DEFAULT_RERANKER

            return DEFAULT_RERANKER
        return self.rerank

    def reranker(self, k: int, tuned: float | None = None) -> Reranker | None:
        """For lists of ``k``; None when there are only limits. ``tuned``: the diversity when none
        is named (None: the re-ranker's default)."""
        from newsrec.rerank.table import RERANKERS, make_reranker

        if self.label is None:
            return None
        name, options = self._checked() if self.rerank is not None else (self.label, {})
        if name not in RERANKERS:  # none
            return None
        diversity = tuned if self.diversity is None else self.diversity
        if diversity is not None:
            options = {"relevance_weight": round(1 - diversity, 10), **options}
        if "k" in RERANKERS[name].options:
            options = {"k": k, **options}
        return make_reranker(name, **options)

    @property
    def every_version(self) -> bool:
        """Whether a story's limit is asked for, which chooses among its versions by itself."""
        return "story" in self.at_most

    def _checked(self) -> tuple[str, dict[str, Any]]:
        """Name and options of ``rerank``, as `newsrec evaluate` takes them."""
        from newsrec import build
        from newsrec.config import parse_config

        config = parse_config({"rerankers": [self.rerank]}, "--rerank").rerankers[0]
        build.check_reranker(config)
        if "relevance_weight" in config.options and self.diversity is not None:
            raise ConfigError(
                f"--rerank {self.rerank} and --diversity both say how much; leave one out"
            )
        return config.name, dict(config.options)
