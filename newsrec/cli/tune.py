"""`newsrec tune`: the options that a head trains best with."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from newsrec.cli.options import Corpus, HistoryLang, NoTrack, TrackingUri, Trust


def tune(
    head: Annotated[
        str | None, typer.Option(help="With fixed options: naml, naml:query=50.")
    ] = None,
    encoder: Annotated[
        str | None, typer.Option(help="Preset, model or folder, with options. [mini]")
    ] = None,
    corpus: Corpus = None,
    lang: Annotated[str | None, typer.Option(help="Train in this language. [eng]")] = None,
    history_lang: HistoryLang = None,
    trials: Annotated[int, typer.Option(min=1, help="How many in all, over all runs.")] = 30,
    space: Annotated[
        str | None,
        typer.Option(help="FILE.yaml, or learning_rate=1e-5..1e-2 log, query=[50,100], epochs=3."),
    ] = None,
    show_space: Annotated[
        bool, typer.Option("--show-space", help="Print the space as YAML for --space, and stop.")
    ] = False,
    metric: Annotated[str, typer.Option(help="On validation: any metric, or loss.")] = "ndcg@10",
    valid: Annotated[
        str | None, typer.Option(help="Split, or share of training such as 0.1. [valid]")
    ] = None,
    shots: Annotated[int | None, typer.Option(help="Training impressions. [all]")] = None,
    trainable: Annotated[
        str | None, typer.Option(help="Of the encoder: none, last4, last4+embeddings, all, lora.")
    ] = None,
    seed: Annotated[int, typer.Option(min=0, help="Of proposals and of training.")] = 42,
    timeout_s: Annotated[
        float | None, typer.Option(min=0, help="Stop after so many seconds, at an epoch's end.")
    ] = None,
    trust_remote_code: Trust = None,
    out: Annotated[
        Path | None, typer.Option(help="Folder; a search in it goes on. [data/tuned/…]")
    ] = None,
    tracking_uri: TrackingUri = None,
    no_track: NoTrack = False,
    config: Annotated[
        Path | None, typer.Option(help="YAML of newsrec train; options given here win over it.")
    ] = None,
) -> None:
    """Search learning rate, batch, sizes and more by training; never looks at the test split.

    OUT/best.yaml is what `newsrec train --config` takes.
    """
    from newsrec.cli.searching import Wanted, run

    given = {
        "head": head, "encoder": encoder, "corpus": corpus, "langs": lang,
        "history_lang": history_lang, "valid": valid, "shots": shots, "trainable": trainable,
        "trust_remote_code": trust_remote_code,
    }  # fmt: skip
    run(Wanted(given, config, space, show_space, metric, seed, trials, timeout_s, out,
               tracking_uri, no_track))  # fmt: skip
