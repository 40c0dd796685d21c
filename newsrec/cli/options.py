"""Options that several commands take."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer


class Protocol(StrEnum):
    """Whose rules for histories and metrics hold."""

    newsrec = "newsrec"
    newsreclib = "newsreclib"


Corpus = Annotated[
    Path | None,
    typer.Option(envvar="NEWSREC_CORPUS", help="Prepared corpus; default: bundled sample."),
]
Trust = Annotated[
    bool | None, typer.Option("--trust-remote-code", help="Run Python code of model repos.")
]
HistoryLang = Annotated[
    str | None, typer.Option(help="Language of histories, or own: as read. [the shelf's]")
]
TrackingUri = Annotated[str | None, typer.Option(help="MLflow. [sqlite:///data/runs/mlflow.db]")]
NoTrack = Annotated[bool, typer.Option("--no-track", help="Record nothing in MLflow.")]
Rerank = Annotated[
    str | None,
    typer.Option(
        help="mmr, dpp, xquad:aspect=topic, 'manner:weights={theme: -0.3}', … "
        "[dpp with --diversity]"
    ),
]
Clusters = Annotated[
    str | None, typer.Option(help="auto, FILE or none. [auto if --rerank needs them]")
]
Rules = Annotated[
    Protocol | None, typer.Option(help="newsreclib: oldest 50 clicks, no cold readers.")
]
CompleteOnly = Annotated[
    bool | None, typer.Option("--complete-only", help="Only lists that have text throughout.")
]
ConfigFile = Annotated[Path | None, typer.Option(help="YAML; options given here win over it.")]
