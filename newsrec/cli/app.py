"""The commands joined, and how their errors reach the reader."""

from __future__ import annotations

import sys

import typer

from newsrec.cli import (
    cluster,
    encode,
    evaluate,
    prepare,
    recbole,
    recommend,
    reproduce,
    train,
    tune,
    tune_diversity,
)
from newsrec.cli.printable import write_every_script
from newsrec.errors import NewsrecError

app = typer.Typer(
    name="newsrec",
    help="Cross-lingual news recommendation that needs no training, and can be trained.",
    no_args_is_help=True, add_completion=False, pretty_exceptions_enable=False,
    rich_markup_mode=None,
)  # fmt: skip
app.add_typer(prepare.app, name="prepare")
app.command("encode")(encode.encode)
app.add_typer(cluster.app, name="cluster")
app.command("recommend")(recommend.recommend)
app.command("evaluate")(evaluate.evaluate)
app.command("train")(train.train)
app.command("tune")(tune.tune)
app.command("tune-diversity")(tune_diversity.tune_diversity)
app.add_typer(recbole.app, name="recbole")
app.add_typer(reproduce.app, name="reproduce")


def _version(wanted: bool) -> None:
    if wanted:
        from newsrec import __version__

        typer.echo(f"newsrec {__version__}")
        raise typer.Exit


@app.callback()
def _root(
    version: bool = typer.Option(
        False, "--version", callback=_version, is_eager=True, help="Print the version and stop."
    ),
) -> None:
    """Cross-lingual news recommendation that needs no training, and can be trained."""


def main() -> None:
    """Run; errors meant for the reader end in one line on stderr and their exit code."""
    write_every_script()
    try:
        app()
    except NewsrecError as error:
        typer.echo(f"newsrec: {error}", err=True)
        sys.exit(error.exit_code)
    except KeyboardInterrupt:
        sys.exit(130)
    except BrokenPipeError:
        sys.exit(1)
    except OSError as error:  # a full disk, a folder that may not be written
        typer.echo(f"newsrec: {error}", err=True)
        sys.exit(NewsrecError.exit_code)
