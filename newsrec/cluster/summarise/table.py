"""Every summarizer by name: how it is written, and how it is made."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from newsrec.cluster.extract import Embed, Extractive
from newsrec.cluster.summarise.endpoint import Endpoint
from newsrec.cluster.summarise.local import LocalModel
from newsrec.errors import ConfigError, unknown_name
from newsrec.protocols import Summarizer


@dataclass(frozen=True, slots=True)
class Recipe:
    """How a summarizer is made.

    ``written``: its spelling; ``make``: from that and ``embed``, which only some need.
    """

    about: str
    written: str
    make: Callable[[str, Embed | None], Summarizer]


def _extractive(written: str, embed: Embed | None) -> Summarizer:
    if embed is None:
        raise ConfigError("summarizer 'extractive' needs an encoder: give embed")
    return Extractive(embed)


def _endpoint(written: str, embed: Embed | None) -> Summarizer:
    url, _mark, model = written.partition("#")
    return Endpoint(url, model)


def _local(written: str, embed: Embed | None) -> Summarizer:
    return LocalModel(written.partition(":")[2])


SUMMARIZERS: dict[str, Recipe] = {
    "extractive": Recipe("the sentences that all languages agree on", "extractive", _extractive),
    "http": Recipe("an OpenAI-compatible endpoint", "http://HOST:PORT/v1#MODEL", _endpoint),
    "https": Recipe("the same, encrypted", "https://HOST/v1#MODEL", _endpoint),
    "hf": Recipe("a transformers chat model or LoRA adapter", "hf:NAME_OR_FOLDER", _local),
}


def make_summarizer(written: str = "extractive", embed: Embed | None = None) -> Summarizer:
    """The summarizer that ``written`` spells: ``extractive``, ``http://HOST:PORT/v1#MODEL`` or
    ``hf:NAME_OR_FOLDER``.

    ``embed``: ``k`` texts to ``(k, dim) float32``. Raises `ConfigError` for another name.
    """
    kind, colon, _ = written.partition(":")
    recipe = SUMMARIZERS.get(kind)
    if recipe is None or bool(colon) != (":" in recipe.written):
        raise unknown_name("summarizer", written, tuple(r.written for r in SUMMARIZERS.values()))
    return recipe.make(written, embed)
