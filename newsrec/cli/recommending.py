"""What `newsrec recommend` does and prints."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import typer

from newsrec.cli import listing, page
from newsrec.cli.progress import progress
from newsrec.cluster.store import load_clusters
from newsrec.pipeline.open import open_corpus
from newsrec.pipeline.page import Recommendations, recommend
from newsrec.pipeline.request import Request
from newsrec.pipeline.variety import Variety
from newsrec.rank.mixed import exposure

_PRINT = {"table": page.table, "json": listing.json, "csv": listing.csv}


@dataclass(frozen=True, slots=True)
class Wanted:
    """From what to recommend, and how to print it."""

    corpus: Path | None
    encoder: str | None
    ranker: Path | None
    trust_remote_code: bool
    format: str


def run(wanted: Wanted, asked: Mapping[str, Any], **variety: Any) -> None:
    """``asked``: fields of `Request`; ``variety``: those of `Variety`."""
    request, varied = Request(**asked), Variety(**variety)
    _check_clusters(varied)
    opened = open_corpus(wanted.corpus)
    with progress("encoding") as on_progress:
        found = recommend(
            opened, request, variety=varied, encoder=wanted.encoder, ranker=wanted.ranker,
            trust_remote_code=wanted.trust_remote_code, on_progress=on_progress,
        )  # fmt: skip
    _tell(found, request)
    if not found.items and wanted.format != "table":
        typer.echo(f"newsrec: {listing.NOTHING}", err=True)
    typer.echo(_PRINT[wanted.format](found), nl=False)


def _check_clusters(varied: Variety) -> None:
    """A file of clusters that nothing asks for is read nonetheless: a wrong name is an error."""
    if varied.clusters is None or varied.asked:
        return
    load_clusters(varied.clusters)
    typer.echo(
        f"newsrec: --clusters {varied.clusters} is not used: the list is by relevance alone; give "
        "--diversity, --rerank, --max-per-story or --max-per-topic",
        err=True,
    )


def _tell(found: Recommendations, request: Request) -> None:
    """On stderr: why a list is not personal, and how much of a mixed one each language has."""
    if found.fallback:
        typer.echo(f"newsrec: {found.fallback}", err=True)
    if len(request.languages) > 1:
        shares = exposure([item.language for item in found.items]).items()
        shown = ", ".join(f"{language} {share:.0%}" for language, share in shares) or "none"
        removed = f"mean removed: {request.centre or 'language'}"
        how = "languages by turns" if found.fallback else removed
        typer.echo(f"newsrec: mixed shelf, {how}; exposure: {shown}", err=True)
