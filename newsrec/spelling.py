"""How encoders, rankers and re-rankers are written in one word: ``name:key=value:key=value``."""

from __future__ import annotations

import re
from collections.abc import Mapping
from math import isfinite
from pathlib import Path
from typing import Any

import yaml
from pydantic import BaseModel

from newsrec.errors import ConfigError

#: The re-ranker that leaves a list as it is.
NO_RERANKER = "none"


def as_list(value: Any) -> list[Any]:
    return list(value) if isinstance(value, list | tuple) else [value]


def _spelled_out(value: Any, where: str) -> Any:
    """``mini`` as ``{"name": "mini"}``."""
    if isinstance(value, str):
        return {"name": value}
    if not isinstance(value, Mapping | BaseModel):
        raise ConfigError(f"{where}: {value!r}, expected a name or a mapping with a name")
    return value


def ranker(value: Any, where: str) -> Any:
    """``fusion:centre=none:cold=none`` as a mapping."""
    if not isinstance(value, str):
        return _spelled_out(value, where)
    found = _with_options(value, where, "ranker")
    for key in ("cold", "called"):
        if key in found["options"]:
            found[key] = found["options"].pop(key)
    return found


def head(value: Any, where: str) -> Any:
    """``naml:query=50`` as a mapping."""
    return (
        _with_options(value, where, "head")
        if isinstance(value, str)
        else _spelled_out(value, where)
    )


def reranker(value: Any, where: str) -> Any:
    """``quota:at_most={story: 1}`` as a mapping; YAML's null is the name ``none``."""
    if value is None:
        return {"name": NO_RERANKER}
    if not isinstance(value, str):
        return _spelled_out(value, where)
    return _with_options(value, where, "re-ranker")


def _with_options(value: str, where: str, kind: str) -> dict[str, Any]:
    """``name:key=value:key=value``; colons in brackets and braces belong to a value."""
    name, *options = re.split(r":(?![^\[{]*[\]}])", value)
    name = name if is_path(name) else name.replace("_", "-")
    found: dict[str, Any] = {"name": name, "options": {}}
    for option in options:
        key, equals, text = option.partition("=")
        if not equals:
            raise ConfigError(f"{where}: {kind} option {option!r}, expected key=value")
        # A shell word has no blanks: {story:1} is what YAML writes {story: 1}.
        text = re.sub(r":(?! )", ": ", text) if text.startswith("{") else text
        found["options"][key] = read = scalar(text, where)
        if isinstance(read, Mapping):
            _check_numbers(read, f"{where}: {kind} option {option!r}")
    return found


def _check_numbers(read: Mapping[Any, Any], where: str) -> None:
    """`ConfigError` unless every name has a finite number."""
    for name, number in read.items():
        plain = isinstance(number, int | float) and not isinstance(number, bool)
        if not (isinstance(name, str) and plain and (isinstance(number, int) or isfinite(number))):
            raise ConfigError(
                f"{where}: {name!r} is {number!r}, expected a name with a finite number, as in "
                "{story: 2}"
            )


def encoder(value: Any, where: str) -> Any:
    """``labse=/models/a:precision=int8`` as a mapping.

    Only ``:key=value`` at the end are options: names and folders may hold colons, and a folder that
    is there is a name as it stands.
    """
    if not isinstance(value, str):
        return _spelled_out(value, where)
    name, options = value, {}
    while not _is_folder(name) and (last := re.fullmatch(r"(.+):([a-z_]+)=([^/\\]*)", name)):
        name = last[1]
        options[last[2]] = scalar(last[3], where)
    return {"name": name, "options": dict(reversed(options.items()))}


def is_path(name: str) -> bool:
    """Whether a name is meant as a folder: it has a separator, or there is one of that name."""
    return any(sign in name for sign in "/\\") or Path(name).expanduser().is_dir()


def _is_folder(name: str) -> bool:
    return Path(name).expanduser().exists() or (
        "=" in name and Path(name.partition("=")[2]).expanduser().exists()
    )


class _Loader(yaml.SafeLoader):
    """YAML 1.1, in which ``1e-4`` is text for want of a dot, with the numbers of YAML 1.2."""


_Loader.add_implicit_resolver(
    "tag:yaml.org,2002:float",
    re.compile(r"[-+]?(\d+(\.\d*)?|\.\d+)[eE][-+]?\d+$"),
    list("-+.0123456789"),
)


def yaml_value(text: str) -> Any:
    """What YAML says, ``1e-4`` being a number; nothing but plain values. `yaml.YAMLError`."""
    return yaml.load(text, _Loader)


def scalar(text: str, where: str) -> Any:
    """One value as YAML reads it; `ConfigError` begins with ``where``."""
    try:
        return yaml_value(text)
    except yaml.YAMLError:
        raise ConfigError(f"{where}: {text!r} is no value") from None
