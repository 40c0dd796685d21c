"""Vectors from the store; a damaged file ends in the command that makes it again."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from newsrec.corpus import Corpus
from newsrec.errors import StaleCacheError


@dataclass(frozen=True, slots=True)
class Words:
    """How the command line names an encoder: ``nase:precision=int8``, and whether it is trusted."""

    encoder: str
    trust_remote_code: bool = False


@contextmanager
def remade(corpus: Corpus, language: str, view: str, words: Words | None) -> Iterator[None]:
    """`StaleCacheError` ends in the ``newsrec encode`` that makes the matrix again.

    ``words`` None: an encoder or a store that no command line has; the error stays as it is.
    """
    try:
        yield
    except StaleCacheError as error:
        if words is None:
            raise
        command = ["newsrec", "encode", "--corpus", str(corpus.folder), "--encoder", words.encoder]
        command += ["--lang", language, "--view", view, "--force"]
        command += ["--trust-remote-code"] * words.trust_remote_code
        raise StaleCacheError(f"{error}: {shlex.join(command)}") from None
