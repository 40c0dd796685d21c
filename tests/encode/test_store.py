"""What is stored is what the encoder said, once per text, and damage is never overlooked."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from newsrec.encode import EmbeddingStore
from newsrec.errors import ConfigError, DataError, StaleCacheError
from newsrec.types import EmbeddingSpec, EncoderSpec, Strings, Texts
from tests.encode.made import HashEncoder, shelf

VIEW = "title+abstract"


@pytest.fixture
def store(tmp_path: Path) -> EmbeddingStore:
    return EmbeddingStore(tmp_path / "store", batch_size=8)


def expected(encoder: HashEncoder, texts: Texts, view: str = VIEW) -> np.ndarray:
    out = np.zeros((len(texts), encoder.spec.dim), np.float32)
    for row, text in zip(texts.rows, texts.view(view), strict=True):
        out[row] = encoder.vector(text)
    return out


def test_rows_are_the_encoders_vectors_and_zero_without_text(store: EmbeddingStore) -> None:
    encoder, texts = HashEncoder(), shelf()
    found = store.get(encoder, texts, VIEW, "corpus")
    assert np.array_equal(found.vectors, expected(encoder, texts))
    assert np.array_equal(found.present, texts.present)
    assert not found.present.all()
    assert found.spec == EmbeddingSpec(encoder.spec, "eng", VIEW, "corpus")


def test_equal_texts_are_encoded_once_and_a_second_get_encodes_nothing(
    store: EmbeddingStore,
) -> None:
    encoder, texts = HashEncoder(), shelf()
    store.get(encoder, texts, VIEW, "corpus")
    assert sorted(encoder.seen) == sorted(set(texts.view(VIEW)))
    again = HashEncoder()
    found = store.fill(again, texts, VIEW, "corpus")
    assert again.seen == []
    assert (found.encoded, found.reused) == (0, len(set(texts.view(VIEW))))


def test_vectors_are_read_only_maps(store: EmbeddingStore) -> None:
    store.get(HashEncoder(), shelf(), VIEW, "corpus")
    found = store.get(HashEncoder(), shelf(), VIEW, "corpus")
    assert isinstance(found.vectors, np.memmap)
    with pytest.raises(ValueError, match="read-only"):
        found.vectors[0] = 1


@pytest.mark.parametrize("fingerprint", ["corpus", "corpus of the next day"])
def test_only_a_changed_article_is_encoded(store: EmbeddingStore, fingerprint: str) -> None:
    before = shelf()
    store.get(HashEncoder(), before, VIEW, "corpus")
    titles = list(before.title)
    titles[3] = titles[3].upper()  # the same length: only the content tells
    after = replace(before, title=Strings.pack(titles))
    encoder = HashEncoder()
    found = store.get(encoder, after, VIEW, fingerprint)
    assert encoder.seen == [after.view(VIEW, np.array([3]))[0]]
    assert np.array_equal(found.vectors, expected(encoder, after))


def test_the_same_text_in_two_corpora_and_languages_is_encoded_once(store: EmbeddingStore) -> None:
    texts = shelf()
    store.get(HashEncoder(), texts, VIEW, "one")
    other = HashEncoder()
    twin = replace(texts, language="fin")
    assert np.array_equal(store.get(other, twin, VIEW, "two").vectors, expected(other, texts))
    assert other.seen == []


@pytest.mark.parametrize(
    "change",
    [
        {"name": "other"}, {"revision": "2"}, {"dim": 16}, {"pooling": "mean"}, {"prefix": "q: "},
        {"max_tokens": 7}, {"precision": "int8"}, {"normalized": True},
    ],
    ids=lambda change: next(iter(change)),
)  # fmt: skip
def test_whatever_changes_a_vector_changes_the_file(store: EmbeddingStore, change: dict) -> None:
    store.get(HashEncoder(), shelf(), VIEW, "corpus")
    changed = HashEncoder(**change)
    store.get(changed, shelf(), VIEW, "corpus")
    assert len(changed.seen) == len(set(shelf().view(VIEW)))
    assert len(list(store.root.iterdir())) == 2


def test_the_manifest_names_everything_that_changes_a_vector(store: EmbeddingStore) -> None:
    made = store.fill(HashEncoder(), shelf(), VIEW, "corpus")
    manifest = json.loads((made.folder / "manifest.json").read_text())
    assert set(manifest["spec"]) == {"encoder", "language", "view", "corpus"}
    assert set(manifest["spec"]["encoder"]) == set(EncoderSpec.__dataclass_fields__)
    assert set(manifest["files"]) == {"vectors.npy", "present.npy", "keys.npy"}
    for name, known in manifest["files"].items():
        assert (made.folder / name).stat().st_size == known["bytes"]
    assert made.folder.name.endswith(made.embeddings.spec.hash)


def test_views_differ(store: EmbeddingStore) -> None:
    encoder, texts = HashEncoder(), shelf()
    title = store.get(encoder, texts, "title", "corpus")
    assert np.array_equal(title.vectors, expected(encoder, texts, "title"))
    assert not np.array_equal(title.vectors, store.get(encoder, texts, VIEW, "corpus").vectors)


def test_half_the_size_on_request(tmp_path: Path) -> None:
    encoder, texts = HashEncoder(), shelf()
    found = EmbeddingStore(tmp_path, dtype="float16").get(encoder, texts, VIEW, "corpus")
    assert found.vectors.dtype == np.float16
    assert np.allclose(found.vectors, expected(encoder, texts), atol=2e-3)
    assert found.spec.encoder.dtype == "float16"


def test_numbers_too_large_for_the_type_are_refused(tmp_path: Path) -> None:
    encoder = HashEncoder()
    encoder.vector = lambda text: np.full(8, 1e6, np.float32)  # type: ignore[method-assign]
    with pytest.raises(DataError, match=r"1e\+06 does not fit float16; store float32"):
        EmbeddingStore(tmp_path, dtype="float16").get(encoder, shelf(), VIEW, "corpus")


@pytest.mark.parametrize("n", [0, 3])
def test_nothing_to_encode_is_no_special_case(store: EmbeddingStore, n: int) -> None:
    empty = Texts("eng", Strings.pack([""] * n), Strings.pack([""] * n), np.zeros(n, np.bool_))
    encoder = HashEncoder()
    for _ in range(2):
        assert np.array_equal(store.get(encoder, empty, VIEW, "c").vectors, np.zeros((n, 8)))
    assert encoder.seen == []


def test_an_empty_text_is_a_text(store: EmbeddingStore) -> None:
    texts = Texts("eng", Strings.pack(["", "a"]), Strings.pack(["", ""]), np.ones(2, np.bool_))
    encoder = HashEncoder()
    found = store.get(encoder, texts, VIEW, "c")
    assert np.array_equal(found.vectors, [encoder.vector(""), encoder.vector("a")])


def test_progress_counts_what_is_encoded(store: EmbeddingStore) -> None:
    calls: list[tuple[int, int]] = []
    texts = shelf()
    total = len(set(texts.view(VIEW)))
    store.get(HashEncoder(), texts, VIEW, "c", on_progress=lambda *call: calls.append(call))
    assert calls[0] == (0, total)
    assert calls[-1] == (total, total)
    assert [done for done, _ in calls] == sorted({done for done, _ in calls})


@pytest.mark.parametrize(
    ("vectors", "said"),
    [
        (lambda n: np.zeros((n, 7), np.float32), r"vectors \(\d+, 7\), expected \(\d+, 8\)"),
        (lambda n: np.zeros((n + 1, 8), np.float32), "expected"),
        (lambda n: np.full((n, 8), np.nan, np.float32), "not finite"),
    ],
)
def test_an_encoder_that_breaks_its_word_stores_nothing(store, vectors, said) -> None:  # type: ignore[no-untyped-def]
    encoder = HashEncoder()
    encoder.encode = lambda texts: vectors(len(texts))  # type: ignore[method-assign]
    with pytest.raises(DataError, match=said):
        store.get(encoder, shelf(), VIEW, "c")
    assert not list(store.root.rglob("*.npy"))


def test_unknown_view_dtype_and_batch_size_are_usage_errors(
    store: EmbeddingStore, tmp_path: Path
) -> None:
    with pytest.raises(ConfigError, match="unknown view 'lead'"):
        store.get(HashEncoder(), shelf(), "lead", "c")
    with pytest.raises(ConfigError, match="float32 or float16"):
        EmbeddingStore(tmp_path, dtype="int8")
    with pytest.raises(ConfigError, match="batch_size"):
        EmbeddingStore(tmp_path, batch_size=0)


def flip(path: Path, at: int) -> None:
    content = bytearray(path.read_bytes())
    content[at] ^= 1
    path.write_bytes(content)


@pytest.mark.parametrize("file", ["vectors.npy", "present.npy", "keys.npy", "manifest.json"])
@pytest.mark.parametrize(
    "damage", ["flip first", "flip middle", "flip last", "cut", "gone", "more"]
)
def test_damage_is_told_with_the_command_that_mends_it(
    store: EmbeddingStore, file: str, damage: str
) -> None:
    encoder, texts = HashEncoder(), shelf()
    path = store.fill(encoder, texts, VIEW, "corpus").folder / file
    size = path.stat().st_size
    match damage.split():
        case ["flip", where]:
            flip(path, {"first": 0, "middle": size // 2, "last": size - 1}[where])
        case ["cut"]:
            path.write_bytes(path.read_bytes()[: size // 2])
        case ["gone"]:
            path.unlink()
        case _:
            path.write_bytes(path.read_bytes() + b"x")
    if file == "manifest.json" and damage == "flip last":
        return  # the newline after the JSON says nothing
    with pytest.raises(StaleCacheError, match=r"Remove the folder.*encode again by force"):
        store.get(encoder, texts, VIEW, "corpus")
    mended = store.fill(encoder, texts, VIEW, "corpus", force=True)
    assert np.array_equal(mended.embeddings.vectors, expected(encoder, texts))
    assert store.fill(encoder, texts, VIEW, "corpus").encoded == 0


def test_a_foreign_matrix_is_refused(store: EmbeddingStore) -> None:
    mine = store.fill(HashEncoder(), shelf(), VIEW, "one").folder
    theirs = store.fill(HashEncoder(), shelf(), VIEW, "two").folder
    for path in theirs.iterdir():
        (mine / path.name).write_bytes(path.read_bytes())
    with pytest.raises(StaleCacheError, match="made for another corpus"):
        store.get(HashEncoder(), shelf(), VIEW, "one")


def test_a_changed_manifest_is_refused(store: EmbeddingStore) -> None:
    path = store.fill(HashEncoder(), shelf(), VIEW, "one").folder / "manifest.json"
    path.write_text(path.read_text().replace('"revision": "1"', '"revision": "2"'))
    with pytest.raises(StaleCacheError, match="changed after it was written"):
        store.get(HashEncoder(), shelf(), VIEW, "one")


def test_vectors_of_a_damaged_matrix_are_not_reused(store: EmbeddingStore) -> None:
    path = store.fill(HashEncoder(), shelf(), VIEW, "one").folder / "vectors.npy"
    flip(path, path.stat().st_size - 1)
    encoder = HashEncoder()
    found = store.get(encoder, shelf(), VIEW, "two")
    assert np.array_equal(found.vectors, expected(encoder, shelf()))
    assert len(encoder.seen) == len(set(encoder.seen)) > 0


def test_opening_checks_the_edges_of_a_large_file_and_all_of_it_on_request(tmp_path: Path) -> None:
    n = 9000
    titles = Strings.pack(str(i) for i in range(n))
    texts = Texts("eng", titles, Strings.pack([""] * n), np.ones(n, np.bool_))
    encoder = HashEncoder(dim=1024)
    store = EmbeddingStore(tmp_path, batch_size=n)
    made = store.fill(encoder, texts, "title", "c")
    path = made.folder / "vectors.npy"
    size = path.stat().st_size
    assert size > 1 << 25
    flip(path, size // 2)
    assert store.open(made.embeddings.spec) is not None
    for reads_all in (
        lambda: store.open(made.embeddings.spec, verify=True),
        lambda: store.fill(encoder, texts, "title", "c"),
    ):
        with pytest.raises(StaleCacheError, match="bytes 16777216 to 20971520 are damaged"):
            reads_all()
    quick = EmbeddingStore(tmp_path, batch_size=n, verify=False)
    assert quick.fill(encoder, texts, "title", "c").encoded == 0
    flip(path, size // 2)
    assert store.open(made.embeddings.spec, verify=True) is not None
    flip(path, 200)
    with pytest.raises(StaleCacheError, match="bytes 0 to 4194304 are damaged"):
        store.open(made.embeddings.spec)


def test_what_is_not_stored_is_none(store: EmbeddingStore) -> None:
    assert store.open(store.spec(HashEncoder(), "eng", VIEW, "c")) is None


def test_a_place_that_cannot_be_written_is_one_clear_error(tmp_path: Path) -> None:
    (tmp_path / "store").write_text("a file")
    with pytest.raises(DataError, match="cannot store embeddings"):
        EmbeddingStore(tmp_path / "store").get(HashEncoder(), shelf(), VIEW, "c")


def test_the_default_place_is_the_data_folder(tmp_path: Path) -> None:
    assert EmbeddingStore().root == tmp_path / "newsrec-data" / "embeddings"


def test_reading_needs_numpy_only(store: EmbeddingStore) -> None:
    store.get(HashEncoder(), shelf(), VIEW, "c")
    code = f"""
import sys
from newsrec.encode import EmbeddingStore
from tests.encode.made import HashEncoder, shelf
encoder = HashEncoder()
EmbeddingStore({str(store.root)!r}).get(encoder, shelf(), {VIEW!r}, "c")
assert encoder.seen == []
print(*sys.modules)
"""
    root = Path(__file__).resolve().parents[2]
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=root, capture_output=True, text=True, check=True
    )
    heavy = {"torch", "pandas", "pyarrow", "pydantic", "transformers", "scipy", "rich", "typer"}
    assert not heavy & set(done.stdout.split())
