"""`newsrec recbole`: a corpus as RecBole's files, and RecBole's models measured beside ours."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

app = typer.Typer(help="RecBole's files and models.", no_args_is_help=True)

_Corpus = Annotated[
    Path | None,
    typer.Option(envvar="NEWSREC_CORPUS", help="Prepared corpus; default: bundled sample."),
]
_Trust = Annotated[bool, typer.Option("--trust-remote-code", help="Run Python code of models.")]


@app.command()
def export(
    out: Annotated[Path, typer.Option(help="Folder to write; its name is the data set's.")],
    corpus: _Corpus = None,
    split: Annotated[
        str | None, typer.Option(help="Earliest first: train,valid,test. [all with labels]")
    ] = None,
    encoder: Annotated[
        str | None, typer.Option(help="Also .itememb: mini, nase:precision=int8, …")
    ] = None,
    langs: Annotated[str, typer.Option(help="Of .itememb: eng,fin.")] = "eng",
    view: Annotated[str, typer.Option(help="What the encoder reads.")] = "title+abstract",
    trust_remote_code: _Trust = False,
) -> None:
    """Write .inter, .user, .item and, with --encoder, .itememb files for RecBole."""
    from newsrec.cli.recbole_runs import write

    write(corpus, out, split, encoder, langs, view, trust_remote_code)


@app.command()
def run(
    model: Annotated[str, typer.Option(help="BPR,SASRec,GRU4Rec,…; a wrong one lists them.")],
    corpus: _Corpus = None,
    python: Annotated[
        Path | None, typer.Option(help="Interpreter that has RecBole. [.venv-recbole/bin/python]")
    ] = None,
    epochs: Annotated[int, typer.Option(help="No early stopping.")] = 10,
    set_: Annotated[
        str, typer.Option("--set", help="RecBole's options: learning_rate=0.01,embedding_size=32.")
    ] = "",
    train_on: Annotated[str, typer.Option(help="Splits before the one measured.")] = "train",
    measured_readers: Annotated[
        bool, typer.Option("--measured-readers", help="Also on what they read before that split.")
    ] = False,
    force: Annotated[bool, typer.Option("--force", help="Train what is stored again.")] = False,
    split: Annotated[str, typer.Option(help="Split that is measured.")] = "test",
    ranker: Annotated[str, typer.Option(help="In the same table and tests.")] = "fusion,random",
    encoder: Annotated[str, typer.Option(help="Of those rankers.")] = "mini",
    trust_remote_code: _Trust = False,
    langs: Annotated[str | None, typer.Option(help="Shelves. [all of the corpus]")] = None,
    history_lang: Annotated[str | None, typer.Option(help="As in newsrec evaluate.")] = None,
    protocol: Annotated[str, typer.Option(help="newsrec or newsreclib.")] = "newsrec",
    metrics: Annotated[str | None, typer.Option(help="Sets or names.")] = None,
    seeds: Annotated[str, typer.Option(help="Several: 42,43,44.")] = "42",
    json: Annotated[Path | None, typer.Option(help="Also write the results here.")] = None,
    out: Annotated[Path | None, typer.Option(help="Folder of the report. [data/runs/…]")] = None,
    tracking_uri: Annotated[str | None, typer.Option(help="MLflow.")] = None,
    no_track: Annotated[bool, typer.Option("--no-track", help="Record nothing.")] = False,
) -> None:
    """Train RecBole's models in RecBole's environment; measure them on newsrec's impressions."""
    from newsrec.cli.evaluation import Wanted
    from newsrec.cli.recbole_runs import Learnt, train

    given = {
        "corpus": corpus, "encoders": encoder, "rankers": ranker, "langs": langs,
        "trust_remote_code": trust_remote_code, "history_lang": history_lang, "split": split,
        "protocol": protocol, "metrics": metrics, "seeds": seeds,
    }  # fmt: skip
    wanted = Wanted(given, None, json, out, None, tracking_uri, no_track)
    learnt = Learnt(model, epochs, set_, train_on, measured_readers)
    train(wanted, learnt, python, force)
