"""Options that the commands of `newsrec cluster` share, and how their words are read."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import typer

from newsrec.errors import ConfigError

Folder = Annotated[
    Path | None,
    typer.Option(envvar="NEWSREC_CORPUS", help="Prepared corpus; default: bundled sample."),
]
Encoder = Annotated[str, typer.Option(help="Preset, model name or local folder.")]
Trust = Annotated[
    bool, typer.Option("--trust-remote-code", help="Run code that comes with a model.")
]
Languages = Annotated[
    str | None, typer.Option(help="Languages whose texts are looked at. [all of the corpus]")
]
Dims = Annotated[
    str | None, typer.Option(help="Matryoshka sizes, coarse to fine. [the encoder's finest]")
]


def codes(words: str | None) -> tuple[str, ...]:
    """``fin,eng`` as codes; none for nothing said."""
    from newsrec.pipeline.request import languages

    return () if words is None else languages(words)


def numbers(words: str | None, option: str, kind: Callable[[str], Any]) -> tuple[Any, ...]:
    """``0.4,0.6`` as numbers; none for nothing said."""
    try:
        return tuple(kind(word) for word in words.split(",")) if words else ()
    except ValueError:
        example = "64,128,256" if kind is int else "0.4,0.6,0.75"
        raise ConfigError(f"{option}: {words!r}, expected numbers like {example}") from None
