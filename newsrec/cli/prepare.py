"""`newsrec prepare`: raw data to a corpus folder."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import typer

app = typer.Typer(help="Read articles and clicks into a corpus folder.", no_args_is_help=True)

_Out = Annotated[Path, typer.Option(help="Corpus folder to write, such as data/corpus/NAME.")]
_Clicks = Annotated[Path | None, typer.Option(help="user, article, time (+ impression, shown).")]
_Missing = Annotated[float, typer.Option(help="Largest share of clicked ids without an article.")]
_Keep = Annotated[bool, typer.Option(help="An id with several texts: keep the first, count it.")]


@app.command()
def mind(
    raw: Annotated[Path, typer.Argument(help="Folder (or zip) with MIND and xmind/LANGUAGE/.")],
    out: _Out,
    split: Annotated[str, typer.Option(help="Split of bare news.tsv, behaviors.tsv.")] = "test",
    protocol: Annotated[
        str, typer.Option(help="newsrec, or newsreclib: no cold readers, oldest 50 clicks.")
    ] = "newsrec",
    valid_from: Annotated[str, typer.Option(help="Cuts MIND train.")] = "2019-11-14T00:00:00",
    max_missing: _Missing = 0.5,
    lang: Annotated[str, typer.Option(help="Language of news.tsv.")] = "eng",
    size: Annotated[str | None, typer.Option(help="Of several sets: small, large, demo.")] = None,
    keep_first: _Keep = False,
    first_shown: Annotated[bool, typer.Option(help="Published when first shown.")] = True,
    news_only: Annotated[bool, typer.Option(help="Prepare news without clicks.")] = False,
) -> None:
    """MIND (small, large, demo) and xMIND, as folders, .tsv, .tsv.gz, .zip or parquet."""
    from newsrec.corpus.mind import MindOptions, prepare_mind
    from newsrec.corpus.times import parse_option
    from newsrec.languages import canonical

    cut, spoken = parse_option("--valid-from", valid_from), canonical(lang, "--lang")
    options = MindOptions(
        split, protocol, cut, max_missing, spoken, size, keep_first, first_shown, news_only
    )
    _run("reading behaviors, bytes", prepare_mind, raw, out, options)


@app.command()
def articles(
    articles: Annotated[Path, typer.Argument(help="id, language, title; CSV, JSONL, Parquet.")],
    out: _Out,
    clicks: _Clicks = None,
    columns: Annotated[str, typer.Option(help="Renames: id=nid,title=headline.")] = "",
    valid_from: Annotated[str, typer.Option(help="Default: 80 % of the clicks lie before.")] = "",
    test_from: Annotated[str, typer.Option(help="Default: 90 % of the clicks lie before.")] = "",
    negatives: Annotated[int, typer.Option(help="Unclicked articles to add to a click.")] = 0,
    negatives_days: Annotated[float, typer.Option(help="Published so long before it.")] = 7.0,
    seed: Annotated[int, typer.Option(help="Of the draw of negatives.")] = 42,
    max_missing: _Missing = 0.5,
    max_history: Annotated[int, typer.Option(help="Newest clicks stored of a reader.")] = 200,
    keep_first: _Keep = False,
) -> None:
    """Articles of your own, and clicks; shelves of several languages are normal."""
    from newsrec.corpus.own import ArticleOptions, prepare_articles
    from newsrec.corpus.times import parse_option

    valid, test = parse_option("--valid-from", valid_from), parse_option("--test-from", test_from)
    draw = (negatives, negatives_days, seed)
    options = ArticleOptions(columns, valid, test, *draw, max_missing, max_history, keep_first)
    _run("reading rows", prepare_articles, articles, clicks, out, options)


def _run(what: str, prepare: Callable[..., Any], *given: Any) -> None:
    from newsrec.cli.progress import progress

    made_by = "newsrec " + shlex.join(sys.argv[1:])
    with progress(what) as report:
        corpus, found = prepare(*given, made_by=made_by, on_progress=report)
    typer.echo("\n".join([*found.lines(), f"wrote {corpus.folder} ({corpus.fingerprint})"]))
