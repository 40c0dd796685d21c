"""`newsrec recommend`: a front page for one reader, with reasons."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from newsrec.cli.options import Corpus, Rerank


class Format(StrEnum):
    """How the list is printed."""

    table = "table"
    json = "json"
    csv = "csv"


def recommend(
    user: Annotated[str, typer.Option(help="Reader, as named in the clicks.")],
    lang: Annotated[str, typer.Option(help="Language of the shelf; several: fin,eng.")],
    corpus: Corpus = None,
    encoder: Annotated[
        str | None, typer.Option(help="Preset, model or folder. [mini, or the ranker's]")
    ] = None,
    ranker: Annotated[
        Path | None, typer.Option(help="Folder of `newsrec train`. [late fusion]")
    ] = None,
    k: Annotated[int, typer.Option(help="Length of the list.")] = 10,
    history_lang: Annotated[
        str | None, typer.Option(help="Read the history in this language, not as it was read.")
    ] = None,
    as_of: Annotated[
        str | None, typer.Option(metavar="TIME", help="Now, in UTC. [the log's last moment]")
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
    rerank: Rerank = None,
    diversity: Annotated[
        float | None, typer.Option(help="0: by relevance, 1: variety alone. [tuned, or measured]")
    ] = None,
    max_per_story: Annotated[int | None, typer.Option(help="Articles of one story.")] = None,
    max_per_topic: Annotated[int | None, typer.Option(help="Articles of one topic.")] = None,
    clusters: Annotated[
        Path | None, typer.Option(help="File of `newsrec cluster build`. [the corpus's own]")
    ] = None,
    trust: Annotated[
        bool, typer.Option("--trust-remote-code", help="Run code that comes with a model.")
    ] = False,
    format: Annotated[Format, typer.Option(help="What to print.")] = Format.table,
) -> None:
    """Rank the whole shelf of a language for one reader, and say why."""
    from newsrec.cli.recommending import Wanted, run

    asked = {
        "user": user, "languages": lang, "k": k, "history_language": history_lang, "as_of": as_of,
        "max_age": max_age, "centre": centre,
    }  # fmt: skip
    limits = {"story": max_per_story, "topic": max_per_topic}
    run(
        Wanted(corpus, encoder, ranker, trust, format.value),
        asked,
        rerank=rerank,
        diversity=diversity,
        at_most={aspect: n for aspect, n in limits.items() if n is not None},
        clusters=clusters,
    )
