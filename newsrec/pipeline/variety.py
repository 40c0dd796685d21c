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
            from newsrec.rerank.table import make_reranker

            name, options = spelled(self.rerank)
            make_reranker(name, **options)
            if "relevance_weight" in options and self.diversity is not None:
                raise ConfigError(
                    f"--rerank {self.rerank} and --diversity both say how much; leave one out"
                )

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

    def reranker(self, k: int, languages: tuple[str, ...], tuned: float | None = None) -> Reranker:
        """For lists of ``k`` in ``languages``, the reader's, best first; ``tuned``: the diversity
        when none is named (None: the re-ranker's default)."""
        from newsrec.rerank.in_turn import InTurn
        from newsrec.rerank.quota import Quota
        from newsrec.rerank.table import RERANKERS, make_reranker

        steps: list[Reranker] = []
        if self.label is not None:
            name, options = spelled(self.label)
            diversity = tuned if self.diversity is None else self.diversity
            if diversity is not None:
                options = {"relevance_weight": round(1 - diversity, 10), **options}
            if "k" in RERANKERS[name].options:
                options = {"k": k, **options}
            steps.append(make_reranker(name, **options))
        if self.at_most:
            steps.append(Quota(at_most=dict(self.at_most), languages=languages))
        return InTurn(*steps)

    @property
    def every_version(self) -> bool:
        """Whether a story's limit is asked for, which chooses among its versions by itself."""
        return "story" in self.at_most


def spelled(words: str) -> tuple[str, dict[str, Any]]:
    """``xquad:aspect=topic:exploration=0.2`` as name and options."""
    name, *rest = words.strip().split(":")
    options: dict[str, Any] = {}
    for option in rest:
        key, equals, text = option.partition("=")
        if not equals:
            raise ConfigError(f"--rerank: option {option!r}, expected key=value")
        options[key] = _value(text)
    return name, options


def _value(text: str) -> Any:
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text
