"""`newsrec evaluate`: how good systems are, per language, with intervals and paired tests."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from newsrec.cli.options import (
    Clusters,
    CompleteOnly,
    ConfigFile,
    Corpus,
    HistoryLang,
    NoTrack,
    Rules,
    TrackingUri,
    Trust,
)


def evaluate(
    corpus: Corpus = None,
    encoder: Annotated[
        str | None,
        typer.Option(
            help="Preset, model or folder, with options: mini,nase:precision=int8. [mini]"
        ),
    ] = None,
    trust_remote_code: Trust = None,
    ranker: Annotated[
        str | None,
        typer.Option(help="With options: fusion,fusion:centre=none,tfidf,./trained. [fusion]"),
    ] = None,
    rerank: Annotated[
        str | None,
        typer.Option(help="With options: none,mmr:relevance_weight=0.7,xquad:aspect=topic. [none]"),
    ] = None,
    diversity: Annotated[
        float | None, typer.Option(help="1 - relevance weight of re-rankers that say none.")
    ] = None,
    clusters: Clusters = None,
    langs: Annotated[
        str | None, typer.Option(help="Shelves: eng,fin; mixed: eng+fin. [all of the corpus]")
    ] = None,
    history_lang: HistoryLang = None,
    split: Annotated[str | None, typer.Option(help="Split of the corpus. [test]")] = None,
    protocol: Rules = None,
    complete_only: CompleteOnly = None,
    metrics: Annotated[
        str | None, typer.Option(help="Sets or names. [accuracy,diversity,radio]")
    ] = None,
    seeds: Annotated[str | None, typer.Option(help="Several: 42,43,44. [42]")] = None,
    json: Annotated[Path | None, typer.Option(help="Also write the results here.")] = None,
    out: Annotated[Path | None, typer.Option(help="Folder of the report. [data/runs/…]")] = None,
    submission: Annotated[
        Path | None, typer.Option(help="Write MIND's prediction.zip; needs no labels.")
    ] = None,
    tracking_uri: TrackingUri = None,
    no_track: NoTrack = False,
    config: ConfigFile = None,
) -> None:
    """Measure systems (encoders × rankers × re-rankers) on languages of one split."""
    from newsrec.cli.evaluation import Wanted, run

    given = {
        "corpus": corpus, "encoders": encoder, "rankers": ranker, "langs": langs,
        "rerankers": rerank, "diversity": diversity, "clusters": clusters,
        "trust_remote_code": trust_remote_code,
        "history_lang": history_lang, "split": split, "protocol": protocol,
        "complete_only": complete_only, "metrics": metrics, "seeds": seeds,
    }  # fmt: skip
    run(Wanted(given, config, json, out, submission, tracking_uri, no_track))
