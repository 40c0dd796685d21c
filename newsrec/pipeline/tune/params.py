"""What the names of a space are: options of training, of the head, of the encoder."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import MISSING, dataclass, fields
from inspect import Parameter, signature
from types import UnionType
from typing import Any, Union, get_args, get_origin, get_type_hints

import numpy as np

from newsrec.build import fits
from newsrec.config import TrainConfig, parse_training
from newsrec.config.space import Choice, Range, Space
from newsrec.errors import ConfigError, unknown_name
from newsrec.rank.fit_options import FitOptions

#: Fields of `FitOptions` that are no matter of search.
_NOT_SEARCHED = ("seed", "device", "checkpoint_steps")
#: Options that change an encoder's vectors, and what some of them may be.
_ENCODER = ("max_tokens", "normalize", "pooling", "precision", "prefix")
#: Options that change what a validation loss means: losses of two trials cannot be compared.
_CHANGE_LOSS = ("loss", "temperature", "negatives")

TRAINING, HEAD, ENCODER, ENTRY = "options", "head", "encoder", "trainable"


@dataclass(frozen=True, slots=True)
class Param:
    """A name that varies: ``part`` says where it belongs, ``over`` what it may be, ``whole`` that
    a range is of whole numbers, ``default`` what it is where nobody searches (None: no default, or
    none that ``over`` holds)."""

    name: str
    part: str
    over: Range | Choice
    whole: bool
    default: Any

    def holds(self, value: Any) -> bool:
        """Whether ``value`` is one of those it may be."""
        if isinstance(self.over, Choice):
            return any(value == x and type(value) is type(x) for x in self.over.values)
        low, high, step = self.over.low, self.over.high, self.over.step
        if isinstance(value, bool) or not isinstance(value, int | float):
            return False
        steps = 0.0 if step is None else (value - low) / step
        return low <= value <= high and bool(np.isclose(steps, round(steps)))


@dataclass(frozen=True, slots=True)
class Plan:
    """A checked ``space``: ``params`` vary around ``config``, which has the fixed values."""

    space: Space
    config: TrainConfig
    params: tuple[Param, ...]

    @property
    def comparable_losses(self) -> bool:
        """Whether the validation losses of two trials measure the same."""
        return not any(param.name in _CHANGE_LOSS for param in self.params)

    def defaults(self) -> dict[str, Any]:
        """Values where nobody searches, of those that the space holds."""
        return {p.name: p.default for p in self.params if p.default is not None}

    def example(self) -> TrainConfig:
        """The config of a trial that may come: what can be checked of one, holds of all."""
        first = {p.name: p.over.values[0] if isinstance(p.over, Choice) else p.over.low
                 for p in self.params}  # fmt: skip
        return self.apply({**first, **self.defaults()})

    def apply(self, settings: Mapping[str, Any]) -> TrainConfig:
        """The config of a trial."""
        parts = {param.name: param.part for param in self.params}
        return _placed(self.config, {n: (parts[n], value) for n, value in settings.items()})


def plan(config: TrainConfig, space: Space, where: str = "space") -> Plan:
    """``space`` as options of ``config``'s training, head and encoder.

    `ConfigError` for a name that none of them has, for values of another type than the option's
    and for such as it does not take, and for a space in which nothing varies.
    """
    known = _known(config)
    for name in space.names:
        if name in _NOT_SEARCHED:
            raise ConfigError(f"{where}: {name} is no matter of search; leave it out")
        if name not in known:
            raise unknown_name(f"name in {where} of head {config.head.name!r}:", name, tuple(known))
    fixed = {}
    for name, value in space.fixed.items():
        part, hint, _ = known[name]
        _check_value(where, name, part, hint, value)
        fixed[name] = (part, value)
    params = tuple(
        _param(where, name, *known[name], over) for name, over in space.varied.items()
    )  # fmt: skip
    if not params:
        raise ConfigError(f"{where}: nothing varies, expected a range or a list of values")
    _check_learns(config, space)
    return Plan(space, _placed(config, fixed), params)


def _known(config: TrainConfig) -> dict[str, tuple[str, Any, Any]]:
    """Name to part, type and default."""
    from newsrec.encode.load import load_encoder
    from newsrec.encode.presets import BUILT_IN, Preset
    from newsrec.rank import HEADS

    if config.head.name not in HEADS:
        raise unknown_name("head", config.head.name, tuple(HEADS))
    hints = get_type_hints(FitOptions)
    found = {
        field.name: (TRAINING, hints[field.name], config.options.get(field.name, field.default))
        for field in fields(FitOptions)
        if field.name not in _NOT_SEARCHED
    }
    make = HEADS[config.head.name].make
    hints, given = get_type_hints(make), config.head.options
    for name in HEADS[config.head.name].options:
        default = signature(make).parameters[name].default
        found[name] = (HEAD, hints[name], given.get(name, default))
    if config.encoder.name.partition("=")[0] != BUILT_IN:
        hints = {**get_type_hints(Preset), **get_type_hints(load_encoder)}
        options = config.encoder.options
        found |= {name: (ENCODER, hints[name], options.get(name)) for name in _ENCODER}
    found[ENTRY] = (ENTRY, str, config.trainable)
    return found


def _check_learns(config: TrainConfig, space: Space) -> None:
    from newsrec.rank import HEADS

    frozen = space.fixed.get(ENTRY, config.trainable) == "none" and ENTRY not in space.varied
    if HEADS[config.head.name].encoder_only and frozen:
        raise ConfigError(
            f"head {config.head.name!r} has no weights of its own: nothing learns with a frozen "
            "encoder. Give --trainable: last4, last4+embeddings, all or lora"
        )


def _param(
    where: str, name: str, part: str, hint: Any, default: Any, over: Range | Choice
) -> Param:
    kinds = get_args(hint) if get_origin(hint) in (Union, UnionType) else (hint,)
    whole = float not in kinds
    if isinstance(over, Choice):
        ends = over.values
    else:
        ends = (over.low, over.high)
        if not {int, float} & set(kinds):
            raise ConfigError(
                f"{where}: {name}: the range {over.written}, expected a list of values "
                f"({_said(hint)})"
            )
        if whole and any(isinstance(x, float) for x in (*ends, over.step)):
            raise ConfigError(
                f"{where}: {name} is a whole number, found the range {over.written}; "
                "write whole numbers: 1..10"
            )
    for value in ends:
        _check_value(where, name, part, hint, value)
    made = Param(name, part, over, whole, None)
    usable = default not in (None, MISSING, Parameter.empty) and made.holds(default)
    return Param(name, part, over, whole, default if usable else None)


def _check_value(where: str, name: str, part: str, hint: Any, value: Any) -> None:
    """`ConfigError` for a value that the option does not take."""
    if not fits(value, hint):
        listed = " (a list is a choice; one list is [[…]])" if get_origin(hint) is tuple else ""
        raise ConfigError(f"{where}: {name}: {value!r}, expected {_said(hint)}{listed}")
    try:
        if part == TRAINING:
            FitOptions(**{name: value})
        elif part == ENCODER:
            _check_encoder(name, value)
        elif part == ENTRY:
            parse_training({"head": "naml", ENTRY: value}, where)
            return
    except ConfigError as error:
        raise ConfigError(f"{where}: {str(error).removeprefix(f'{where}: ')}") from None
    if part == HEAD and hint is int and value < 1:
        raise ConfigError(f"{where}: {name}: {value}, expected at least 1")
    if name == "dropout" and not 0 <= value < 1:
        raise ConfigError(f"{where}: {name}: {value}, expected a share from 0 to less than 1")


def _check_encoder(name: str, value: Any) -> None:
    from newsrec.encode.load import PRECISIONS
    from newsrec.encode.presets import POOLINGS

    names = {"pooling": POOLINGS, "precision": PRECISIONS}.get(name)
    if names is not None and value not in names:
        raise unknown_name(name, str(value), names)


def _placed(config: TrainConfig, values: Mapping[str, tuple[str, Any]]) -> TrainConfig:
    """``config`` with values put where they belong; `ConfigError` for what it does not take."""
    plain = config.model_dump()
    for name, (part, value) in values.items():
        if part == ENTRY:
            plain[name] = value
        elif part == TRAINING:
            plain["options"][name] = value
        else:
            plain[part]["options"][name] = list(value) if isinstance(value, tuple) else value
    return parse_training(plain, "a trial's values")


def _said(hint: Any) -> str:
    return hint.__name__ if isinstance(hint, type) else str(hint)
