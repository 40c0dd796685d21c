"""The built-in encoder against model2vec with a table of the same size, in the same run."""

from __future__ import annotations

import gzip
import os
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from tests.bench import Row, best_of, measure


def titles(n: int) -> list[str]:
    """Real MIND titles where the shared data is there, else English-like words; all distinct."""
    folder = Path(os.environ.get("NEWSREC_SHARED", "../shared/data")) / "mind" / "news.tsv.gz"
    if folder.exists():
        with gzip.open(folder, "rt", encoding="utf-8") as file:
            rows = [line.split("\t") for line in file]
        words = " ".join(row[4] for row in rows).split()
        # Further on, stretches of the abstracts as long as titles: real words at their real rates.
        found = [row[3] for row in rows]
        found += [" ".join(words[i : i + 10]) for i in range(0, len(words), 10)]
    else:
        rng = np.random.default_rng(0)
        letters = np.array(list("etaoinshrdlucmfwyp"))
        words = ["".join(rng.choice(letters, size=k)) for k in rng.integers(2, 11, 5000)]
        found = [" ".join(words[i] for i in rng.zipf(1.3, 10).clip(max=4999)) for _ in range(2000)]
    rng = np.random.default_rng(1)  # reorder the words of further copies: no title comes twice
    while len(found) < n:
        found += [" ".join(rng.permutation(title.split())) for title in found[: n - len(found)]]
    return found[:n]


def rows(quick: bool) -> Iterator[Row]:
    """Throughput, then what a fresh process pays to encode one title."""
    n = 2_000 if quick else 9_000  # model2vec starts processes of its own from 10,000 on
    result, _, peak = measure("tests.bench.static:throughput", n=n)
    ours, theirs = n / result["newsrec"], n / result["model2vec"]
    yield Row(
        f"mini, {n:,} MIND titles and openings as long",
        f"{ours:,.0f} titles/s",
        "≥ 15,000 titles/s, ≥ 1×",
        f"{theirs:,.0f} titles/s (model2vec, same pieces, same table in float32)",
        ours / theirs,
        peak,
    )
    result, _, peak = measure("tests.bench.static:first_vector")
    yield Row("mini, load and encode one title", f"{result:.2f} s", "", peak_mb=peak)


def throughput(n: int) -> dict[str, float]:
    """Seconds of each for ``n`` titles: five rounds, one after the other, the best of each."""
    from newsrec.encode.static import StaticEncoder

    texts, ours = titles(n), StaticEncoder()
    reference = same_size(ours)
    seconds = {"newsrec": float("inf"), "model2vec": float("inf")}
    for _ in range(5):
        for name, call in (("newsrec", ours.encode), ("model2vec", reference.encode)):
            seconds[name] = min(seconds[name], best_of(1, lambda call=call: call(texts)))
    return seconds


def same_size(encoder: Any) -> Any:
    """A model2vec model with the encoder's pieces and as many numbers; its text is cleaned by
    the normaliser of `tokenizers` and words are marked there, as model2vec's own models do."""
    from model2vec import StaticModel
    from tokenizers import Tokenizer, normalizers, pre_tokenizers

    tokenizer = Tokenizer.from_str(encoder._tokenizer.to_str())
    tokenizer.normalizer = normalizers.Sequence([normalizers.NFKC(), normalizers.Lowercase()])
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace(prepend_scheme="always")
    size = (tokenizer.get_vocab_size(), encoder.dim)
    table = np.random.default_rng(0).standard_normal(size, dtype=np.float32)
    return StaticModel(table, tokenizer, normalize=True)


def first_vector() -> float:
    """Seconds from nothing imported to one vector."""
    start = time.perf_counter()
    from newsrec.encode.static import StaticEncoder

    StaticEncoder().encode(["Rain floods the harbour"])
    return time.perf_counter() - start
