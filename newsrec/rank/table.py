"""Every ranker by name: what it needs, and how it is made."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from inspect import signature
from typing import Any

from newsrec.errors import ConfigError, unknown_name
from newsrec.protocols import Ranker
from newsrec.rank.baselines import CategoryProfile, Popularity, Random, Recency
from newsrec.rank.clicks import ClickLog, Times
from newsrec.rank.fusion import LateFusion
from newsrec.rank.stored import StoredScores
from newsrec.rank.tfidf import TfIdf
from newsrec.types import Impressions, Texts


@dataclass(frozen=True, slots=True, eq=False)
class Given:
    """What rankers are made from; what is not needed may be missing.

    ``clicks``: the training split's; ``first_seen (n_news,)``: when articles were first shown;
    ``texts``, ``history_texts``: the shelf's and the history's (None: the shelf's); ``listed``: the
    whole split as the corpus has it.
    """

    seed: int = 0
    clicks: ClickLog | None = None
    first_seen: Times | None = None
    texts: Texts | None = None
    history_texts: Texts | None = None
    listed: Impressions | None = None


@dataclass(frozen=True, slots=True)
class Recipe:
    """How a ranker is made.

    ``needs`` names fields of `Given` that must be there; ``vectors``: whether features must carry
    an encoder's vectors, of ``views`` where it has its own; ``stored``: it comes from a file;
    ``make`` takes what ``given`` picks, by position, then the options.
    """

    about: str
    make: Callable[..., Ranker]
    given: tuple[str, ...] = ()
    needs: tuple[str, ...] = ()
    vectors: bool = False
    views: tuple[str, ...] = ()
    stored: bool = False

    @property
    def options(self) -> tuple[str, ...]:
        """Names of the keyword options."""
        return tuple(signature(self.make).parameters)[len(self.given) :]


RANKERS: dict[str, Recipe] = {
    "fusion": Recipe("late fusion of an encoder's vectors", LateFusion, vectors=True),
    "tfidf": Recipe(
        "TF-IDF of character n-grams", TfIdf.fit, ("texts", "history_texts"), ("texts",)
    ),
    "category-profile": Recipe("share of the category in the history", CategoryProfile),
    "popularity": Recipe(
        "clicks in the training split before the impression", Popularity, ("clicks",), ("clicks",)
    ),
    "recency": Recipe("newest first", Recency, ("first_seen",)),
    "random": Recipe("uniform at random, seeded", Random, ("seed",)),
    "scores": Recipe(
        "scores from a file, made elsewhere",
        StoredScores.open,
        ("seed", "listed"),
        ("listed",),
        stored=True,
    ),
}


def make_ranker(name: str, given: Given, **options: Any) -> Ranker:
    """The ranker ``name`` with its keyword ``options``.

    Raises `ConfigError` for an unknown name or option, or when ``given`` lacks what it needs.
    """
    if name not in RANKERS:
        raise unknown_name("ranker", name, tuple(RANKERS))
    recipe = RANKERS[name]
    for need in recipe.needs:
        if getattr(given, need) is None:
            raise ConfigError(f"ranker {name!r} needs {need}, and there are none here")
    for option in options:
        if option not in recipe.options:
            raise unknown_name(f"option of ranker {name!r}", option, recipe.options)
    return recipe.make(*(getattr(given, field) for field in recipe.given), **options)
