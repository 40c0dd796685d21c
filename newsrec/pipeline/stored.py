"""Vectors from the store; a damaged file ends in the command that makes it again."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from newsrec.corpus import Corpus
from newsrec.errors import StaleCacheError
from newsrec.protocols import Encoder
from newsrec.types import Embeddings

if TYPE_CHECKING:
    from newsrec.encode import EmbeddingStore


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


def getter(
    corpus: Corpus,
    encoder: Encoder,
    view: str,
    store: EmbeddingStore | None = None,
    words: Words | None = None,
    on_progress: Callable[[int, int], None] | None = None,
) -> Callable[[str], Embeddings]:
    """From a language to all news in it as ``encoder`` reads ``view``, kept in ``store`` (None: the
    usual one); missing vectors are encoded."""
    from newsrec.encode import EmbeddingStore

    kept = EmbeddingStore() if store is None else store

    def get(language: str) -> Embeddings:
        texts = corpus.texts(language)
        with remade(corpus, language, view, words):
            return kept.get(encoder, texts, view, corpus.fingerprint, on_progress=on_progress)

    return get
