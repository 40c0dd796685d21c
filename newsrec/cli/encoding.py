"""What `newsrec encode` does and prints."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

if TYPE_CHECKING:
    from newsrec.pipeline.stored import Words
    from newsrec.protocols import Encoder


def fill(
    corpus: Path | str | None,
    lang: str,
    encoder: str,
    options: dict[str, Any],
    trust: bool,
    view: str,
    force: bool,
) -> None:
    from newsrec.cli.progress import progress
    from newsrec.encode import EmbeddingStore
    from newsrec.errors import ConfigError
    from newsrec.languages import canonical
    from newsrec.pipeline.open import open_corpus
    from newsrec.pipeline.stored import remade

    opened = open_corpus(corpus)
    words = opened.languages if lang == "all" else filter(str.strip, lang.split(","))
    shelves = [opened.texts(canonical(word, "--lang")) for word in words]
    if not shelves:
        raise ConfigError("--lang: no language named, expected one like fin, or several: fin,eng")
    (loaded, named), store = _loaded(encoder, options, trust), EmbeddingStore()
    for texts in shelves:
        again = remade(opened, texts.language, view, named)
        with again, progress(f"encoding {texts.language}") as report:
            made = store.fill(
                loaded, texts, view, opened.fingerprint, force=force, on_progress=report
            )
        shown = f"{len(texts.rows)} of {len(texts)} articles, {loaded.spec.dim} dimensions"
        counts = f"{made.encoded} encoded, {made.reused} reused"
        typer.echo(f"{texts.language}: {counts}, {shown}, {made.folder / 'vectors.npy'}")


def file(
    input: Path, output: Path, encoder: str, lang: str | None, options: dict[str, Any], trust: bool
) -> None:
    from newsrec.cli.progress import progress
    from newsrec.encode.lines import count_lines, encode_lines
    from newsrec.errors import ConfigError
    from newsrec.languages import canonical

    if output.suffix != ".npy":
        raise ConfigError(f"--output: {output}, expected a name that ends in .npy")
    if input.exists() and output.exists() and input.samefile(output):
        raise ConfigError(f"--output: {output} is the --input; name another file")
    canonical("eng" if lang is None else lang, "--lang")
    stdin = str(input) == "-"
    total = 0 if stdin else count_lines(input)
    loaded, _ = _loaded(encoder, options, trust)
    with progress("encoding") as report, sys.stdin.buffer if stdin else input.open("rb") as lines:
        n, dim = encode_lines(loaded, lines, output, str(input), total=total, on_progress=report)
    typer.echo(f"{output}: {n} texts, {dim} dimensions")


def _loaded(encoder: str, options: dict[str, Any], trust: bool) -> tuple[Encoder, Words]:
    """The encoder, named as `newsrec evaluate` names it (``nase:precision=int8``), and that name;
    ``options`` given apart win."""
    from newsrec import build
    from newsrec.config import EncoderConfig, parse_config
    from newsrec.pipeline.stored import Words

    named = parse_config({"encoders": [encoder]}, "--encoder").encoders[0]
    config = EncoderConfig(name=named.name, options={**named.options, **options})
    return build.encoder(config, trust), Words(config.label, trust)
