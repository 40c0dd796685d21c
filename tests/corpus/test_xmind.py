"""xMIND: languages in every spelling and wrapping, and rows that MIND's news does not have."""

from __future__ import annotations

import io
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from newsrec.corpus import Corpus, prepare_mind
from newsrec.errors import DataError
from tests.corpus import raw


def _prepare(tmp_path: Path, files: dict[str, str | bytes]) -> Corpus:
    return prepare_mind(raw.put(raw.mind(tmp_path / "raw"), files), tmp_path / "out")[0]


def _parquet(**columns: list[str | None]) -> bytes:
    buffer = io.BytesIO()
    pq.write_table(pa.table(columns), buffer)
    return buffer.getvalue()


_PARQUET = _parquet(
    nid=["N1", "N2"], title=["Kultaa", "Raitiotie avattiin"], abstract=["Loppukiri ratkaisi.", None]
)


@pytest.mark.parametrize(
    "files",
    [
        {"xmind/fin/xMINDsmall_train/news.tsv": raw.FIN},
        {"xMIND/FIN/news.tsv.gz": raw.FIN},
        {"xmind/fi/xMINDsmall_train.zip!xMINDsmall_train/news.tsv": raw.FIN},
        {"xmind/fin/train.zip!news.tsv": raw.FIN},
        {"xmind/fin.zip!news.tsv": raw.FIN},
        {"xmind.zip!fin/news.tsv": raw.FIN},
        {"xmind/fin.tsv": raw.FIN},
        {"xMINDsmall_train/fin/news.tsv": raw.FIN},
        {"fin/xMINDsmall_train/news.tsv": raw.FIN},
        {"xmind_fin_news.tsv.gz": raw.FIN},
        {"xmind/fin/train.parquet": _PARQUET},
        {"xmind_fin.parquet": _PARQUET},
        {"xmind/Finnish/news.tsv": raw.FIN},
        {"xmind/fin/news.tsv": "\ufeff" + raw.FIN.replace("\n", "\r\n")},
        {"xmind/fin/news.tsv": "Title\tabstract\tNID\nKultaa\tLoppukiri ratkaisi.\tN1\n"
                               "Raitiotie avattiin\t\tN2\n"},
        {"xmind/fin/a/news.tsv": raw.FIN, "xmind/fin/b/news.tsv": raw.FIN},
    ],
    ids=lambda files: next(iter(files)),
)  # fmt: skip
def test_every_wrapping_gives_the_same_shelf(tmp_path: Path, files: dict[str, str | bytes]) -> None:
    corpus = _prepare(tmp_path, files)
    assert corpus.languages == ("eng", "fin")
    fin = corpus.texts("fin")
    assert list(fin.title) == ["Kultaa", "Raitiotie avattiin", "", "", ""]
    assert list(fin.abstract) == ["Loppukiri ratkaisi.", "", "", "", ""]
    assert fin.present.tolist() == [True, True, False, False, False]


@pytest.mark.parametrize("spelled", ["zho", "cmn", "zh", "ZHO", "zh-CN", "chinese"])
def test_mandarin_has_one_code(tmp_path: Path, spelled: str) -> None:
    if spelled == "chinese":
        with pytest.raises(DataError, match="unknown language 'chinese'"):
            _prepare(tmp_path, {f"xmind/{spelled}/news.tsv": raw.FIN})
        return
    assert _prepare(tmp_path, {f"xmind/{spelled}/news.tsv": raw.FIN}).languages == ("eng", "cmn")


def test_spellings_of_one_language_are_one_shelf(tmp_path: Path) -> None:
    more = "nid\ttitle\tabstract\nN3\t下雨\t\n"
    corpus = _prepare(
        tmp_path, {"xmind/zho/train/news.tsv": raw.FIN, "xmind/cmn/dev/news.tsv": more}
    )
    assert corpus.texts("cmn").present.tolist() == [True, True, True, False, False]


def test_an_id_only_xmind_has_is_a_row_of_unknown_category(tmp_path: Path) -> None:
    corpus = _prepare(tmp_path, {"xmind/fin/news.tsv": raw.FIN + "N9\tVain suomeksi\t\n"})
    row = int(corpus.news.rows(["N9"])[0])
    assert corpus.news.category[row] == corpus.news.subcategory[row] == -1
    assert corpus.texts("fin").title[row] == "Vain suomeksi"
    assert not corpus.texts("eng").present[row]
    assert row in corpus.impressions("test").candidates[0]


def test_cells_quoted_as_csv_are_unquoted_and_other_quotes_are_text(tmp_path: Path) -> None:
    """xMIND is written with CSV quoting (9,723 of its Mandarin cells are so quoted, none is not
    well formed); MIND itself is not."""
    lines = (
        'N1\t"Hän sanoi ""ei"""\t"lainaus"\n'
        'N2\t"Kulta" tuli kotiin\tkeskellä "lainaus" näin\n'
        'N3\t"\t"auki ja ""kiinni\n'
    )
    fin = _prepare(tmp_path, {"xmind/fin/news.tsv": "nid\ttitle\tabstract\n" + lines}).texts("fin")
    assert list(fin.title)[:3] == ['Hän sanoi "ei"', '"Kulta" tuli kotiin', '"']
    assert list(fin.abstract)[:3] == ["lainaus", 'keskellä "lainaus" näin', '"auki ja ""kiinni']


def test_an_article_with_neither_title_nor_abstract_is_not_present(tmp_path: Path) -> None:
    fin = _prepare(tmp_path, {"xmind/fin/news.tsv": raw.FIN + "N3\t  \t\n"}).texts("fin")
    assert not fin.present[2]


def test_files_beside_the_translations_are_passed_over(tmp_path: Path) -> None:
    corpus = _prepare(
        tmp_path,
        {
            "xmind/README.md": "read me",
            "xmind/fin/LICENSE": "x",
            "xmind/fin/news.tsv": raw.FIN,
            "__MACOSX/xmind/q/news.tsv": "x",
            "notes.txt": "x",
        },
    )
    assert corpus.languages == ("eng", "fin")


def test_translations_alone_are_a_shelf(tmp_path: Path) -> None:
    files: dict[str, str | bytes] = {"xmind/fin/news.tsv": raw.FIN}
    files["behaviors.tsv"] = "1\tU1\t11/13/2019 8:55:22 AM\tN1\tN2-1 N1-0\n"
    corpus, _ = prepare_mind(raw.put(tmp_path / "raw", files), tmp_path / "out")
    assert corpus.languages == ("fin",)
    np.testing.assert_array_equal(corpus.news.category, [-1, -1])


def test_parquet_without_a_column_is_refused(tmp_path: Path) -> None:
    bad = _parquet(nid=["N1"], titel=["Kultaa"], abstract=[""])
    with pytest.raises(DataError, match=r"no column 'title' among.*Nearest: 'titel'"):
        _prepare(tmp_path, {"xmind/fin/train.parquet": bad})


@pytest.mark.parametrize("file", ["xmind/fin/train.tsv", "MINDsmall_dev/news.tsv"])
def test_an_id_that_no_click_can_name_is_refused(tmp_path: Path, file: str) -> None:
    text = raw.FIN if file.endswith("train.tsv") else raw.news("N1", "N4")
    line = text.count("\n")
    long = "N" * 257 + text[text.rstrip("\n").rindex("\n") + 1 :]
    with pytest.raises(DataError, match=rf"{file}:{line + 1}: n?id 'N+'… of 259 bytes, expected"):
        _prepare(tmp_path, {file: text + long})
