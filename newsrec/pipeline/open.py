"""The corpus a command works on."""

from __future__ import annotations

from pathlib import Path

from newsrec.corpus import Corpus


def open_corpus(folder: Path | str | None = None) -> Corpus:
    """The prepared corpus in ``folder``; None is the bundled sample."""
    if folder is not None:
        return Corpus.open(folder)
    from newsrec.corpus.sample import open_sample

    return open_sample()
