"""`newsrec train`: a head on clicks, and how good it is in every language."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from newsrec.cli.options import (
    CompleteOnly,
    ConfigFile,
    Corpus,
    HistoryLang,
    NoTrack,
    Rules,
    TrackingUri,
    Trust,
)


def train(
    head: Annotated[
        str | None,
        typer.Option(help="naml, naml-cat, mins, caum, manner, lfrec-ce, …; naml:query=50."),
    ] = None,
    corpus: Corpus = None,
    encoder: Annotated[
        str | None, typer.Option(help="Preset, model or folder, with options. [mini]")
    ] = None,
    trust_remote_code: Trust = None,
    lang: Annotated[
        str | None, typer.Option(help="Shelves to train on, a run each: eng,fin. [eng]")
    ] = None,
    history_lang: HistoryLang = None,
    shots: Annotated[
        str | None, typer.Option(help="Training impressions, nested: 10,50,100. [all]")
    ] = None,
    seeds: Annotated[str | None, typer.Option(help="Several: 42,43,44. [42]")] = None,
    trainable: Annotated[
        str | None,
        typer.Option(help="Of the encoder: none, last4, last4+embeddings, all, lora. [none]"),
    ] = None,
    views: Annotated[
        str | None, typer.Option(help="Texts that the head reads: title,abstract. [title+abstract]")
    ] = None,
    aspects: Annotated[
        str | None, typer.Option(help="A-modules of manner: category=-0.3,sentiment=0.2.")
    ] = None,
    labels: Annotated[Path | None, typer.Option(help="CSV: id and a column an aspect.")] = None,
    set: Annotated[
        str | None, typer.Option(help="Of the training: learning_rate=1e-4,epochs=5,batch=64.")
    ] = None,
    train: Annotated[str | None, typer.Option(help="Split to learn from. [train]")] = None,
    valid: Annotated[
        str | None,
        typer.Option(help="Split that says when to stop, 0.1 of --train, or none. [valid, or 0.1]"),
    ] = None,
    test: Annotated[str | None, typer.Option(help="Split to measure on, or none. [test]")] = None,
    test_langs: Annotated[str | None, typer.Option(help="Shelves of the test. [all]")] = None,
    protocol: Rules = None,
    complete_only: CompleteOnly = None,
    metrics: Annotated[str | None, typer.Option(help="Sets or names. [accuracy]")] = None,
    out: Annotated[Path | None, typer.Option(help="Folder of the rankers. [data/models/…]")] = None,
    tracking_uri: TrackingUri = None,
    no_track: NoTrack = False,
    config: ConfigFile = None,
) -> None:
    """Train a head on cached vectors, or along with its encoder, and measure it zero-shot."""
    from newsrec.cli.training import Wanted, run

    given = {
        "head": head, "corpus": corpus, "encoder": encoder, "langs": lang, "shots": shots,
        "trust_remote_code": trust_remote_code, "history_lang": history_lang, "seeds": seeds,
        "trainable": trainable, "views": views, "options": set, "train": train, "valid": valid,
        "test": test, "test_langs": test_langs, "protocol": protocol, "metrics": metrics,
        "complete_only": complete_only, "aspects": aspects, "labels": labels,
    }  # fmt: skip
    run(Wanted(given, config, out, tracking_uri, no_track))
