"""What `newsrec cluster show` does and prints."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import typer

from newsrec.cli.cluster.tree import lines
from newsrec.cli.stages import Stages
from newsrec.cluster.figures import draw
from newsrec.cluster.page.render import write_page
from newsrec.errors import ConfigError, DataError
from newsrec.languages import canonical
from newsrec.pipeline.clusters import clusters
from newsrec.pipeline.naming import Naming
from newsrec.pipeline.open import open_corpus
from newsrec.pipeline.overview import overview
from newsrec.pipeline.report_files import check_outputs
from newsrec.pipeline.vectors import Vectors


@dataclass(frozen=True, slots=True)
class Look:
    """What to look at, and in which language."""

    corpus: Path | None
    encoder: str
    clusters: Path | None
    language: str
    trust_remote_code: bool
    top: int


def run(
    look: Look, *, html: Path | None, png: Path | None, summarizer: str | None, summaries: int
) -> None:
    """Print the tree, or write what was asked for."""
    if look.top < 1 or summaries < 0:
        raise ConfigError("--top: expected at least 1, --summaries: at least 0")
    check_outputs(None, {"--html": html})
    if png is not None and png.exists() and not png.is_dir():
        raise DataError(f"--png: {png} is a file, expected a folder")
    language, opened = canonical(look.language, "--lang"), open_corpus(look.corpus)
    failures: list[str] = []
    with Stages() as stages:
        trust = look.trust_remote_code
        vectors = Vectors(
            opened, look.encoder, trust_remote_code=trust, on_progress=stages.of("encoding")
        )
        written = summarizer or ("extractive" if html is not None else None)
        told = None
        if written is not None:
            from newsrec import build

            told = build.summarizer(written, vectors.encoder.encode)
        shelf = clusters(opened, vectors, path=look.clusters)
        view = overview(
            opened, shelf, Naming(opened, vectors, shelf), language, summarizer=told,
            most=summaries, on_progress=stages.of("summing up"), on_failure=failures.append,
        )  # fmt: skip
    if html is not None:
        write_page(html, view, title=f"{opened.name}: themes, topics, stories")
        typer.echo(f"wrote {html}")
    if png is not None:
        typer.echo("wrote " + ", ".join(map(str, draw(view, png))))
    if html is None and png is None:
        typer.echo("\n".join(lines(view, look.top)))
    if failures:
        raise DataError(f"{len(failures)} without a summary; the first: {failures[0]}")
