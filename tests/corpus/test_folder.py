"""The corpus folder gives back what was written, and never half of it."""

from __future__ import annotations

import json
import subprocess
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from newsrec.corpus import Corpus, write_corpus
from newsrec.corpus.arrays import fingerprint_of
from newsrec.errors import ConfigError, DataError, StaleCacheError
from tests.corpus.nouns import N_NEWS, USERS, impressions, news_table, same, shelf


def _write(folder: Path, **changes: Any) -> Corpus:
    parts: dict[str, Any] = {
        "name": "small",
        "news": news_table(),
        "users": USERS,
        "texts": [shelf("eng"), shelf("cmn", body=True)],
        "splits": {"train": impressions(), "unlabelled": impressions(labelled=False)},
        "history_language": {"train": np.array([0, 1, 0], np.int16)},
        "info": {"protocol": "newsrec"},
    }
    return write_corpus(folder, **(parts | changes))


def test_everything_written_is_read_back(tmp_path: Path) -> None:
    _write(tmp_path / "c")
    corpus = Corpus.open(tmp_path / "c")
    assert (corpus.name, corpus.languages, corpus.splits) == (
        "small", ("eng", "cmn"), ("train", "unlabelled"),
    )  # fmt: skip
    assert corpus.info == {"protocol": "newsrec"}
    same(news_table(), corpus.news)
    np.testing.assert_array_equal(USERS, corpus.users)
    same(shelf("eng"), corpus.texts("eng"))
    same(shelf("cmn", body=True), corpus.texts("zho"))
    same(impressions(), corpus.impressions("train"))
    same(impressions(labelled=False), corpus.impressions("unlabelled"))
    assert corpus.impressions("unlabelled").clicked is None
    np.testing.assert_array_equal([0, 1, 0], corpus.history_language("train"))
    assert corpus.history_language("unlabelled") is None
    corpus.verify()


def test_ids_are_found_in_the_opened_table(tmp_path: Path) -> None:
    news = _write(tmp_path / "c").news
    np.testing.assert_array_equal(news.rows(["新聞", "N1", "n-3"]), [3, 0, 2])


def test_arrays_are_read_only_memmaps(tmp_path: Path) -> None:
    candidates = _write(tmp_path / "c").impressions("train").candidates.values
    assert isinstance(candidates.base, np.memmap)
    with pytest.raises(ValueError, match="read-only"):
        candidates[0] = 1


def test_fingerprint_follows_content_and_nothing_else(tmp_path: Path) -> None:
    first = _write(tmp_path / "a").fingerprint
    assert _write(tmp_path / "b", name="other", info={}).fingerprint == first
    texts = [shelf("cmn", body=True), shelf("eng")]
    assert _write(tmp_path / "c", texts=texts).fingerprint != first
    ids = ("N1", "N22", "n-3", "新聞", "N5", "N7")
    assert _write(tmp_path / "d", news=news_table(ids)).fingerprint != first
    assert _write(tmp_path / "e", splits={"train": impressions()}).fingerprint != first


def test_a_corpus_without_readers_texts_or_splits_opens(tmp_path: Path) -> None:
    corpus = _write(
        tmp_path / "c",
        splits={},
        history_language=None,
        users=np.array([], np.str_),
        texts=[],
    )
    assert len(corpus.users) == 0
    assert corpus.splits == ()
    corpus.verify()


def test_a_failed_write_leaves_the_old_corpus_and_no_debris(tmp_path: Path) -> None:
    before = _write(tmp_path / "c").fingerprint

    def texts() -> Any:
        yield shelf("eng")
        raise DataError("eng.tsv:3: broken")

    with pytest.raises(DataError, match="broken"):
        _write(tmp_path / "c", texts=texts())
    assert Corpus.open(tmp_path / "c").fingerprint == before
    assert [p.name for p in tmp_path.iterdir()] == ["c"]


def test_a_new_corpus_replaces_the_old_one(tmp_path: Path) -> None:
    _write(tmp_path / "c")
    _write(tmp_path / "c", name="again", texts=[shelf("fin")], history_language=None)
    assert Corpus.open(tmp_path / "c").languages == ("fin",)
    assert not (tmp_path / "c" / "texts" / "cmn").exists()


def test_a_folder_with_other_things_in_it_is_not_replaced(tmp_path: Path) -> None:
    (tmp_path / "thesis").mkdir()
    (tmp_path / "thesis" / "chapter1.tex").write_text("years of work")
    with pytest.raises(DataError, match="not a newsrec corpus"):
        _write(tmp_path / "thesis")
    assert (tmp_path / "thesis" / "chapter1.tex").read_text() == "years of work"
    (tmp_path / "file").write_text("x")
    with pytest.raises(DataError, match="is a file"):
        _write(tmp_path / "file")


@pytest.mark.parametrize(
    "foreign",
    ["notes.txt", "texts/eng/notes.txt", "mine/thesis.tex", "news/mine.npy", ".git/config",
     "texts/eng/title.npy.bak"],
)  # fmt: skip
@pytest.mark.parametrize("description", ["whole", "corrupt"])
def test_a_corpus_with_other_files_beside_is_not_replaced(
    tmp_path: Path, foreign: str, description: str
) -> None:
    _write(tmp_path / "c")
    if description == "corrupt":
        (tmp_path / "c" / "corpus.json").write_text('{"format": "newsrec-cor')
        if foreign == "news/mine.npy":
            foreign = "mine.npy"
    path = tmp_path / "c" / foreign
    path.parent.mkdir(exist_ok=True, parents=True)
    path.write_text("years of work")
    with pytest.raises(DataError, match=f"not a newsrec corpus .*{foreign}"):
        _write(tmp_path / "c")
    assert path.read_text() == "years of work"


def test_an_empty_folder_or_a_link_beside_a_corpus_is_not_deleted(tmp_path: Path) -> None:
    _write(tmp_path / "c")
    (tmp_path / "c" / "plans").mkdir()
    with pytest.raises(DataError, match="plans"):
        _write(tmp_path / "c")
    (tmp_path / "c" / "plans").rmdir()
    (tmp_path / "c" / "linked").symlink_to(tmp_path)
    with pytest.raises(DataError, match="linked"):
        _write(tmp_path / "c")


@pytest.mark.parametrize("description", ['{"format": "mine"}', "[]", '{"name": "a web crawl"}'])
def test_a_corpus_json_of_another_program_is_not_replaced(tmp_path: Path, description: str) -> None:
    (tmp_path / "corpus.json").write_text(description)
    with pytest.raises(DataError, match="whose format is not 'newsrec-corpus'"):
        _write(tmp_path)
    assert (tmp_path / "corpus.json").read_text() == description


@pytest.mark.parametrize("damage", ["{", "[" * 100_000, ""])
def test_a_corpus_of_which_only_the_description_is_damaged_is_replaced(
    tmp_path: Path, damage: str
) -> None:
    _write(tmp_path / "c")
    (tmp_path / "c" / "corpus.json").write_text(damage)
    (tmp_path / "c" / ".DS_Store").write_text("")
    with pytest.raises(StaleCacheError, match="not JSON"):
        Corpus.open(tmp_path / "c")
    _write(tmp_path / "c").verify()


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"texts": [shelf("eng", n=N_NEWS - 1)]}, "5 rows, the news table has 6"),
        ({"texts": [shelf("zho")]}, "texts in 'zho': expected one ISO 639-3 code"),
        ({"texts": [shelf("eng"), shelf("eng")]}, "already written: eng"),
        ({"users": USERS[:2]}, "split train: user from 0 to 2, expected 0 … 1"),
        ({"news": news_table(("a", "b", "c"))}, "texts in eng: 6 rows"),
        ({"splits": {"../x": impressions()}}, "split name '../x'"),
        ({"history_language": {"train": np.zeros(2, np.int16)}}, "history_language \\(2,\\)"),
        ({"history_language": {"train": np.array([0, 2, 0], np.int16)}}, "expected 0 … 1"),
    ],
)
def test_parts_that_do_not_fit_are_refused(
    tmp_path: Path, changes: dict[str, Any], message: str
) -> None:
    with pytest.raises(DataError, match=message):
        _write(tmp_path / "c", **changes)
    assert list(tmp_path.iterdir()) == []


def test_no_corpus_says_what_to_run(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"no such folder.*newsrec prepare"):
        Corpus.open(tmp_path / "c")
    with pytest.raises(DataError, match=r"no corpus\.json in it.*newsrec prepare"):
        Corpus.open(tmp_path)


def test_unknown_split_and_language_name_those_there_are(tmp_path: Path) -> None:
    corpus = _write(tmp_path / "c")
    with pytest.raises(ConfigError, match="known: train, unlabelled"):
        corpus.impressions("tset")
    with pytest.raises(ConfigError, match="known: train, unlabelled"):
        corpus.history_language("test")
    with pytest.raises(ConfigError, match="known: cmn, eng"):
        corpus.texts("fin")


def _meta(folder: Path, **changes: Any) -> None:
    path = folder / "corpus.json"
    meta = json.loads(path.read_text())
    path.write_text(json.dumps({k: v for k, v in (meta | changes).items() if v is not None}))


@pytest.mark.parametrize(
    "changes", [{"format": "tar"}, {"version": 999}, {"files": None}, {"fingerprint": None}]
)
def test_a_foreign_or_newer_description_is_stale(tmp_path: Path, changes: dict[str, Any]) -> None:
    _write(tmp_path / "c", made_by="newsrec prepare mind raw --out c")
    _meta(tmp_path / "c", **changes)
    with pytest.raises(StaleCacheError, match="newsrec prepare mind"):
        Corpus.open(tmp_path / "c")


def test_every_missing_or_short_file_is_found_on_opening(tmp_path: Path) -> None:
    _write(tmp_path / "c", made_by="newsrec prepare mind raw --out c")
    files = [p for p in (tmp_path / "c").rglob("*") if p.is_file() and p.name != "corpus.json"]
    assert len(files) > 20
    for path in files:
        whole = path.read_bytes()
        for damaged in (None, whole[:-1], b""):
            path.unlink()
            if damaged is not None:
                path.write_bytes(damaged)
            with pytest.raises(StaleCacheError, match="Make it again: newsrec prepare mind raw"):
                Corpus.open(tmp_path / "c")
            path.write_bytes(whole)
    Corpus.open(tmp_path / "c").verify()


def test_changed_content_of_equal_size_is_found_by_verify(tmp_path: Path) -> None:
    _write(tmp_path / "c")
    for path in (tmp_path / "c").rglob("*.*"):
        if path.name == "corpus.json" or not path.is_file():
            continue
        whole = path.read_bytes()
        path.write_bytes(whole[:-1] + bytes([whole[-1] ^ 1]))
        with pytest.raises(StaleCacheError):
            Corpus.open(tmp_path / "c").verify()
        path.write_bytes(whole)


def test_damage_that_breaks_a_noun_says_what_to_run(tmp_path: Path) -> None:
    _write(tmp_path / "c")
    path = tmp_path / "c" / "splits" / "train" / "candidates.offsets.npy"
    whole = path.read_bytes()
    path.write_bytes(whole[:-1] + b"\x7f")
    with pytest.raises(StaleCacheError, match="Make it again"):
        Corpus.open(tmp_path / "c").impressions("train")


def test_pickled_arrays_are_refused(tmp_path: Path) -> None:
    _write(tmp_path / "c")
    path = tmp_path / "c" / "users.npy"
    np.save(path, np.array([{"a": 1}], object), allow_pickle=True)
    files = {"users.npy": {"bytes": path.stat().st_size, "hash": ""}}
    sealed = fingerprint_of(files, ("eng", "cmn"))
    _meta(tmp_path / "c", files=files, fingerprint=sealed)
    with pytest.raises(StaleCacheError, match="Python objects in dtype"):
        _ = Corpus.open(tmp_path / "c").users


def test_opening_loads_nothing_heavy(tmp_path: Path) -> None:
    _write(tmp_path / "c")
    code = (
        "import sys; from newsrec.corpus import Corpus; c = Corpus.open(sys.argv[1]);"
        "c.news; c.users; c.texts('eng'); c.impressions('train');"
        "heavy = {'torch', 'transformers', 'pandas', 'mlflow', 'pyarrow', 'pydantic'};"
        "print(sorted(heavy & set(sys.modules)))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, str(tmp_path / "c")],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert done.stdout.strip() == "[]"


def _read_all(folder: Path) -> None:
    corpus = Corpus.open(folder)
    assert (corpus.news, len(corpus.users)) is not None
    for language in corpus.languages:
        texts = corpus.texts(language)
        for strings in (texts.title, texts.abstract, texts.body or []):
            list(strings)
    for split in corpus.splits:
        corpus.impressions(split)
        corpus.history_language(split)


def test_a_flipped_byte_of_a_small_file_is_found_when_it_is_read(tmp_path: Path) -> None:
    _write(tmp_path / "c", made_by="newsrec prepare mind raw --out c")
    _read_all(tmp_path / "c")
    for path in (tmp_path / "c").rglob("*.*"):
        if path.name == "corpus.json" or not path.is_file():
            continue
        whole = path.read_bytes()
        path.write_bytes(whole[:-1] + bytes([whole[-1] ^ 1]))
        with pytest.raises(StaleCacheError, match="Make it again: newsrec prepare mind raw"):
            _read_all(tmp_path / "c")
        path.write_bytes(whole)


def test_a_flipped_byte_anywhere_in_a_header_is_refused_or_changes_nothing(tmp_path: Path) -> None:
    expected = _write(tmp_path / "c").users.tolist()
    path = tmp_path / "c" / "users.npy"
    whole = path.read_bytes()
    for k in range(128):
        path.write_bytes(whole[:k] + bytes([whole[k] ^ 4]) + whole[k + 1 :])
        corpus = Corpus.open(tmp_path / "c")
        with suppress(StaleCacheError):
            assert corpus.users.tolist() == expected


def test_a_large_file_is_checked_by_its_header_and_where_it_is_decoded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _write(tmp_path / "c", made_by="newsrec prepare mind raw --out c")
    monkeypatch.setattr("newsrec.corpus.arrays.SMALL_BYTES", 0)
    path = tmp_path / "c" / "texts" / "eng" / "title.npy"
    whole = path.read_bytes()
    path.write_bytes(whole[:128] + b"\xff" + whole[129:])
    titles = Corpus.open(tmp_path / "c").texts("eng").title
    with pytest.raises(
        StaleCacheError, match=r"row 1 of 6 texts is damaged.*title\.npy.*prepare mind raw"
    ):
        list(titles)
    with pytest.raises(StaleCacheError, match="damaged, content differs"):
        Corpus.open(tmp_path / "c").verify()
    path.write_bytes(whole.replace(b"'|u1'", b"'|i1'"))
    with pytest.raises(StaleCacheError, match=r"dtype \|i1, expected \|u1"):
        Corpus.open(tmp_path / "c").texts("eng")


@pytest.mark.parametrize(
    "changes", [{"languages": ["cmn", "eng"]}, {"files": []}, {"files": {"users.npy": 3}}]
)
def test_a_description_that_was_changed_is_stale(tmp_path: Path, changes: dict[str, Any]) -> None:
    _write(tmp_path / "c")
    _meta(tmp_path / "c", **changes)
    with pytest.raises(StaleCacheError, match="do not fit"):
        Corpus.open(tmp_path / "c")
