"""What a search may choose: ranges, choices and fixed values by name.

Written in one word each, on the command line as in YAML: ``1e-5..1e-2 log`` (a range, here on a
logarithmic scale), ``8..32 step 8``, ``[50, 100, 200]`` (one of these), ``3`` (always this).
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml
from pydantic import Field, ValidationError, model_validator

from newsrec.config.files import read
from newsrec.config.strict import Strict
from newsrec.errors import ConfigError
from newsrec.spelling import scalar

_NUMBER = r"[-+]?(?:\d+(?:\.\d+)?|\.\d+)(?:[eE][-+]?\d+)?"
_RANGE = re.compile(
    rf"(?P<low>{_NUMBER})\s*\.\.\s*(?P<high>{_NUMBER})"
    rf"(?P<log>\s+log)?(?:\s+step\s+(?P<step>{_NUMBER}))?"
)
_EXPECTED = "expected a value, a list of values, or LOW..HIGH, LOW..HIGH log, LOW..HIGH step SIZE"

Number = int | float


class Range(Strict):
    """Numbers from ``low`` to ``high``, both included; ``step``: only low, low + step, …; ``log``:
    every power of ten is as likely as the next."""

    low: Number
    high: Number
    log: bool = False
    step: Number | None = None

    @model_validator(mode="after")
    def _holds_something(self) -> Range:
        said = f"the range {self.written}"
        if not self.low < self.high:
            raise ValueError(f"{said} is empty, expected LOW below HIGH")
        if self.log and self.low <= 0:
            raise ValueError(f"{said} has no logarithm at {self.low:g}, expected LOW above 0")
        if self.step is not None and self.log:
            raise ValueError(f"{said} has steps on a logarithmic scale; name the values: [1, 10]")
        if self.step is not None and not 0 < self.step <= self.high - self.low:
            raise ValueError(f"{said} has steps of {self.step:g}, which do not fit into it")
        return self

    @property
    def written(self) -> str:
        """As it is read: ``1e-05..0.01 log``."""
        step = "" if self.step is None else f" step {self.step!r}"
        return f"{self.low!r}..{self.high!r}{' log' * self.log}{step}"


class Choice(Strict):
    """One of ``values``, which have no order."""

    values: tuple[Any, ...]

    @model_validator(mode="after")
    def _holds_something(self) -> Choice:
        if not self.values:
            raise ValueError("an empty list, expected the values to choose from")
        told = [json.dumps(value) for value in self.values]
        twice = next((text for text in told if told.count(text) > 1), None)
        if twice is not None:
            raise ValueError(f"{twice} is in the list twice")
        return self

    @property
    def written(self) -> list[Any]:
        """As it is read."""
        return [list(v) if isinstance(v, tuple) else v for v in self.values]


class Space(Strict):
    """``varied``: what is searched, by name; ``fixed``: what every trial has."""

    varied: dict[str, Range | Choice] = Field(default_factory=dict)
    fixed: dict[str, Any] = Field(default_factory=dict)

    @property
    def names(self) -> tuple[str, ...]:
        """Of everything it says, varied first."""
        return (*self.varied, *self.fixed)

    def without(self, names: frozenset[str]) -> Space:
        """What it says of other names."""
        return Space(
            varied={k: v for k, v in self.varied.items() if k not in names},
            fixed={k: v for k, v in self.fixed.items() if k not in names},
        )

    def to_dict(self) -> dict[str, Any]:
        """Plain values as YAML has them; `parse_space` reads them back."""
        fixed = {k: [list(v)] if isinstance(v, tuple) else v for k, v in self.fixed.items()}
        return {**{name: x.written for name, x in self.varied.items()}, **fixed}

    def to_yaml(self) -> str:
        """A line per name."""
        return "".join(f"{name}: {_flow(value)}\n" for name, value in self.to_dict().items())


def load_space(written: str, where: str = "--space") -> Space:
    """A YAML file's space (``written`` ends in .yaml or .yml), or one in a line:
    ``learning_rate=1e-5..1e-2 log, query=[50, 100], epochs=3``.

    `ConfigError` says which name is wrong, and how.
    """
    if written.endswith((".yaml", ".yml")):
        path = Path(written).expanduser()
        return parse_space(read(path), str(path))
    fields: dict[str, Any] = {}
    for part in _parts(written):
        name, equals, text = (x.strip() for x in part.partition("="))
        if not equals or not name.isidentifier() or not text:
            raise ConfigError(f"{where}: {part!r}, expected NAME=VALUES; {_EXPECTED}")
        if name in fields:
            raise ConfigError(f"{where}: {name} is there twice")
        fields[name] = text if _RANGE.fullmatch(text) else scalar(text, where)
    return parse_space(fields, where)


def parse_space(fields: Mapping[str, Any], where: str = "space") -> Space:
    """Plain values, as YAML has them, to a checked space; errors begin with ``where``."""
    varied: dict[str, Range | Choice] = {}
    fixed: dict[str, Any] = {}
    for name, value in fields.items():
        try:
            found = _read_one(value)
        except ValidationError as error:
            said = error.errors(include_url=False)[0]["msg"].removeprefix("Value error, ")
            raise ConfigError(f"{where}: {name}: {said}") from None
        except ValueError as error:
            raise ConfigError(f"{where}: {name}: {error}") from None
        if isinstance(found, Range | Choice):
            varied[str(name)] = found
        else:
            fixed[str(name)] = found
    return Space(varied=varied, fixed=fixed)


def _read_one(value: Any) -> Any:
    """A `Range`, a `Choice`, or the one value; `ValueError` for what is neither."""
    if isinstance(value, list | tuple):
        found = Choice(values=tuple(_plain(x) for x in value))
        return found if len(found.values) > 1 else found.values[0]
    if isinstance(value, str) and ".." in value:
        parts = _RANGE.fullmatch(value.strip())
        if parts is None:
            raise ValueError(f"{value!r}, {_EXPECTED}")
        step = None if parts["step"] is None else _number(parts["step"])
        return Range(low=_number(parts["low"]), high=_number(parts["high"]),
                     log=parts["log"] is not None, step=step)  # fmt: skip
    if isinstance(value, Mapping):
        raise ValueError(f"{value!r}, {_EXPECTED}")
    return _plain(value)


def _plain(value: Any) -> Any:
    """A list becomes a tuple; `ValueError` for what is no plain value."""
    if isinstance(value, list | tuple):
        return tuple(_plain(x) for x in value)
    if isinstance(value, str | int | float | None):
        return value
    raise ValueError(f"{value!r}, {_EXPECTED}")


def _number(text: str) -> Number:
    return int(text) if re.fullmatch(r"[-+]?\d+", text) else float(text)


def _flow(value: Any) -> str:
    """On one line, however long."""
    dumped = yaml.safe_dump(
        [value], default_flow_style=True, allow_unicode=True, width=float("inf")
    )  # fmt: skip
    return dumped.strip()[1:-1]


def _parts(text: str) -> list[str]:
    """Split at commas that are in no bracket."""
    parts, depth, start = [], 0, 0
    for i, sign in enumerate(text):
        depth += (sign in "[{(") - (sign in ")}]")
        if sign == "," and depth == 0:
            parts.append(text[start:i])
            start = i + 1
    return [part.strip() for part in (*parts, text[start:]) if part.strip()]
