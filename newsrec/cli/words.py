"""The words of a command line as a config file would hold them."""

from __future__ import annotations

import re
from collections.abc import Mapping

from newsrec.errors import ConfigError

_LISTS = ("encoders", "rankers", "rerankers", "langs", "metrics", "seeds")


def plain(given: Mapping[str, object]) -> dict[str, object]:
    """Options that were given, as a config file would hold them."""
    found: dict[str, object] = {}
    for key, value in given.items():
        if value is None:
            continue
        found[key] = _named(key, str(value)) if key in _LISTS else value
    if "corpus" in found:
        found["corpus"] = str(found["corpus"])
    if "protocol" in found:
        found["protocol"] = str(found["protocol"])
    if "seeds" in found:
        found["seeds"] = [_seed(word) for word in listed(str(given["seeds"]))]
    return found


def listed(words: str) -> list[str]:
    """Split at commas outside of brackets and braces: ``fusion,tfidf:sizes=[2,3]`` is two."""
    parts = re.split(r",(?![^\[{]*[\]}])", words)
    return [part.strip() for part in parts if part.strip()]


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
