"""`newsrec tune-diversity`: what variety costs on a corpus, and how much of it is free."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from newsrec.cli.options import Clusters, Corpus, HistoryLang, Trust


def tune_diversity(
    corpus: Corpus = None,
    encoder: Annotated[str, typer.Option(help="Preset, model or folder, with options.")] = "mini",
    trust_remote_code: Trust = None,
    ranker: Annotated[str, typer.Option(help="One, with options.")] = "fusion",
    rerank: Annotated[
        str, typer.Option(help="Several: mmr,xquad:aspect=topic; all: over themes and topics.")
    ] = "all",
    langs: Annotated[
        str | None, typer.Option(help="Shelves: eng,fin; mixed: eng+fin. [all of the corpus]")
    ] = None,
    history_lang: HistoryLang = None,
    split: Annotated[str, typer.Option(help="Labelled, not the one to report on.")] = "valid",
    loss: Annotated[
        float, typer.Option(help="Largest share of nDCG@10 that variety may cost.")
    ] = 0.02,
    weights: Annotated[
        str | None, typer.Option(help="Relevance weights: 0,0.5,0.9. [0 to 1, finer from 0.5]")
    ] = None,
    metrics: Annotated[str, typer.Option(help="Diversity: sets or names.")] = "diversity",
    clusters: Clusters = None,
    seeds: Annotated[str, typer.Option("--seed", help="Of rankers and intervals.")] = "42",
    out: Annotated[Path | None, typer.Option(help="Folder of the report. [data/runs/…]")] = None,
) -> None:
    """Measure nDCG@10 against every diversity metric; keep the largest diversity within --loss.

    `newsrec recommend --rerank NAME` then uses it on this corpus.
    """
    from newsrec.cli.tuning import run

    given = {
        "corpus": corpus, "encoders": encoder, "trust_remote_code": trust_remote_code,
        "rankers": ranker, "rerankers": rerank, "langs": langs, "history_lang": history_lang,
        "split": split, "metrics": metrics, "clusters": clusters, "seeds": seeds,
    }  # fmt: skip
    run(given, weights, loss, out)
