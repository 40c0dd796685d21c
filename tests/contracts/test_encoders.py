"""The laws of every encoder: one list of implementations, one suite.

A new encoder is one row in `ROWS`: a function from an empty folder to an encoder.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from newsrec.encode import load_encoder
from newsrec.encode.static import write
from newsrec.errors import DataError
from newsrec.protocols import Encoder
from newsrec.types import Embeddings, EmbeddingSpec
from newsrec.types.embeddings import unit_rows
from tests.encode import models


def static(folder: Path) -> Encoder:
    pieces = [("<unk>", 0.0), *((f"▁{word}", -5.0) for word in models.WORDS)]
    table = np.random.default_rng(0).standard_normal((len(pieces), 32)).astype(np.float32)
    write(folder / "static", table, pieces, {}, (8, 16, 32))
    return load_encoder(f"mini={folder / 'static'}")


def bundled(folder: Path) -> Encoder:
    return load_encoder("mini")


def plain(**options: object) -> Callable[[Path], Encoder]:
    return lambda folder: load_encoder(str(models.bert(folder / "bert")), **options)  # type: ignore[arg-type]


ROWS: dict[str, Callable[[Path], Encoder]] = {
    "static": static,
    "mini": bundled,
    "mean": plain(),
    "cls": plain(pooling="cls"),
    "max": plain(pooling="max"),
    "lasttoken": plain(pooling="lasttoken"),
    "pooler": plain(pooling="pooler"),
    "normalized": plain(normalize=True, levels=(8, 16)),
    "prefix": plain(prefix="w1 w2 "),
    "one text a batch": plain(batch_size=1),
    "int8": plain(precision="int8"),
    "bf16": plain(precision="bf16"),
    "nase": lambda folder: load_encoder(f"nase={models.bert(folder / 'bert')}"),
    "labse": lambda folder: load_encoder(f"labse={models.pipeline(folder / 'labse')}"),
    "me5-base": lambda folder: load_encoder(f"me5-base={models.xlm_roberta(folder / 'xlmr')}"),
    "no marks": lambda folder: load_encoder(str(models.bert(folder / "bare", marks=False))),
    "static pipeline": lambda folder: load_encoder(str(models.static_pipeline(folder / "bag"))),
}
TEXTS = [*models.sentences(30), "", "w3", "w3", "unknown words!", "w5 " * 300, " ", "\ud800 w7"]


@pytest.fixture(scope="module", params=list(ROWS))
def encoder(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Encoder:
    if request.param == "bf16":
        from newsrec.encode.precision import native_bf16

        if not native_bf16():
            pytest.skip("this CPU emulates bf16, in another order for another batch size")
    return ROWS[request.param](tmp_path_factory.mktemp("model"))


@pytest.fixture(scope="module")
def vectors(encoder: Encoder) -> np.ndarray:
    return encoder.encode(TEXTS)


def close(a: np.ndarray, b: np.ndarray) -> None:
    """Equal to 1e-5 of a vector's length."""
    scale = np.maximum(np.linalg.norm(b, axis=1, keepdims=True), 1)
    assert np.abs((a - b) / scale).max() < 1e-5


def test_one_finite_vector_a_text(encoder: Encoder, vectors: np.ndarray) -> None:
    assert isinstance(encoder, Encoder)
    assert vectors.shape == (len(TEXTS), encoder.spec.dim)
    assert vectors.dtype == np.float32
    assert np.isfinite(vectors).all()
    assert len({v.tobytes() for v in vectors[:30].round(3)}) == 30  # texts differ, so do vectors


def test_order_is_kept(encoder: Encoder, vectors: np.ndarray) -> None:
    order = np.random.default_rng(1).permutation(len(TEXTS))
    close(encoder.encode([TEXTS[i] for i in order]), vectors[order])


def test_a_vector_is_the_same_alone_and_in_any_batch(encoder: Encoder, vectors: np.ndarray) -> None:
    close(np.concatenate([encoder.encode([text]) for text in TEXTS]), vectors)
    close(encoder.encode(TEXTS[10:13]), vectors[10:13])
    close(encoder.encode(TEXTS * 3)[len(TEXTS) : 2 * len(TEXTS)], vectors)


def test_the_same_text_gives_the_same_vector_again(encoder: Encoder, vectors: np.ndarray) -> None:
    same = encoder.encode(TEXTS)
    assert np.array_equal(same, vectors)
    assert np.array_equal(vectors[TEXTS.index("w3")], vectors[TEXTS.index("w3") + 1])


def test_no_texts_are_no_vectors(encoder: Encoder) -> None:
    assert encoder.encode([]).shape == (0, encoder.spec.dim)


def test_inputs_stay_as_they_were(encoder: Encoder) -> None:
    texts = list(TEXTS)
    encoder.encode(texts)
    assert texts == TEXTS
    assert np.array_equal(encoder.encode(tuple(texts[:3])), encoder.encode(texts[:3]))


@pytest.mark.parametrize("texts", [["a", None], ["a", b"b"], [1], "a bare string"])
def test_what_is_not_text_is_refused(encoder: Encoder, texts: list) -> None:
    with pytest.raises(DataError, match="expected"):
        encoder.encode(texts)


def test_rows_have_length_one_if_and_only_if_the_spec_says_so(
    encoder: Encoder, vectors: np.ndarray
) -> None:
    lengths = np.linalg.norm(vectors[:30], axis=1)
    assert np.allclose(lengths, 1, atol=1e-5) == encoder.spec.normalized


def test_levels_are_prefixes_renormalised(encoder: Encoder, vectors: np.ndarray) -> None:
    spec = EmbeddingSpec(encoder.spec, "eng", "title", "c")
    embeddings = Embeddings(vectors, np.ones(len(TEXTS), np.bool_), spec)
    assert encoder.spec.levels[-1] == encoder.spec.dim
    for level in encoder.spec.levels:
        assert np.allclose(embeddings.at(level), unit_rows(vectors[:, :level]))


def test_the_spec_stays_and_has_a_revision(encoder: Encoder) -> None:
    assert encoder.spec == encoder.spec
    assert encoder.spec.revision
    assert len(encoder.spec.hash) == 16
