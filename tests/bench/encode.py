"""Encoding and the store: texts a second against sentence-transformers, and what opening costs.

The model has LaBSE's shape (BERT, 12 layers, 768 wide, CLS, dense, normalise) and random weights;
its vocabulary is cut from 501,153 to 20,005 words, which no layer's time depends on. Text lengths
are those of MIND's title and abstract (quantiles of 2,121 English articles: mean 54 words and
marks, 90 % between 15 and 109, the longest 493); one text in 90 is a repeat, as in xMIND. The ways
take turns over quarters of the texts, so that what else the machine does hits all of them.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from tests.bench import Row, measure

QUANTILES = (0, 0.01, 0.05, 0.25, 0.5, 0.75, 0.9, 0.95, 0.99, 1)
LENGTHS = (5, 9, 15, 30, 42, 85, 104, 109, 121, 493)
VOCABULARY = 20_000
LABSE = {
    "hidden_size": 768, "num_hidden_layers": 12, "num_attention_heads": 12,
    "intermediate_size": 3072, "max_position_embeddings": 512, "initializer_range": 0.02,
}  # fmt: skip
SMALL = {**LABSE, "hidden_size": 64, "num_hidden_layers": 2, "num_attention_heads": 4}
_QUARTER = ("encode", "single", "fp32")  # quoted, not the claim: a quarter of the texts is enough
LOOP = "SentenceTransformer.encode in a loop over batches of 32, in the order given"


def rows(quick: bool) -> Iterator[Row]:
    """The rows of this area; ``quick`` shrinks everything to seconds."""
    with TemporaryDirectory() as folder:
        yield from _sentence(Path(folder), quick)
        yield from _store(Path(folder), quick)
        yield from _lines(Path(folder), quick)


def _sentence(folder: Path, quick: bool) -> Iterator[Row]:
    n = 60 if quick else 2000
    shape = SMALL if quick else LABSE
    found, _, peak = measure("tests.bench.encode:sentences", folder=str(folder), n=n, shape=shape)
    plain = found["rates"]["loop"]
    reference = (
        f"{LOOP}: {plain:.1f}/s; encode(all texts): {found['rates']['encode']:.1f}/s; "
        f"one text a call: {found['rates']['single']:.1f}/s"
    )
    for precision, least in (("auto", 0.999), ("fp32", 0.999), ("int8", 0.98)):
        rate, texts = found["rates"][precision], n // 4 if precision in _QUARTER else n
        yield Row(
            name=f"encode {texts:,} MIND-length texts, LaBSE shape, {found['as'][precision]}",
            measured=f"{rate:.1f} texts/s, cosine ≥ {found['cosines'][precision]:.5f}",
            target=f"≥ 2× the loop, cosine ≥ {least}",
            reference=reference,
            ratio=rate / plain,
            peak_mb=peak,
        )


def sentences(folder: str, n: int, shape: dict[str, Any]) -> dict[str, Any]:
    """Every way over the same texts, in one process; texts a second and the worst cosine."""
    from sentence_transformers import SentenceTransformer

    from newsrec.encode import load_encoder

    model_folder = str(_model(Path(folder) / "model", shape))
    texts = mind_like(n)
    model = SentenceTransformer(model_folder, device="cpu")
    ways: dict[str, Any] = {
        "loop": lambda some: np.concatenate(
            [model.encode(some[i : i + 32]) for i in range(0, len(some), 32)]
        ),
        "encode": model.encode,
        "single": lambda some: [model.encode(text) for text in some[:50]],  # slow: a sample
    }
    used = {}
    for precision in ("auto", "fp32", "int8"):
        encoder = load_encoder(model_folder, precision=precision, device="cpu")
        used[precision] = encoder.spec.precision
        ways[precision] = encoder.encode
    for way in ways.values():
        way(texts[:4])
    seconds, vectors = dict.fromkeys(ways, 0.0), {name: [] for name in ways}
    for i, part in enumerate(texts[i::4] for i in range(4)):
        for name, way in ways.items():
            if name in _QUARTER and i > 0:
                continue
            start = time.perf_counter()
            vectors[name].append(way(part))
            seconds[name] += time.perf_counter() - start
    rates = {name: sum(map(len, vectors[name])) / seconds[name] for name in ways}
    vectors = {name: np.concatenate(vectors[name]) for name in ("loop", *used)}
    cosines = {name: _worst(vectors["loop"][: len(vectors[name])], vectors[name]) for name in used}
    return {"rates": rates, "cosines": cosines, "as": used}


def mind_like(n: int) -> list[str]:
    """``n`` texts of made-up words with MIND's lengths, one in 90 a repeat of an earlier one."""
    rng = np.random.default_rng(0)
    lengths = np.interp(rng.random(n), QUANTILES, LENGTHS).astype(int)
    texts = [" ".join(f"w{i}" for i in rng.integers(0, VOCABULARY, size)) for size in lengths]
    for i in range(89, n, 90):
        texts[i] = texts[int(rng.integers(0, i))]
    return texts


def _model(folder: Path, shape: dict[str, Any]) -> Path:
    import torch
    from sentence_transformers import SentenceTransformer
    from sentence_transformers.sentence_transformer.modules import (
        Dense,
        Normalize,
        Pooling,
        Transformer,
    )
    from transformers import BertConfig, BertModel

    from tests.encode.models import SPECIAL, tokenizer

    words = [f"w{i}" for i in range(VOCABULARY)]
    torch.manual_seed(0)
    plain = folder.with_name("plain")
    BertModel(BertConfig(vocab_size=len(SPECIAL) + len(words), **shape)).save_pretrained(plain)
    tokenizer(words, model_max_length=256).save_pretrained(plain)
    dim = shape["hidden_size"]
    modules = [Transformer(str(plain)), Pooling(dim, "cls"), Dense(dim, dim), Normalize()]
    SentenceTransformer(modules=modules, device="cpu").save(str(folder), create_model_card=False)
    return folder


def _worst(a: np.ndarray, b: np.ndarray) -> float:
    product = (a * b).sum(1) / np.linalg.norm(a, axis=1) / np.linalg.norm(b, axis=1)
    return float(product.min())


def _store(folder: Path, quick: bool) -> Iterator[Row]:
    n = 2000 if quick else 42_416
    filled, _, peak = measure("tests.bench.encode:fill_store", root=str(folder / "store"), n=n)
    opened, _, _ = measure("tests.bench.encode:fill_store", root=str(folder / "store"), n=n)
    assert (filled["encoded"], opened["encoded"]) == (n, 0)
    size = f"{n:,} × 768 float32"
    yield Row(
        f"store: keep {size}, batch by batch, beside the encoder",
        f"{filled['seconds']:.2f} s", "small beside any encoder", peak_mb=peak,
    )  # fmt: skip
    yield Row(
        f"store: open {size} again, checked",
        f"{opened['seconds'] * 1000:.1f} ms", "milliseconds",
        f"{filled['seconds'] * 1000:.0f} ms to make it", filled["seconds"] / opened["seconds"],
    )  # fmt: skip


def fill_store(root: str, n: int) -> dict[str, Any]:
    """Seconds of `EmbeddingStore.fill` with an encoder that costs nothing."""
    from newsrec.encode import EmbeddingStore
    from newsrec.types import EncoderSpec, Strings, Texts

    class Instant:
        spec = EncoderSpec("instant", "1", 768, "none", (768,), False)

        def encode(self, texts: list[str]) -> np.ndarray:
            return np.zeros((len(texts), 768), np.float32)

    titles = Strings.pack(f"title {i}" for i in range(n))
    shelf = Texts("eng", titles, Strings.pack(["abstract " * 30] * n), np.ones(n, np.bool_))
    start = time.perf_counter()
    made = EmbeddingStore(root).fill(Instant(), shelf, "title+abstract", "bench")
    return {"seconds": time.perf_counter() - start, "encoded": made.encoded}


def _lines(folder: Path, quick: bool) -> Iterator[Row]:
    n = 20_000 if quick else 1_000_000
    source = folder / "lines.txt"
    rng = np.random.default_rng(0)
    with source.open("w") as file:
        for _ in range(n // 1000):
            words = rng.integers(0, VOCABULARY, (1000, 10))
            file.writelines(" ".join(f"w{i}" for i in line) + "\n" for line in words)
    _table(folder / "table")
    found, _, peak = measure(
        "tests.bench.encode:lines", source=str(source), table=str(folder / "table")
    )
    assert found["n"] == n
    yield Row(
        f"newsrec encode --input: {n:,} lines of 10 words, static table {VOCABULARY:,} × 256",
        f"{n / found['seconds']:,.0f} lines/s", "bounded memory",
        f"the vectors are {n * 1024 / 1e6:,.0f} MB", peak_mb=peak,
    )  # fmt: skip


def _table(folder: Path) -> None:
    from newsrec.encode.static import write

    pieces = [("<unk>", 0.0), *((f"▁w{i}", -5.0) for i in range(VOCABULARY))]
    table = np.random.default_rng(0).standard_normal((len(pieces), 256)).astype(np.float32)
    write(folder, table, pieces, {}, (64, 128, 256))


def lines(source: str, table: str) -> dict[str, Any]:
    """Seconds of a plain file through the built-in encoder's code."""
    from newsrec.encode import encode_lines, load_encoder

    encoder = load_encoder(f"mini={table}")
    start = time.perf_counter()
    with open(source, "rb") as file:
        n, _ = encode_lines(encoder, file, Path(source).with_suffix(".npy"))
    return {"n": n, "seconds": time.perf_counter() - start}
