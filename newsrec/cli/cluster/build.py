"""`newsrec cluster build`: cluster a corpus and keep the clusters."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from newsrec.cli.cluster.options import Dims, Encoder, Languages, Trust, codes
from newsrec.cli.options import Corpus


def build(
    corpus: Corpus = None,
    encoder: Encoder = "mini",
    lang: Languages = None,
    thresholds: Annotated[
        str | None,
        typer.Option(help="Cosines down to which each level merges. [measured for the encoder]"),
    ] = None,
    dims: Dims = None,
    linkage: Annotated[str, typer.Option(help="average or centroid.")] = "average",
    direction: Annotated[
        str, typer.Option(help="refine: coarse to fine; merge: fine to coarse.")
    ] = "refine",
    any_order: Annotated[
        bool, typer.Option("--any-order", help="Thresholds need not rise from level to level.")
    ] = False,
    out: Annotated[Path | None, typer.Option(help="File. [data/clusters/…]")] = None,
    trust: Trust = False,
) -> None:
    """Cluster a corpus into themes, topics and stories, and keep them."""
    from newsrec.cli.cluster.table import levels_table
    from newsrec.cli.progress import progress
    from newsrec.cli.words import numbers
    from newsrec.cluster import check_place
    from newsrec.pipeline.clusters import Cut, make_clusters, place_of
    from newsrec.pipeline.open import open_corpus
    from newsrec.pipeline.vectors import Vectors

    asked = Cut(
        codes(lang), numbers(thresholds, "--thresholds", float), numbers(dims, "--dims", int),
        linkage, direction, any_order,
    )  # fmt: skip
    if out is not None:
        check_place(out, "--out")
    opened = open_corpus(corpus)
    with progress("encoding") as report:
        vectors = Vectors(opened, encoder, trust_remote_code=trust, on_progress=report)
        cut = asked.fitted(opened, vectors.encoder.spec)
        place = out or place_of(opened, vectors.encoder.spec, cut)
        shelf = make_clusters(opened, vectors, cut, place)
    typer.echo(levels_table(shelf))
    typer.echo(f"wrote {place}")
