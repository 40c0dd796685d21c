"""`newsrec cluster show`: look at the clusters, in the terminal, as a page, as figures."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from newsrec.cli.cluster.options import Encoder, Trust
from newsrec.cli.options import Corpus


def show(
    corpus: Corpus = None,
    encoder: Encoder = "mini",
    clusters: Annotated[
        Path | None, typer.Option(help="File of `newsrec cluster build`. [the corpus's own]")
    ] = None,
    lang: Annotated[str, typer.Option(help="Language of names and summaries.")] = "eng",
    html: Annotated[Path | None, typer.Option(help="Write one page that needs no network.")] = None,
    png: Annotated[Path | None, typer.Option(help="Folder for figures.")] = None,
    summarizer: Annotated[
        str | None,
        typer.Option(
            help="extractive, http://HOST/v1#MODEL, hf:MODEL, FILE.yaml. [none; page: extractive]"
        ),
    ] = None,
    summaries: Annotated[int, typer.Option(help="Of the largest clusters of a level.")] = 200,
    top: Annotated[int, typer.Option(help="Clusters of a level that are printed.")] = 10,
    trust: Trust = False,
) -> None:
    """Themes › topics › stories with names: printed, as a page (--html), as figures (--png)."""
    from newsrec.cli.cluster.showing import Look, run

    run(
        Look(corpus, encoder, clusters, lang, trust, top), html=html, png=png,
        summarizer=summarizer, summaries=summaries,
    )  # fmt: skip
