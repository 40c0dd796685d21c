"""Options that several commands take."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

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
Clusters = Annotated[
    str | None, typer.Option(help="auto, FILE or none. [auto if --rerank needs them]")
]
