"""`newsrec encode`: fill the store for a corpus, or embed a plain file."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated, Any

import typer


def encode(
    corpus: Annotated[Path | None, typer.Option(help="Prepared corpus to store.")] = None,
    input: Annotated[Path | None, typer.Option(help="Texts, one a line; - is stdin.")] = None,
    output: Annotated[Path | None, typer.Option(help="With --input: .npy to write.")] = None,
    encoder: Annotated[str, typer.Option(help="Preset, PRESET=FOLDER, model, folder.")] = "mini",
    lang: Annotated[str | None, typer.Option(help="Language, several (fin,eng), all.")] = None,
    view: Annotated[str, typer.Option(help="What is read of an article.")] = "title+abstract",
    precision: Annotated[str, typer.Option(help="auto, fp32, bf16, fp16, int8.")] = "auto",
    backend: Annotated[str, typer.Option(help="torch, onnx, openvino.")] = "torch",
    device: Annotated[str | None, typer.Option(help="cpu, cuda, …; default: the best.")] = None,
    revision: Annotated[str | None, typer.Option(help="Commit or tag of the model.")] = None,
    force: Annotated[bool, typer.Option("--force", help="Encode what is stored again.")] = False,
    trust: Annotated[
        bool, typer.Option("--trust-remote-code", help="Run code that comes with a model.")
    ] = False,
) -> None:
    """Turn texts into vectors: of a corpus into the store, or of a file into an .npy file."""
    from newsrec.errors import ConfigError

    options: dict[str, Any] = {"precision": precision, "backend": backend, "device": device}
    options |= {"revision": revision, "trust_remote_code": trust}
    if (corpus is None) == (input is None):
        raise ConfigError("give either --corpus (fills the store) or --input with --output")
    if (input is None) != (output is None):
        raise ConfigError("--input and --output belong together")
    if input is not None and output is not None:
        _file(input, output, encoder, lang, options)
    elif corpus is not None and lang is not None:
        _fill(corpus, lang, encoder, options, view, force)
    else:
        raise ConfigError("--corpus needs --lang: a language, several (fin,eng), or all")


def _fill(
    corpus: Path, lang: str, encoder: str, options: dict[str, Any], view: str, force: bool
) -> None:
    from newsrec.cli.progress import progress
    from newsrec.corpus import Corpus
    from newsrec.encode import EmbeddingStore, load_encoder

    opened = Corpus.open(corpus)
    languages = opened.languages if lang == "all" else lang.split(",")
    shelves = [opened.texts(language.strip()) for language in languages]
    loaded, store = load_encoder(encoder, **options), EmbeddingStore()
    for texts in shelves:
        with progress(f"encoding {texts.language}") as report:
            made = store.fill(
                loaded, texts, view, opened.fingerprint, force=force, on_progress=report
            )
        shown = f"{len(texts.rows)} of {len(texts)} articles, {loaded.spec.dim} dimensions"
        counts = f"{made.encoded} encoded, {made.reused} reused"
        typer.echo(f"{texts.language}: {counts}, {shown}, {made.folder / 'vectors.npy'}")


def _file(
    input: Path, output: Path, encoder: str, lang: str | None, options: dict[str, Any]
) -> None:
    from newsrec.cli.progress import progress
    from newsrec.encode import load_encoder
    from newsrec.encode.lines import count_lines, encode_lines
    from newsrec.languages import canonical

    canonical("eng" if lang is None else lang, "--lang")
    stdin = str(input) == "-"
    total = 0 if stdin else count_lines(input)
    loaded = load_encoder(encoder, **options)
    with progress("encoding") as report, sys.stdin.buffer if stdin else input.open("rb") as lines:
        n, dim = encode_lines(loaded, lines, output, str(input), total=total, on_progress=report)
    typer.echo(f"{output}: {n} texts, {dim} dimensions")
