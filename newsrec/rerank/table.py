"""Every re-ranker by name: what it needs of the candidates, and how it is made."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from inspect import signature
from typing import Any

from newsrec.errors import ConfigError, unknown_name
from newsrec.protocols import Reranker
from newsrec.rerank.aspects import Pm2, XQuad
from newsrec.rerank.calibrate import Calibrated
from newsrec.rerank.dpp import Dpp
from newsrec.rerank.manner import Manner
from newsrec.rerank.mmr import Mmr
from newsrec.rerank.quota import Quota


@dataclass(frozen=True, slots=True)
class Recipe:
    """How a re-ranker is made.

    ``needs``: fields of `newsrec.types.Pool` beside the scores that must be there; ``make`` takes
    keyword options, ``relevance_weight`` from 0 to 1 among them. ``example``: how options that are
    more than a word are written.
    """

    about: str
    make: Callable[..., Reranker]
    needs: tuple[str, ...] = ()
    example: str = ""

    @property
    def options(self) -> tuple[str, ...]:
        """Names of the keyword options."""
        return tuple(signature(self.make).parameters)


RERANKERS: dict[str, Recipe] = {
    "quota": Recipe(
        "at most n per story or topic, a story in one language", Quota, ("aspects",),
        "quota:at_most={story: 2}",
    ),
    "mmr": Recipe("maximal marginal relevance", Mmr, ("vectors",)),
    "xquad": Recipe("covers what the list does not serve yet", XQuad, ("aspects",)),
    "pm2": Recipe("shares places out like seats", Pm2, ("aspects",)),
    "dpp": Recipe("determinantal point process, greedy", Dpp, ("vectors",)),
    "calibrated": Recipe("the history's mix of classes", Calibrated, ("aspects", "history")),
    "manner": Recipe(
        "signed weights of aspects", Manner, ("aspects", "history"), "manner:weights={theme: -0.3}"
    ),
}  # fmt: skip


#: The re-ranker where only a diversity is asked for: of those that cost about 2 % of nDCG@10 none
#: brings more distance or more themes (scripts/EXPERIMENTS.md, "what 2 % buys").
DEFAULT_RERANKER = "dpp"

#: 1 - relevance weight where nobody says one: the largest that costs at most 2 % of nDCG@10 on both
#: halves of six days of real clicks (lists of 38 candidates, fewer on the shelf; themes and
#: topics as aspects). In comments the cost on the later half, in points of 39.76, paired, 95 %.
DEFAULT_DIVERSITY: dict[str, float] = {
    "quota": 1.0,  # -0.83 [-1.35, -0.34]: 2.1 %, more than 2; but a quota that bends is none
    "mmr": 0.45,  # -0.53 [-1.04, -0.06]
    "xquad": 1.0,  # -0.72 [-1.68, +0.18]
    "pm2": 0.5,  # -0.54 [-1.39, +0.28]
    "dpp": 0.45,  # -0.53 [-1.07, +0.03]
    "calibrated": 0.5,  # -0.36 [-0.96, +0.25]
    "manner": 0.2,  # -0.67 [-1.20, -0.13]
}


def aspects_of(reranker: Reranker) -> tuple[str, ...]:
    """The aspects of the candidates that a re-ranker of this table reads."""
    for option in ("at_most", "weights"):
        if hasattr(reranker, option):
            return tuple(getattr(reranker, option))
    return (reranker.aspect,) if hasattr(reranker, "aspect") else ()


def reads_vectors(reranker: Reranker) -> bool:
    """Whether a re-ranker of this table needs the candidates' vectors."""
    return isinstance(reranker, Mmr | Dpp)


def make_reranker(name: str, **options: Any) -> Reranker:
    """The re-ranker ``name`` with its keyword ``options``; without a relevance weight that of
    `DEFAULT_DIVERSITY`.

    Raises `ConfigError` for an unknown name or option, and for a value outside its range.
    """
    if name not in RERANKERS:
        raise unknown_name("re-ranker", name, tuple(RERANKERS))
    recipe = RERANKERS[name]
    for option in options:
        if option not in recipe.options:
            unknown = unknown_name(f"option of re-ranker {name!r}", option, recipe.options)
            example = f" For example: '{recipe.example}'" if recipe.example else ""
            raise ConfigError(f"{unknown}{example}")
    if name in DEFAULT_DIVERSITY:
        options = {"relevance_weight": round(1 - DEFAULT_DIVERSITY[name], 10), **options}
    return recipe.make(**options)
