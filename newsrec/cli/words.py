"""The words of a command line as a config file would hold them."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

from newsrec.errors import ConfigError
from newsrec.spelling import scalar

_LISTS = (
    "encoders", "rankers", "rerankers", "langs", "metrics", "seeds", "test_langs", "views",
)  # fmt: skip


def plain(given: Mapping[str, object]) -> dict[str, object]:
    """Options that were given, as a config file would hold them."""
    found: dict[str, object] = {}
    for key, value in given.items():
        if value is None:
            continue
        words = key in _LISTS and not isinstance(value, list)
        found[key] = _named(key, str(value)) if words else value
    for key in ("corpus", "labels", "protocol"):
        if key in found:
            found[key] = str(found[key])
    if "seeds" in found:
        found["seeds"] = [_seed(word) for word in listed(str(given["seeds"]))]
    if "shots" in found:
        found["shots"] = list(numbers(str(given["shots"]), "--shots", int))
    if "aspects" in found:
        found["aspects"] = options_of(str(given["aspects"]), "--aspects")
    if "options" in found:
        found["options"] = options_of(str(given["options"]), "--set")
    return found


def listed(words: str) -> list[str]:
    """Split at commas outside of brackets and braces: ``fusion,tfidf:sizes=[2,3]`` is two."""
    parts = re.split(r",(?![^\[{]*[\]}])", words)
    return [part.strip() for part in parts if part.strip()]


def numbers(words: str | None, option: str, kind: Callable[[str], Any] = float) -> tuple[Any, ...]:
    """``0.4,0.6`` as numbers of a ``kind``; none for nothing said."""
    try:
        return tuple(kind(word) for word in words.split(",")) if words else ()
    except ValueError:
        example = "64,128,256" if kind is int else "0.4,0.6,0.75"
        raise ConfigError(f"{option}: {words!r}, expected numbers like {example}") from None


def options_of(words: str, option: str) -> dict[str, object]:
    """``a=1,b=[2, 3],c=x`` as values; ``option`` is named in errors."""
    found: dict[str, object] = {}
    for word in listed(words):
        key, equals, text = word.partition("=")
        if not equals or not key.isidentifier():
            raise ConfigError(f"{option}: {word!r}, expected KEY=VALUE")
        found[key] = scalar(text, option)
    return found


def _named(key: str, words: str) -> list[str]:
    found = listed(words)
    if not found:
        option = {"encoders": "encoder", "rankers": "ranker", "rerankers": "rerank"}.get(key, key)
        raise ConfigError(f"--{option}: {words!r} names nothing; leave it out for the default")
    return found


def _seed(word: str) -> int:
    try:
        return int(word)
    except ValueError:
        raise ConfigError(f"--seeds: {word!r}, expected whole numbers like 42,43,44") from None
