"""`newsrec cluster update`: yesterday's clusters for today's corpus."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from newsrec.cli.cluster.options import Encoder, Trust
from newsrec.cli.options import Corpus


def update(
    clusters: Annotated[Path, typer.Option(help="File of `newsrec cluster build`.")],
    corpus: Corpus = None,
    encoder: Encoder = "mini",
    out: Annotated[Path | None, typer.Option(help="File to write. [the same]")] = None,
    window: Annotated[
        str | None, typer.Option(help="Stories without an article for so long close: 36h, 7d.")
    ] = None,
    rebuild: Annotated[
        bool, typer.Option("--rebuild", help="Cluster everything anew; numbers are kept.")
    ] = False,
    json: Annotated[Path | None, typer.Option(help="Write what became of each cluster.")] = None,
    trust: Trust = False,
) -> None:
    """Put new articles into clusters that keep their numbers, and say what became of them."""
    from dataclasses import asdict

    from newsrec.cli.cluster.table import changes_table, levels_table
    from newsrec.cli.progress import progress
    from newsrec.cluster import check_place, load_clusters, save_clusters
    from newsrec.errors import ConfigError
    from newsrec.files import write_json
    from newsrec.pipeline.clusters import renewed
    from newsrec.pipeline.open import open_corpus
    from newsrec.pipeline.request import duration
    from newsrec.pipeline.vectors import Vectors
    from newsrec.places import check_file

    if window is not None and rebuild:
        raise ConfigError("--window and --rebuild exclude each other: a rebuild closes no story")
    place = out or clusters
    check_place(place, "--clusters" if out is None else "--out")
    if json is not None:
        check_file(json, "--json")
        if json.resolve() in (clusters.resolve(), place.resolve()):
            raise ConfigError(f"--json: {json} is the file of the clusters; name another place")
    span = None if window is None else duration(window, "--window")
    old, opened = load_clusters(clusters), open_corpus(corpus)
    with progress("encoding") as report:
        vectors = Vectors(opened, encoder, trust_remote_code=trust, on_progress=report)
        shelf, changes = renewed(old, opened, vectors, whole=rebuild, window=span)
    save_clusters(place, shelf)
    if json is not None:
        levels = zip(shelf.levels, changes, strict=True)
        write_json(json, {name: asdict(c) | {"ids": c.ids.tolist()} for name, c in levels})
    typer.echo(levels_table(shelf))
    typer.echo(changes_table(shelf.levels, changes))
    typer.echo(f"wrote {place}")
