"""`newsrec cluster tune`: thresholds from judged pairs of articles."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from newsrec.cli.cluster.options import Dims, Encoder, Languages, Trust, build_command, codes
from newsrec.cli.options import Corpus

#: Fewer judged pairs of a kind say little.
_FEW = 30


def tune(
    pairs: Annotated[
        Path | None,
        typer.Option(help="Table of id1, id2 (or text1, text2, lang1, lang2) and overall or same."),
    ] = None,
    stories: Annotated[
        bool, typer.Option("--stories", help="By the corpus's categories and story ids.")
    ] = False,
    corpus: Corpus = None,
    encoder: Encoder = "mini",
    lang: Languages = None,
    dims: Dims = None,
    linkage: Annotated[str, typer.Option(help="average or centroid.")] = "average",
    out: Annotated[Path | None, typer.Option(help="Folder for curves.png, curves.json.")] = None,
    trust: Trust = False,
) -> None:
    """Choose the threshold of each level by the best F1 over pairs."""
    from newsrec.cli.cluster.table import curves_table
    from newsrec.cli.progress import progress
    from newsrec.cli.words import numbers
    from newsrec.cluster.curves import chosen, draw_curves
    from newsrec.cluster.levels import dims_of
    from newsrec.cluster.shelf import level_names
    from newsrec.errors import ConfigError
    from newsrec.files import write_json
    from newsrec.pipeline.open import open_corpus
    from newsrec.pipeline.thresholds import tuned_curves
    from newsrec.pipeline.vectors import Vectors
    from newsrec.places import check_file

    if (pairs is None) == (not stories):
        raise ConfigError("give either --pairs FILE, judged pairs of articles, or --stories")
    if out is not None:
        check_file(out / "curves.png", "--out")
    opened = open_corpus(corpus)
    with progress("encoding") as report:
        vectors = Vectors(opened, encoder, trust_remote_code=trust, on_progress=report)
        sizes = dims_of(vectors.encoder.spec, 3, numbers(dims, "--dims", int))
        curves = tuned_curves(pairs, opened, vectors, sizes, codes(lang), linkage, report)
    rows = chosen(curves, level_names(len(curves)))
    typer.echo(curves_table(rows))
    if out is not None:
        draw_curves(curves, level_names(len(curves)), out / "curves.png")
        write_json(out / "curves.json", rows)
        typer.echo(f"wrote {out / 'curves.png'}, {out / 'curves.json'}")
    fewest = min(min(r["together"], r["apart"]) for r in rows)
    if fewest < _FEW:
        typer.echo(
            f"newsrec: only {fewest} pairs of a kind at one level: too few to go by", err=True
        )
    found = ",".join(f"{r['threshold']:.2f}" for r in rows)
    values = [r["threshold"] for r in rows]
    given = {
        "--corpus": corpus, "--encoder": encoder, "--lang": lang, "--thresholds": found,
        "--dims": dims, "--linkage": linkage, "--any-order": values != sorted(values),
        "--trust-remote-code": trust,
    }  # fmt: skip
    typer.echo(build_command(given))
