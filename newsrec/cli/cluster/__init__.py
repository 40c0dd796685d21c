"""`newsrec cluster`: themes, topics and stories of a corpus; one file per command."""

from __future__ import annotations

import typer

from newsrec.cli.cluster.build import build
from newsrec.cli.cluster.show import show
from newsrec.cli.cluster.tune import tune
from newsrec.cli.cluster.update import update

app = typer.Typer(help="Themes, topics and stories of a corpus.", no_args_is_help=True)
for command in (build, update, tune, show):
    app.command(command.__name__)(command)
