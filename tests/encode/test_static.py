"""The built-in encoder: contract, format, errors, and what is bundled."""

from __future__ import annotations

import gzip
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from newsrec.encode import static
from newsrec.encode.static import StaticEncoder, quantise, unpack
from newsrec.errors import DataError
from newsrec.types import Ragged

TEXTS = [
    "Rain floods the harbour", "Sade tulvii satamaan", "雨で港が浸水", "雨水淹没港口", "",
    "ฝนท่วมท่าเรือ", "மழை துறைமுகத்தை மூழ்கடித்தது", "წვიმამ ნავსადგური დატბორა", "Mưa ngập bến cảng",
    "mba'éichapa reime", "?!…", "rain", "RAIN", "ｒａｉｎ", "  rain\n\t", "a" * 50_000,
]  # fmt: skip


@pytest.fixture(scope="module")
def encoder() -> StaticEncoder:
    return StaticEncoder()


def test_rows_have_length_one_and_keep_their_order(encoder: StaticEncoder) -> None:
    vectors = encoder.encode(TEXTS)
    assert vectors.shape == (len(TEXTS), 256)
    assert vectors.dtype == np.float32
    lengths = np.linalg.norm(vectors, axis=1)
    empty = [text.strip() in ("",) for text in TEXTS]
    assert lengths[~np.array(empty)] == pytest.approx(1, abs=1e-5)
    assert lengths[empty] == pytest.approx(0)
    assert encoder.encode(TEXTS[::-1])[::-1] == pytest.approx(vectors, abs=1e-5)


@given(st.lists(st.sampled_from(TEXTS), max_size=8), st.integers(1, 5))
@settings(max_examples=25, deadline=None)
def test_a_vector_does_not_depend_on_its_neighbours(texts: list[str], block: int) -> None:
    encoder = StaticEncoder()
    together = encoder.encode(texts)
    alone = [encoder.encode([text]) for text in texts]
    parts = [encoder.encode(texts[i : i + block]) for i in range(0, len(texts), block)]
    for other in (alone, parts):
        assert together == pytest.approx(np.concatenate([*other, np.zeros((0, 256))]), abs=1e-5)


def test_blocks_change_nothing(encoder: StaticEncoder, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = encoder.encode(TEXTS)
    monkeypatch.setattr(static, "_BLOCK", 3)
    assert encoder.encode(TEXTS) == pytest.approx(whole, abs=1e-5)


@given(st.text(st.characters(), max_size=60))
@settings(max_examples=200, deadline=None)
def test_any_string_gives_a_finite_vector(text: str) -> None:
    vector = static_encoder().encode([text, text + "\ud800"])
    assert np.isfinite(vector).all()


def static_encoder(made: list[StaticEncoder] = []) -> StaticEncoder:  # noqa: B006 (made once)
    if not made:
        made.append(StaticEncoder())
    return made[0]


def test_forms_of_the_same_text_are_the_same_vector(encoder: StaticEncoder) -> None:
    vectors = encoder.encode(["rain", "RAIN", "ｒａｉｎ", "  rain\n", "rain\u200b", "“rain.”"])
    assert vectors == pytest.approx(np.tile(vectors[:1], (6, 1)), abs=1e-6)
    traditional, simplified = encoder.encode(["雨水淹沒港口", "雨水淹没港口"])
    assert traditional == pytest.approx(simplified, abs=1e-6)


def test_levels_are_prefixes_of_dim(encoder: StaticEncoder) -> None:
    assert encoder.levels == (64, 128, 256)
    assert encoder.spec.levels == encoder.levels
    assert encoder.spec.revision == encoder.revision
    vectors = encoder.encode(TEXTS[:4])
    for level in encoder.levels:
        short = vectors[:, :level]
        assert (np.linalg.norm(short, axis=1) > 0.1).all()


def test_translations_are_nearest(encoder: StaticEncoder) -> None:
    english = ["The president visited the hospital", "The team won the match", "Prices rose again"]
    finnish = ["Presidentti vieraili sairaalassa", "Joukkue voitti ottelun", "Hinnat nousivat taas"]
    assert (encoder.encode(finnish) @ encoder.encode(english).T).argmax(1).tolist() == [0, 1, 2]


def test_no_text_and_wrong_types(encoder: StaticEncoder) -> None:
    assert encoder.encode([]).shape == (0, 256)
    with pytest.raises(DataError, match=r"texts\[1\]: NoneType, expected str"):
        encoder.encode(["a", None])  # type: ignore[list-item]


def test_bundled_files_fit() -> None:
    assert static.size() <= 17_000_000
    card = (static.BUNDLED / "README.md").read_text("utf-8")
    assert StaticEncoder().revision in card
    assert "CC BY-NC 4.0" in card


def test_encoding_imports_no_torch() -> None:
    code = (
        "import sys; from newsrec.encode.static import StaticEncoder; "
        "StaticEncoder().encode(['a']); "
        "sys.exit(' '.join({'torch', 'transformers', 'scipy', 'pandas'} & set(sys.modules)) or 0)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


@pytest.fixture
def small(tmp_path: Path) -> Path:
    table = np.random.default_rng(0).normal(size=(4, 8)).astype(np.float32)
    pieces = [("<unk>", 0.0), ("▁a", -1.0), ("b", -2.0), ("▁", -3.0)]
    static.write(tmp_path / "small", table, pieces, {"貓": "猫"}, (2, 4, 8))
    return tmp_path / "small"


def test_write_and_read(small: Path) -> None:
    encoder = StaticEncoder(small)
    assert encoder.dim == 8
    assert encoder.pieces(["ab", ""]) == [[1, 2], []]
    assert encoder.encode(["貓"]) == pytest.approx(encoder.encode(["猫"]))
    assert encoder.encode([""]).tolist() == [[0.0] * 8]
    again = StaticEncoder(small)
    assert again.revision == encoder.revision


def test_a_piece_that_comes_four_times_counts_twice_its_mean_weight(small: Path) -> None:
    encoder = StaticEncoder(small)
    table = unpack(encoder._codes, encoder._step)
    weight = [1 / np.sqrt(1 + place / 16) for place in range(5)]
    expected = 2 * np.mean([weight[i] for i in (0, 1, 2, 4)]) * table[1] + weight[3] * table[2]
    assert encoder.encode(["a a ab a"])[0] == pytest.approx(  # ▁a ▁a ▁a b ▁a
        expected / np.linalg.norm(expected), abs=1e-6
    )


@given(st.lists(st.lists(st.integers(0, 6), max_size=12), max_size=6))
def test_weights_are_those_of_a_plain_loop(texts: list[list[int]]) -> None:
    pieces, weights = static.tally(Ragged.from_lists(texts))
    assert len(pieces) == len(texts)
    for text, found, given_weights in zip(texts, pieces, pieces.like(weights), strict=True):
        assert list(found) == sorted(set(text))
        for piece, weight in zip(found, given_weights, strict=True):
            at = [1 / np.sqrt(1 + place / 16) for place, one in enumerate(text) if one == piece]
            assert weight == pytest.approx(sum(at) / np.sqrt(len(at)), rel=1e-5)


def test_a_text_longer_than_its_places_keeps_all_of_its_pieces(encoder: StaticEncoder) -> None:
    long, same = "rain " * 5_000 + "harbour", "rain " * 5_000
    a, b = encoder.encode([long, same])
    assert 0.9 < a @ b < 1


@pytest.mark.parametrize("name", ["table.safetensors", "pieces.tsv.gz", "config.json"])
@pytest.mark.parametrize("damage", ["remove", "truncate", "garbage"])
def test_damaged_folders_say_what_to_do(small: Path, name: str, damage: str) -> None:
    path = small / name
    if damage == "remove":
        path.unlink()
    else:
        path.write_bytes(path.read_bytes()[:20] if damage == "truncate" else b"\x00garbage")
    with pytest.raises(DataError, match="scripts/train_mini") as caught:
        StaticEncoder(small)
    assert str(small) in str(caught.value)


def test_a_table_of_another_size_is_refused(small: Path) -> None:
    (small / "pieces.tsv.gz").write_bytes(gzip.compress("<unk>\n0\n▁a\n-1".encode()))
    with pytest.raises(DataError, match="2 pieces"):
        StaticEncoder(small)


@given(st.integers(0, 2**16))
@settings(max_examples=20, deadline=None)
def test_four_bits_stay_close(seed: int) -> None:
    rng = np.random.default_rng(seed)
    table = (rng.normal(size=(20, 16)) * rng.uniform(0.01, 3, (20, 1))).astype(np.float32)
    restored = unpack(*quantise(table))
    error = np.linalg.norm(restored - table, axis=1) / np.linalg.norm(table, axis=1)
    assert error.max() < 0.2
    assert unpack(*quantise(np.zeros((2, 4), np.float32))) == pytest.approx(0, abs=1e-5)
