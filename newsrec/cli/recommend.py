"""`newsrec recommend`: a front page for one reader, with reasons."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer


class Format(StrEnum):
    """How the list is printed."""

    table = "table"
    json = "json"
    csv = "csv"


def recommend(
    user: Annotated[str, typer.Option(help="Reader, as named in the clicks.")],
    lang: Annotated[str, typer.Option(help="Language of the shelf; several: fin,eng.")],
    corpus: Annotated[
        Path | None,
        typer.Option(envvar="NEWSREC_CORPUS", help="Prepared corpus; default: bundled sample."),
    ] = None,
    encoder: Annotated[str, typer.Option(help="Preset, model name or local folder.")] = "mini",
    k: Annotated[int, typer.Option(help="Length of the list.")] = 10,
    history_lang: Annotated[
        str | None, typer.Option(help="Read the history in this language, not as it was read.")
    ] = None,
    as_of: Annotated[
        str | None,
        typer.Option(metavar="TIME", help="Now, in UTC; default: the log's last moment."),
    ] = None,
    max_age: Annotated[
        str | None, typer.Option(help="Only articles at most this old: 36h, 7d, 2w.")
    ] = None,
    centre: Annotated[
        str | None,
        typer.Option(
            help="Mean vector to remove: none, global, language; default: the encoder's for one "
            "language, language for several."
        ),
    ] = None,
    trust: Annotated[
        bool, typer.Option("--trust-remote-code", help="Run code that comes with a model.")
    ] = False,
    format: Annotated[Format, typer.Option(help="What to print.")] = Format.table,
) -> None:
    """Rank the whole shelf of a language for one reader, and say why."""
    from newsrec.cli import listing
    from newsrec.cli.progress import progress
    from newsrec.pipeline.open import open_corpus
    from newsrec.pipeline.page import recommend
    from newsrec.pipeline.request import Request
    from newsrec.rank.mixed import exposure

    words: dict[str, Any] = {"languages": lang, "as_of": as_of, "max_age": max_age}
    request = Request(user=user, k=k, history_language=history_lang, centre=centre, **words)
    opened = open_corpus(corpus)
    with progress("encoding") as on_progress:
        found = recommend(
            opened, request, encoder=encoder, trust_remote_code=trust, on_progress=on_progress
        )
    if found.fallback:
        typer.echo(f"newsrec: {found.fallback}", err=True)
    elif len(request.languages) > 1:
        shares = exposure([item.language for item in found.items]).items()
        shown = ", ".join(f"{language} {share:.0%}" for language, share in shares)
        removed = f"mean removed: {request.centre or 'language'}"
        typer.echo(f"newsrec: mixed shelf, {removed}; exposure: {shown}", err=True)
    if not found.items and format is not Format.table:
        typer.echo(f"newsrec: {listing.NOTHING}", err=True)
    print_as = {"table": listing.table, "json": listing.json, "csv": listing.csv}
    typer.echo(print_as[format.value](found), nl=False)
