"""Config to objects: the tables of `newsrec.encode` and `newsrec.rank`, and what they need."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from newsrec.config import EncoderConfig, RankerConfig
from newsrec.errors import unknown_name
from newsrec.protocols import Encoder, Ranker
from newsrec.rank.table import RANKERS, Given, Recipe, make_ranker

#: Rankers that are references for the others.
BASELINES = tuple(name for name, recipe in RANKERS.items() if not recipe.vectors)

# Options that follow from the scene, never from a config.
_OF_SCENE = ("view", "newest", "history_language", "shelf_language", "threads")


def check(config: RankerConfig) -> Recipe:
    """The ranker's row of the table; `ConfigError` for a name or an option that is not in it."""
    if config.name not in RANKERS:
        raise unknown_name("ranker", config.name, tuple(RANKERS))
    recipe = RANKERS[config.name]
    known = tuple(option for option in recipe.options if option not in _OF_SCENE)
    for option in config.options:
        if option not in known:
            raise unknown_name(f"option of ranker {config.name!r}:", option, known or ("(none)",))
    return recipe


def reads_text(recipe: Recipe) -> bool:
    """Whether the ranker needs articles with text: vectors or the texts themselves."""
    return recipe.vectors or "texts" in recipe.needs


def ranker(config: RankerConfig, given: Given, scene: Mapping[str, Any]) -> Ranker:
    """The ranker of ``config``; ``scene`` holds options that it takes if it has them.

    Readers without readable history get the cold start from rankers that read text.
    """
    from newsrec.rank.clicks import ClickLog
    from newsrec.rank.cold import ColdStart, WithFallback

    recipe = check(config)
    options = {key: value for key, value in scene.items() if key in recipe.options}
    made = make_ranker(config.name, given, **{**options, **config.options})
    if config.cold == "none" or not reads_text(recipe):
        return made
    clicks = ClickLog.of() if given.clicks is None else given.clicks
    return WithFallback(made, ColdStart(clicks, given.first_seen), view=None)


def encoder(config: EncoderConfig) -> Encoder:
    """The encoder of ``config``."""
    from newsrec.encode import load_encoder

    options: dict[str, Any] = dict(config.options)
    return load_encoder(config.name, **options)
