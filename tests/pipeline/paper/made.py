"""A small model with LaBSE's shape and random weights that reads any script, and a MIND folder."""

from __future__ import annotations

import shutil
from pathlib import Path

from newsrec.corpus import Corpus
from tests.encode.models import SPECIAL, bert, tokenizer


def small_labse(folder: Path, corpus: Corpus, languages: tuple[str, ...], seed: int = 0) -> Path:
    """BERT with a pooler, five layers 32 wide; its pieces are the characters of ``corpus``."""
    found: set[str] = set()
    for language in languages:
        for text in corpus.texts(language).view("title+abstract"):
            found |= set(text)
    signs = sorted(sign for sign in found if not sign.isspace())
    pieces = [*signs, *(f"##{sign}" for sign in signs)]
    bert(folder, seed=seed, vocab_size=len(SPECIAL) + len(pieces), num_hidden_layers=5,
         max_position_embeddings=48)  # fmt: skip
    tokenizer(pieces, model_max_length=48).save_pretrained(folder)
    return folder


def mandarin_raw(shared: Path, folder: Path) -> Path:
    """Real clicks of 9 to 14 November 2019 as MIND's training folder, with the Mandarin shelf."""
    train = folder / "MINDsmall_train"
    train.mkdir(parents=True)
    shutil.copy(shared / "mind" / "behaviors.tsv.gz", train / "behaviors.tsv.gz")
    shutil.copy(shared / "mind" / "news.tsv.gz", train / "news.tsv.gz")
    shutil.copy(shared / "mind" / "xmind_cmn_news.tsv.gz", folder / "xmind_cmn_news.tsv.gz")
    return folder
