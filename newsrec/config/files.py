"""YAML to checked models.

A file may begin with ``extends: other.yaml`` (relative to itself): its keys replace those of the
other file, key by key.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, TypeVar

import yaml
from pydantic import ValidationError

from newsrec.config.strict import Strict
from newsrec.errors import ConfigError, unknown_name
from newsrec.spelling import yaml_value

Model = TypeVar("Model", bound=Strict)


def validated(kind: type[Model], fields: Mapping[str, Any], where: str) -> Model:
    """``fields`` as a ``kind``; `ConfigError`, which begins with ``where``, says what is wrong."""
    known = list(kind.model_fields)
    for key in fields:
        if key not in known:
            raise unknown_name(f"key in {where}:", str(key), known)
    try:
        return kind.model_validate(dict(fields))
    except ValidationError as error:
        raise ConfigError(f"{where}: {_told(error)}") from None


def read(path: Path, seen: tuple[Path, ...] = ()) -> dict[str, Any]:
    """The keys of a YAML file and of those it extends."""
    if path.resolve() in seen:
        raise ConfigError(f"{path}: extends itself")
    try:
        found = yaml_value(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"{path}: cannot be read ({error})") from None
    except yaml.YAMLError as error:
        raise ConfigError(f"{path}: not YAML: {' '.join(str(error).split())}") from None
    fields = {} if found is None else found
    if not isinstance(fields, dict):
        raise ConfigError(f"{path}: {type(fields).__name__}, expected keys and values")
    other = fields.pop("extends", None)
    if other is None:
        return fields
    return read(path.parent / str(other), (*seen, path.resolve())) | fields


def _told(error: ValidationError) -> str:
    """Every problem as ``key: message, found …``."""
    said = []
    problems = error.errors(include_url=False)
    inside = {problem["loc"][:-1] for problem in problems}
    for problem in problems:
        # pydantic drops a wrong item, and then finds the list too short.
        if problem["type"] == "too_short" and problem["loc"] in inside:
            continue
        where = ".".join(str(part) for part in problem["loc"])
        said.append(f"{where}: {problem['msg']}, found {problem['input']!r}")
    return "; ".join(said)
