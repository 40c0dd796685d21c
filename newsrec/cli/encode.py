"""`newsrec encode`: fill the store for a corpus, or embed a plain file."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated, Any

import typer


def encode(
    corpus: Annotated[
        Path | None, typer.Option(help="Prepared corpus; default: $NEWSREC_CORPUS, or the sample.")
    ] = None,
    input: Annotated[Path | None, typer.Option(help="Texts, one a line; - is stdin.")] = None,
    output: Annotated[Path | None, typer.Option(help="With --input: .npy to write.")] = None,
    encoder: Annotated[str, typer.Option(help="Preset, PRESET=FOLDER, model, folder.")] = "mini",
    lang: Annotated[str | None, typer.Option(help="Language, several (fin,eng), all.")] = None,
    view: Annotated[str, typer.Option(help="What is read of an article.")] = "title+abstract",
    precision: Annotated[
        str | None, typer.Option(help="auto, fp32, bf16, fp16, int8. [auto]")
    ] = None,
    backend: Annotated[str | None, typer.Option(help="torch, onnx, openvino. [torch]")] = None,
    device: Annotated[str | None, typer.Option(help="cpu, cuda, …; default: the best.")] = None,
    revision: Annotated[str | None, typer.Option(help="Commit or tag of the model.")] = None,
    force: Annotated[bool, typer.Option("--force", help="Encode what is stored again.")] = False,
    trust: Annotated[
        bool, typer.Option("--trust-remote-code", help="Run code that comes with a model.")
    ] = False,
) -> None:
    """Turn texts into vectors: of a corpus into the store, or of a file into an .npy file."""
    from newsrec.cli.encoding import file, fill
    from newsrec.errors import ConfigError

    given = {"precision": precision, "backend": backend, "device": device, "revision": revision}
    options: dict[str, Any] = {key: value for key, value in given.items() if value is not None}
    if (input is None) != (output is None):
        raise ConfigError("--input and --output belong together")
    if input is not None and output is not None:
        if corpus is not None:
            raise ConfigError("give either --corpus (fills the store) or --input with --output")
        file(input, output, encoder, lang, options, trust)
    elif lang is not None:
        folder = corpus or os.environ.get("NEWSREC_CORPUS")
        fill(folder, lang, encoder, options, trust, view, force)
    else:
        raise ConfigError(
            "give --lang (a language, several: fin,eng, or all) to fill the store, "
            "or --input with --output"
        )
