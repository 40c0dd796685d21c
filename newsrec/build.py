"""Config to objects: the tables of the encoders, rankers, re-rankers and summarizers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from pathlib import Path
from types import UnionType
from typing import TYPE_CHECKING, Any, Union, get_args, get_origin, get_type_hints

from newsrec.config import EncoderConfig, HeadConfig, RankerConfig, RerankerConfig, TrainConfig
from newsrec.encode.tuning import Tuning
from newsrec.errors import ConfigError, HeadError, unknown_name
from newsrec.protocols import Encoder, Ranker, Reranker, Summarizer
from newsrec.rank import trained
from newsrec.rank.clicks import ClickLog
from newsrec.rank.fit_options import FitOptions
from newsrec.rank.table import RANKERS, Given, Recipe, make_ranker
from newsrec.rank.trained import Trained
from newsrec.rerank.table import RERANKERS, make_reranker
from newsrec.spelling import NO_RERANKER, is_path
from newsrec.types import Strings, Texts

if TYPE_CHECKING:
    from newsrec.cluster.extract import Embed
    from newsrec.rank.heads.head import NewsHead
    from newsrec.rank.heads.table import HeadRecipe
    from newsrec.rank.inputs import Inputs

#: Rankers that are references for the others.
BASELINES = tuple(name for name, recipe in RANKERS.items() if not recipe.vectors)

# Options that follow from the scene, never from a config.
_OF_SCENE = ("view", "newest", "history_language", "shelf_language", "threads")

# Training options of an encoder that is trained along.
_ADAPTERS = tuple(f.name for f in fields(Tuning) if f.name != "policy")


def check(config: RankerConfig) -> Recipe:
    """The ranker's row of the table; `ConfigError` for a name or an option that is not in it, and
    for a value that the option does not take: the ranker is made once, from nothing (one that
    comes from a file is not)."""
    recipe = row(config)
    if recipe.stored:
        return recipe
    nothing = Strings.pack([])
    texts = Texts("eng", nothing, nothing, nothing.data.lengths > 0)
    _made(config, Given(clicks=ClickLog.of(), texts=texts), {})
    return recipe


def row(config: RankerConfig) -> Recipe:
    """The row of the table, or the folder's, when name, options and their types are right."""
    if config.name in RANKERS:
        recipe = RANKERS[config.name]
    elif is_path(config.name):
        recipe = trained.recipe(_folder(config), _load_trained)
    else:
        raise unknown_name("ranker", config.name, (*RANKERS, "FOLDER of a trained one"))
    known = tuple(option for option in recipe.options if option not in _OF_SCENE)
    for option in config.options:
        if option not in known:
            raise unknown_name(f"option of ranker {config.name!r}:", option, known or ("(none)",))
    types = get_type_hints(recipe.make)
    for option, value in config.options.items():
        _check_type(f"ranker {config.name!r}", option, value, types.get(option, Any))
    return recipe


def trained_ranker(config: RankerConfig) -> Trained | None:
    """What is in the folder of a trained ranker; None for a ranker of the table."""
    return None if config.name in RANKERS else trained.trained(_folder(config))


def _folder(config: RankerConfig) -> Path:
    return Path(config.name).expanduser()


def head_recipe(config: HeadConfig) -> HeadRecipe:
    """The head's row of the table; `ConfigError` for a name or an option that is not in it, and for
    a value that the option does not take."""
    from newsrec.rank.heads.table import HEADS

    if config.name not in HEADS:
        raise HeadError(str(unknown_name("head", config.name, tuple(HEADS))))
    recipe = HEADS[config.name]
    types = get_type_hints(recipe.make)
    for option, value in config.options.items():
        if option not in recipe.options:
            known = recipe.options or ("(none)",)
            raise unknown_name(f"option of head {config.name!r}:", option, known)
        _check_type(f"head {config.name!r}", option, value, types.get(option, Any))
    return recipe


def head(config: HeadConfig, inputs: Inputs, seed: int) -> NewsHead:
    """The head of ``config`` with random weights from ``seed``."""
    from newsrec.rank.heads.table import make_head

    head_recipe(config)
    options = {k: tuple(v) if isinstance(v, list) else v for k, v in config.options.items()}
    return make_head(config.name, inputs, seed, **options)


def fit_options(config: TrainConfig, seed: int, *, few: bool) -> FitOptions:
    """How ``config`` trains. Unless it says otherwise, a ``few`` impressions make batches of 8, and
    an encoder that is trained along too, at a rate of 1e-5, as in paper 004.

    `ConfigError` for an unknown option or a value that is none.
    """
    types = get_type_hints(FitOptions)
    known = tuple(f.name for f in fields(FitOptions) if f.name not in ("seed", "newest"))
    every = (*known, *_ADAPTERS) if config.trainable != "none" else known
    for option, value in config.options.items():
        if option not in every:
            raise unknown_name("training option", option, every)
        if option in known:
            _check_type("training", option, value, types[option])
    paper: dict[str, Any] = {"batch": 8} if few else {}
    if config.trainable != "none":
        paper |= {"batch": 8, "micro_batch": 8, "learning_rate": 1e-5}
    chosen = {k: v for k, v in config.options.items() if k in known}
    newest = config.protocol != "newsreclib"
    return FitOptions(**{**paper, **chosen}, seed=seed, newest=newest)


def tuning(config: TrainConfig) -> Tuning:
    """What of the encoder ``config`` trains, and how; `ConfigError` as `fit_options`."""
    types = get_type_hints(Tuning)
    chosen: dict[str, Any] = {k: v for k, v in config.options.items() if k in _ADAPTERS}
    for option, value in chosen.items():
        _check_type("training", option, value, types[option])
    return Tuning(policy=config.trainable, **chosen)


def _load_trained(folder: Path, seed: int | None) -> Any:
    from newsrec.rank.model_folder import load_ranker

    return load_ranker(folder, seed)


def _check_type(what: str, option: str, value: object, wanted: Any) -> None:
    if not fits(value, wanted):
        said = _said(option, wanted)
        raise ConfigError(f"{what}: option {option!r} is {value!r}, expected {said}")


def _said(option: str, wanted: Any) -> str:
    """A declared type in words that help to write a value of it."""
    if get_origin(wanted) in (dict, Mapping):
        example = "{story: 2}" if get_args(wanted)[1] is int else "{theme: -0.3}"
        return f"names with numbers, such as {option}={example}"
    return wanted.__name__ if isinstance(wanted, type) else str(wanted)


def fits(value: object, wanted: Any) -> bool:
    """Whether ``value`` has the declared type; a list stands for a tuple, a bool is no number."""
    if wanted is Any:
        return True
    kind, parts = get_origin(wanted), get_args(wanted)
    if kind in (Union, UnionType):
        return any(fits(value, part) for part in parts)
    if kind is dict:
        return isinstance(value, dict) and all(fits(x, parts[1]) for x in value.values())
    if kind is tuple:
        return isinstance(value, list | tuple) and all(fits(x, parts[0]) for x in value)
    if wanted is float and isinstance(value, int) and not isinstance(value, bool):
        return True
    if isinstance(value, bool) or not isinstance(kind or wanted, type):
        return wanted is bool
    return isinstance(value, kind or wanted)


def reads_text(recipe: Recipe) -> bool:
    """Whether the ranker needs articles with text: vectors or the texts themselves."""
    return recipe.vectors or "texts" in recipe.needs


def ranker(config: RankerConfig, given: Given, scene: Mapping[str, Any]) -> Ranker:
    """The ranker of ``config``; ``scene`` holds options that it takes if it has them.

    Readers without readable history get the cold start from rankers that read text.
    """
    from newsrec.rank.cold import ColdStart, WithFallback

    recipe = row(config)
    options = {key: value for key, value in scene.items() if key in recipe.options}
    made = _made(config, given, options)
    if config.cold == "none" or not reads_text(recipe):
        return made
    clicks = ClickLog.of() if given.clicks is None else given.clicks
    return WithFallback(made, ColdStart(clicks, given.first_seen), view=None)


def check_reranker(config: RerankerConfig) -> bool:
    """Whether the re-ranker uses vectors; `ConfigError` for a name, an option or a value that
    `newsrec.rerank.table.RERANKERS` does not take."""
    return reranker(config) is not None and "vectors" in RERANKERS[config.name].needs


def reranker(config: RerankerConfig) -> Reranker | None:
    """The re-ranker of ``config``, None for ``none``."""
    if config.name == NO_RERANKER:
        if config.options:
            raise ConfigError(f"re-ranker {config.label!r}: {NO_RERANKER} takes no options")
        return None
    if config.name not in RERANKERS:
        raise unknown_name("re-ranker", config.name, (NO_RERANKER, *RERANKERS))
    types = get_type_hints(RERANKERS[config.name].make)
    for option, value in config.options.items():
        if option in types:
            _check_type(f"re-ranker {config.name!r}", option, value, types[option])
    try:
        return make_reranker(config.name, **config.options)
    except (TypeError, ValueError) as error:
        raise ConfigError(f"re-ranker {config.label!r}: {error}") from error


def _made(config: RankerConfig, given: Given, options: Mapping[str, Any]) -> Ranker:
    if config.name not in RANKERS:
        return row(config).make(given.seed, **config.options)
    try:
        return make_ranker(config.name, given, **{**options, **config.options})
    except (ConfigError, TypeError, ValueError) as error:
        raise ConfigError(f"ranker {config.label!r}: {error}") from error


def encoder(config: EncoderConfig, trust_remote_code: bool = False) -> Encoder:
    """The encoder of ``config``, whose own ``trust_remote_code`` wins.

    `ConfigError` for an unknown option, or a value of another type than the option's.
    """
    from newsrec.encode import load_encoder
    from newsrec.encode.presets import Preset

    types = get_type_hints(Preset) | get_type_hints(load_encoder)
    for option, value in config.options.items():
        if option in types:
            _check_type(f"encoder {config.name!r}", option, value, types[option])
    options: dict[str, Any] = {"trust_remote_code": trust_remote_code, **config.options}
    return load_encoder(config.name, **options)


def summarizer(written: str, embed: Embed | None = None) -> Summarizer:
    """What ``--summarizer`` names: a row of `newsrec.cluster.summarise.SUMMARIZERS`, or the YAML
    file of a `newsrec.config.SummarizerConfig`.

    ``embed``: ``k`` texts to ``(k, dim) float32``, for ``extractive``.
    """
    from newsrec.cluster.summarise.local import Decoding, LocalModel
    from newsrec.cluster.summarise.table import make_summarizer
    from newsrec.config import load_summarizer

    if not written.endswith((".yaml", ".yml")):
        return make_summarizer(written, embed)
    config = load_summarizer(Path(written).expanduser())
    return LocalModel(
        config.base_model,
        adapter=config.adapter,
        decoding=Decoding(**config.decoding.model_dump()),
        task=config.task,
    )
