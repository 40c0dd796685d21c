"""`newsrec reproduce`: the tables and figures of paper 004, measured again."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Annotated

import typer

from newsrec.cli.options import Corpus

app = typer.Typer(
    help='Tables 2 and 3 and figures 2, 4 and 5 of "News Without Borders", beside the paper\'s.',
    no_args_is_help=True,
)


def _command(what: str, about: str) -> Callable[..., None]:
    """The three commands take the same options."""

    def command(
        out: Annotated[Path, typer.Option(help="Folder of cells, tables and figures.")],
        raw: Annotated[
            Path | None, typer.Option(help="Folder with MIND and xMIND, prepared into OUT/corpus.")
        ] = None,
        corpus: Corpus = None,
        encoders: Annotated[
            str, typer.Option(help="Of the paper, or others: nase,LaBSE=/models/labse,mini.")
        ] = "xlm-r,labse,nase",
        rows: Annotated[
            str, typer.Option(help="Models: LFRec-SCL,NAML:frozen. [all of the paper's]")
        ] = "",
        protocols: Annotated[
            str, typer.Option(help="The paper's and newsrec's.")
        ] = "newsreclib,newsrec",
        seeds: Annotated[str, typer.Option(help="One run each.")] = "42,43,44",
        lang: Annotated[str | None, typer.Option(help="Trained in. [eng if there]")] = None,
        langs: Annotated[str, typer.Option(help="Measured: eng,fin. [all of the corpus]")] = "",
        train: Annotated[str, typer.Option(help="Split to learn from.")] = "train",
        valid: Annotated[
            str | None, typer.Option(help="Split, share (0.1) or none. [valid, else 0.1]")
        ] = None,
        test: Annotated[str, typer.Option(help="Split to measure on.")] = "test",
        trainable: Annotated[
            str, typer.Option(help="Fine-tuned rows: last4+embeddings as published, last4, all.")
        ] = "last4+embeddings",
        set_: Annotated[
            str, typer.Option("--set", help="Other than the paper's: epochs=3,batch=16.")
        ] = "",
        device: Annotated[str | None, typer.Option(help="To train on: cpu, cuda.")] = None,
        quick: Annotated[
            bool, typer.Option("--quick", help="Few impressions, two languages, 1 epoch, 1 seed.")
        ] = False,
        plan: Annotated[
            bool, typer.Option("--plan", help="Measure short runs, say what all would cost.")
        ] = False,
        trust_remote_code: Annotated[
            bool, typer.Option("--trust-remote-code", help="Run Python code of model repos.")
        ] = False,
    ) -> None:
        from newsrec.cli.reproducing import run

        run({
            "what": what, "out": out, "raw": raw, "corpus": corpus, "encoders": encoders,
            "wanted": rows, "protocols": protocols, "seeds": seeds, "lang": lang, "langs": langs,
            "train": train, "valid": valid, "test": test, "tuning": trainable, "options": set_,
            "device": device, "quick": quick, "trust_remote_code": trust_remote_code,
        }, plan)  # fmt: skip

    command.__doc__ = about
    return command


app.command("table2")(_command("table2", "All heads and encoders, frozen and fine-tuned."))
app.command("table3")(_command("table3", "Few-shot: 10, 50 and 100 training impressions."))
app.command("figures")(_command("figures", "Figures 2, 4 and 5: nDCG@10 of LFRec by language."))
