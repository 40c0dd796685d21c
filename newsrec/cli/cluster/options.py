"""Options that the commands of `newsrec cluster` share, and how their words are read."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from typing import Annotated

import typer

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

_DEFAULTS = {"--encoder": "mini", "--linkage": "average"}


def codes(words: str | None) -> tuple[str, ...]:
    """``fin,eng`` as codes; none for nothing said."""
    from newsrec.pipeline.request import languages

    return () if words is None else languages(words)


def build_command(given: Mapping[str, object]) -> str:
    """``newsrec cluster build`` with those options of ``given`` that say more than a default."""
    words = ["newsrec", "cluster", "build"]
    for option, value in given.items():
        if value is not None and value is not False and value != _DEFAULTS.get(option):
            words += [option] if value is True else [option, str(value)]
    return shlex.join(words)
