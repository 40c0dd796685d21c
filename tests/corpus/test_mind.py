"""MIND and xMIND, in every wrapping they come in, to a corpus; values follow from `raw`."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from newsrec.corpus import Corpus, MindOptions, Report, prepare_mind
from newsrec.errors import ConfigError, DataError
from newsrec.types.shelf import keep_shown
from tests.corpus import raw


def _prepare(source: Path, **options: object) -> tuple[Corpus, Report]:
    out = source.parent / "out"
    return prepare_mind(source, out, MindOptions(**options))  # type: ignore[arg-type]


def _ids(corpus: Corpus, rows: np.ndarray) -> list[str]:
    return corpus.news.ids[rows].tolist()


def test_train_is_cut_and_dev_is_test(tmp_path: Path) -> None:
    corpus, _ = _prepare(raw.mind(tmp_path / "raw"))
    assert corpus.splits == ("train", "valid", "test")
    sizes = [len(corpus.impressions(split)) for split in corpus.splits]
    assert sizes == [2, 1, 2]
    # Paper 004's cut itself, midnight of 14 November 2019, is the first moment of validation.
    assert corpus.impressions("valid").time.astype(str).tolist() == ["2019-11-14T00:00:00"]


def test_impressions_carry_rows_of_the_news(tmp_path: Path) -> None:
    corpus, _ = _prepare(raw.mind(tmp_path / "raw"))
    train = corpus.impressions("train")
    assert corpus.users[train.user].tolist() == ["U1", "U2"]
    assert _ids(corpus, train.history[train.history_of[0]]) == ["N1", "N2"]
    assert _ids(corpus, train.candidates[0]) == ["N3", "N4"]
    assert train.clicked is not None
    assert train.clicked.tolist() == [True, False, False, True]
    test = corpus.impressions("test")
    assert corpus.users[test.user].tolist() == ["U3", "U2"]
    assert _ids(corpus, test.candidates[1]) == ["N1", "N2"]


def test_news_is_the_union_of_the_sets(tmp_path: Path) -> None:
    news = _prepare(raw.mind(tmp_path / "raw"))[0].news
    # N9 is in behaviors only: a row without text, after those that files tell of.
    assert news.ids.tolist() == ["N1", "N2", "N3", "N4", "N9"]
    assert [news.category_names[c] if c >= 0 else "" for c in news.category] == [
        "sport", "news", "news", "food", "",
    ]  # fmt: skip
    assert news.subcategory_names == ("ski", "city", "soup")
    assert news.entities is not None
    assert news.entity_names == ("Q585",)
    assert [len(row) for row in news.entities] == [0, 1, 1, 0, 0]


def test_quotes_in_mind_are_text(tmp_path: Path) -> None:
    eng = _prepare(raw.mind(tmp_path / "raw"))[0].texts("eng")
    assert eng.title[0] == '"Gold" on the last lap'
    assert eng.abstract[2] == ""
    assert eng.present.tolist() == [True, True, True, True, False]


def test_published_is_when_an_article_was_first_shown(tmp_path: Path) -> None:
    source = raw.mind(tmp_path / "raw")
    corpus, _ = _prepare(source)
    assert corpus.info["published"] == "first shown"
    assert corpus.news.published.astype(str).tolist() == [
        "2019-11-14T00:00:00", "2019-11-15T09:30:00", "2019-11-13T08:55:22", "2019-11-13T08:55:22",
        "2019-11-15T09:00:00",
    ]  # fmt: skip
    corpus, _ = _prepare(source, first_shown=False)
    assert corpus.info["published"] == "unknown"
    assert np.isnat(corpus.news.published).all()


def test_protocol_newsreclib_drops_cold_readers_and_keeps_the_oldest_clicks(tmp_path: Path) -> None:
    long = " ".join(f"N{k}" for k in range(1, 61))
    behaviors = raw.TRAIN + f"4\tU4\t11/13/2019 8:55:22 AM\t{long}\tN3-1 N4-0\n"
    source = raw.mind(tmp_path / "raw", **{"MINDsmall_train/behaviors.tsv": behaviors})
    ours, report = _prepare(source, max_missing=1.0)
    assert sum(report.dropped.values()) == 0
    train = ours.impressions("train")
    assert train.history_lengths.tolist() == [2, 0, 60]
    theirs, report = _prepare(source, max_missing=1.0, protocol="newsreclib")
    assert sum(report.dropped.values()) == 2
    train = theirs.impressions("train")
    assert train.history_lengths.tolist() == [2, 50]
    assert _ids(theirs, train.history[train.history_of[1]]) == long.split()[:50]
    assert len(theirs.impressions("test")) == 1
    assert (ours.info["protocol"], theirs.info["protocol"]) == ("newsrec", "newsreclib")
    np.testing.assert_array_equal(ours.news.published, theirs.news.published)


def test_the_unlabelled_test_set_keeps_every_impression(tmp_path: Path) -> None:
    more = {
        "MINDlarge_test/news.tsv": raw.news("N2", "N4"),
        "MINDlarge_test/behaviors.tsv": raw.TEST,
    }
    for protocol in ("newsrec", "newsreclib"):
        corpus, _ = _prepare(raw.mind(tmp_path / "raw", **more), protocol=protocol)
        assert corpus.splits == ("train", "valid", "test", "unlabelled")
        assert corpus.impressions("unlabelled").clicked is None
        assert corpus.impressions("unlabelled").ids.tolist() == ["1", "2"]


def test_the_count_line_of_paper_004_appears_for_mindsmall_only(tmp_path: Path) -> None:
    _, report = _prepare(raw.mind(tmp_path / "raw"))
    assert not any("paper 004" in line for line in report.lines())
    line = "{}\tU{}\t11/{}/2019 8:55:22 AM\t{}\tN1-1 N2-0\n"

    def log(n: int, cold: int, late: int) -> str:
        days = ["14" if k < late else "13" for k in range(n)]
        return "".join(
            line.format(k, k % 99, days[k], "" if k >= n - cold else "N1") for k in range(n)
        )

    # 156,965 and 73,152 impressions with 3,238 and 2,214 cold readers: MINDsmall's own counts.
    source = raw.mind(
        tmp_path / "raw",
        **{
            "MINDsmall_train/behaviors.tsv": log(156_965, 3_238, 29_498),
            "MINDsmall_dev/behaviors.tsv": log(73_152, 2_214, 0),
        },
    )
    lines = _prepare(source)[1].lines()
    assert "  train         124,229 / 124,229" in lines
    assert "  valid          29,498 / 29,498" in lines
    assert "  test           70,938 / 70,938" in lines


_WRAPPINGS: dict[str, dict[str, str | bytes]] = {
    "folders train, dev": {
        "train/news.tsv": raw.news("N1", "N2", "N3"), "train/behaviors.tsv": raw.TRAIN,
        "dev/news.tsv": raw.news("N1", "N4"), "dev/behaviors.tsv": raw.DEV,
    },
    "MINDdemo, gzip": {
        "MINDdemo_train/news.tsv.gz": raw.news("N1", "N2", "N3"),
        "MINDdemo_train/behaviors.tsv.gz": raw.TRAIN,
        "MINDdemo_dev/news.tsv.gz": raw.news("N1", "N4"),
        "MINDdemo_dev/behaviors.tsv.gz": raw.DEV,
    },
    "zips": {
        "MINDsmall_train.zip!news.tsv": raw.news("N1", "N2", "N3"),
        "MINDsmall_train.zip!behaviors.tsv": raw.TRAIN,
        "MINDsmall_train.zip!entity_embedding.vec": "Q585\t0.1\n",
        "MINDsmall_dev.zip!MINDsmall_dev/news.tsv": raw.news("N1", "N4"),
        "MINDsmall_dev.zip!MINDsmall_dev/behaviors.tsv": raw.DEV,
    },
    "zipped tsv": {
        "train/news.tsv.zip!news.tsv": raw.news("N1", "N2", "N3"),
        "train/behaviors.tsv.zip!b.txt": raw.TRAIN,
        "valid/news.tsv": raw.news("N1", "N4"), "valid/behaviors.tsv": raw.DEV,
    },
    "flat names, Windows line ends, byte-order mark": {
        "news_train.tsv": "\ufeff" + raw.news("N1", "N2", "N3").replace("\n", "\r\n"),
        "behaviors_train.tsv": "\ufeff" + raw.TRAIN.replace("\n", "\r\n") + "\r\n",
        "news_dev.tsv": raw.news("N1", "N4").rstrip("\n"),
        "behaviors_dev.tsv": raw.DEV.rstrip("\n"),
    },
}  # fmt: skip


@pytest.mark.parametrize("files", _WRAPPINGS.values(), ids=_WRAPPINGS.keys())
def test_every_wrapping_gives_the_same_corpus(
    tmp_path: Path, files: dict[str, str | bytes]
) -> None:
    expected, _ = _prepare(raw.mind(tmp_path / "plain"))
    assert _prepare(raw.put(tmp_path / "raw", files))[0].fingerprint == expected.fingerprint


def test_bare_files_are_one_split_named_by_the_caller(tmp_path: Path) -> None:
    files: dict[str, str | bytes] = {"news.tsv": raw.news("N1", "N2", "N3", "N4")}
    files["behaviors.tsv"] = raw.TRAIN
    source = raw.put(tmp_path / "raw", files)
    assert _prepare(source)[0].splits == ("test",)
    corpus, _ = _prepare(source, split="november")
    assert corpus.splits == ("november",)
    assert len(corpus.impressions("november")) == 3


def test_a_zip_may_be_the_raw_folder(tmp_path: Path) -> None:
    files = {"x.zip!news.tsv": raw.news("N1", "N2", "N3", "N4"), "x.zip!behaviors.tsv": raw.TRAIN}
    raw.put(tmp_path, files)  # type: ignore[arg-type]
    assert _prepare(tmp_path / "x.zip")[0].splits == ("test",)


def test_several_sizes_need_a_choice(tmp_path: Path) -> None:
    more = {"MINDdemo_train/news.tsv": raw.news("N4"), "MINDdemo_train/behaviors.tsv": raw.TEST}
    source = raw.mind(tmp_path / "raw", **more)
    with pytest.raises(DataError, match=r"two \w+ files for the train set.*--size"):
        _prepare(source)
    assert _prepare(source, size="small")[0].splits == ("train", "valid", "test")


def test_readers_are_the_same_in_all_splits(tmp_path: Path) -> None:
    corpus, report = _prepare(raw.mind(tmp_path / "raw"))
    assert corpus.users.tolist() == ["U1", "U2", "U3"]
    assert report.readers == 3


def test_ids_without_text_are_counted_and_fatal_past_the_limit(tmp_path: Path) -> None:
    source = raw.mind(tmp_path / "raw")
    _, report = _prepare(source)
    # N9 among N1, N2, N3, N4, N9.
    assert any("1 ids in behaviors (20.0% of those there)" in note for note in report.notes)
    _prepare(source, max_missing=0.2)
    with pytest.raises(DataError, match=r"1 of 5 ids.*'N9'; expected at most 19%"):
        _prepare(source, max_missing=0.19)


def test_unknown_ids_of_several_sets_are_numbered_together(tmp_path: Path) -> None:
    train = "1\tU1\t11/13/2019 8:55:22 AM\tZ2\tZ9-1 N1-0\n"
    dev = "1\tU1\t11/15/2019 8:55:22 AM\tZ9\tA5-1 Z2-0\n"
    source = raw.mind(
        tmp_path / "raw",
        **{"MINDsmall_train/behaviors.tsv": train, "MINDsmall_dev/behaviors.tsv": dev},
    )
    corpus, _ = _prepare(source, max_missing=1.0)
    for split, history, shown in (("train", ["Z2"], ["Z9", "N1"]), ("test", ["Z9"], ["A5", "Z2"])):
        part = corpus.impressions(split)
        assert _ids(corpus, part.history[0]) == history
        assert _ids(corpus, part.candidates[0]) == shown
    assert corpus.news.ids.tolist()[4:] == ["A5", "Z2", "Z9"]


@pytest.mark.parametrize(
    ("files", "message"),
    [
        ({"news.tsv": raw.NEWS["N1"] + raw.NEWS["N1"].replace("Gold", "Silver")},
         "news.tsv:2: id 'N1' again with another text in eng"),
        ({"news.tsv": raw.NEWS["N1"] + "N2\tnews\n"}, "news.tsv:2: 2 columns, expected 8 (MIND)"),
        ({"news.tsv": ""}, "news.tsv: empty file"),
        ({"behaviors.tsv": ""}, "behaviors.tsv: empty file"),
        ({"behaviors.tsv": "3321\tU1\n"},
         "behaviors.tsv:1: 2 columns, expected 5 (MIND). First field: '3321'"),
        ({"news.tsv": raw.NEWS["N1"].replace("[]\t[]", "[{]\t[]")}, "news.tsv:1: entities '[{]'"),
        ({"news.tsv": raw.NEWS["N1"].replace("[]\t[]", '[{"a": 1}]\t[]')}, "WikidataId (MIND)"),
        ({"news.tsv": "\tsport" + raw.NEWS["N1"][8:]}, "news.tsv:1: id ''"),
        ({"news.tsv": b"N1\ta\tb\t\xff\xfe\t\t\t\t\n"}, "news.tsv:1: bytes b'\\xff"),
        ({"xmind/fim/news.tsv": raw.FIN},
         "news.tsv: unknown language 'fim', expected an ISO 639-3 code; nearest known: fi"),
        ({"xmind/fin/news.tsv": "id\ttitle\tabstract\n"}, "xmind/fin/news.tsv:1: no column 'nid'"),
        ({"xmind/fin/news.tsv": "nid\ttitle\tabstract\n"}, "no articles below the header"),
        ({"xmind/fin/news.tsv": raw.FIN + "N3\tx\n"}, "news.tsv:4: 2 columns, expected 3"),
        ({"xmind/fin/news.tsv": raw.FIN + "N1\tHopeaa\t\n"},
         "xmind/fin/news.tsv:4: id 'N1' again with another text in fin"),
        ({"xmind/fin/news.parquet": b"PAR1 no"}, "xmind/fin/news.parquet: not a Parquet file"),
        ({"xmind/fin/a.zip": b"PK no"}, "xmind/fin/a.zip: truncated or damaged archive"),
        ({"xmind/fin/a.zip!../../evil.tsv": "x"}, "member '../../evil.tsv' leaves the folder"),
        ({"xmind/fin/a.zip!/etc/evil.tsv": "x"}, "member '/etc/evil.tsv' leaves the folder"),
        ({"xmind/fin/a.zip!C:\\evil.tsv": "x"}, "leaves the folder"),
    ],
)  # fmt: skip
def test_bad_input_is_named_and_nothing_is_left_behind(
    tmp_path: Path, files: dict[str, str | bytes], message: str
) -> None:
    good: dict[str, str | bytes] = {
        "news.tsv": raw.news("N1", "N2", "N3", "N4"), "behaviors.tsv": raw.TRAIN,
    }  # fmt: skip
    before = _prepare(raw.put(tmp_path / "good", good))[0].fingerprint
    source = raw.put(tmp_path / "raw", good | files)
    with pytest.raises(DataError) as caught:
        prepare_mind(source, tmp_path / "out")
    assert message in str(caught.value)
    assert Corpus.open(tmp_path / "out").fingerprint == before
    with pytest.raises(DataError):
        prepare_mind(source, tmp_path / "fresh")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["good", "out", "raw"]


@pytest.mark.parametrize("cut", [0.3, 0.9])
@pytest.mark.parametrize("name", ["behaviors.tsv.gz", "news.tsv.gz"])
def test_a_truncated_gzip_is_named(tmp_path: Path, name: str, cut: float) -> None:
    files: dict[str, str | bytes] = {
        "news.tsv.gz": raw.news("N1", "N2", "N3", "N4"), "behaviors.tsv.gz": raw.TRAIN,
    }  # fmt: skip
    source = raw.put(tmp_path / "raw", files)
    whole = (source / name).read_bytes()
    (source / name).write_bytes(whole[: int(len(whole) * cut)])
    with pytest.raises(DataError, match=rf"{name}: truncated or damaged archive.*get the file"):
        _prepare(source)


def test_a_damaged_member_of_a_zip_is_named(tmp_path: Path) -> None:
    source = raw.put(tmp_path / "raw", _WRAPPINGS["zips"])
    path = source / "MINDsmall_train.zip"
    whole = bytearray(path.read_bytes())
    at = whole.index(b"N3-1")
    whole[at : at + 4] = b"N3-0"
    path.write_bytes(bytes(whole))
    with pytest.raises(DataError, match=r"train\.zip/behaviors\.tsv: truncated or damaged"):
        _prepare(source)


def test_missing_files_are_named(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="no such file or folder"):
        _prepare(tmp_path / "nowhere")
    (tmp_path / "empty").mkdir()
    with pytest.raises(DataError, match=r"no news\.tsv and no xMIND file, expected"):
        _prepare(tmp_path / "empty")
    source = raw.put(tmp_path / "raw", {"news.tsv": raw.news("N1")})
    with pytest.raises(DataError, match=r"no behaviors\.tsv; pass --news-only"):
        _prepare(source)
    corpus, report = _prepare(source, news_only=True)
    assert (corpus.splits, report.news, report.readers) == ((), 1, 0)


def test_keep_first_keeps_the_first_text_and_counts(tmp_path: Path) -> None:
    other = raw.NEWS["N1"].replace("Gold", "Silver")
    source = raw.mind(tmp_path / "raw", **{"MINDsmall_dev/news.tsv": other + raw.NEWS["N4"]})
    with pytest.raises(DataError, match=r"MINDsmall_dev/news\.tsv:1: id 'N1' again.*--keep-first"):
        _prepare(source)
    corpus, report = _prepare(source, keep_first=True)
    assert corpus.texts("eng").title[0] == '"Gold" on the last lap'
    assert any("1 of them with another text" in note for note in report.notes)


def test_unknown_options_are_refused() -> None:
    with pytest.raises(ConfigError, match="known: newsrec, newsreclib"):
        MindOptions(protocol="newsrecli")
    with pytest.raises(ConfigError, match="a share from 0 to 1"):
        MindOptions(max_missing=1.5)
    with pytest.raises(ConfigError, match="known: demo, large, small"):
        MindOptions(size="smal")


@pytest.mark.shared
def test_the_shared_log_has_the_shelf_that_was_measured(shared_data: Path, tmp_path: Path) -> None:
    """Counts of ``shared/data/README.md``: 3,320 impressions, 2,121 English and 42,416 Mandarin
    texts. On the Mandarin shelf 1,611 impressions of readers with a history have a click and a
    non-click shown, and 163 are complete (issue 2, section 5); 32 cold readers come on top."""
    corpus, report = prepare_mind(shared_data / "mind", tmp_path / "c")
    assert [(shelf.code, shelf.articles) for shelf in report.languages] == [
        ("eng", 2_121), ("cmn", 42_416),
    ]  # fmt: skip
    test = corpus.impressions("test")
    assert len(test) == 3_320
    present = np.asarray(corpus.texts("cmn").present)
    _, _, counts = keep_shown(test, present, present)
    assert counts["kept"] - counts["kept_without_history"] == 1_611
    assert counts["kept_without_history"] == 32
    _, _, counts = keep_shown(test, present, present, complete_only=True)
    assert counts["kept"] == 163
    theirs, _ = prepare_mind(
        shared_data / "mind", tmp_path / "t", MindOptions(protocol="newsreclib")
    )
    _, _, counts = keep_shown(theirs.impressions("test"), present, present)
    assert (counts["kept"], counts["kept_without_history"]) == (1_611, 0)


@pytest.mark.shared
def test_a_shelf_of_headlines_without_clicks_is_prepared(shared_data: Path, tmp_path: Path) -> None:
    """``adressa_titles``: two files of 5,957 and 6,085 lines that share 2,573 articles."""
    options = MindOptions(language="nob", news_only=True)
    corpus, report = prepare_mind(shared_data / "adressa_titles", tmp_path / "c", options)
    assert report.news == 5_957 + 6_085 - 2_573
    assert corpus.languages == ("nob",)


@pytest.mark.parametrize("kind", ["behaviors.tsv", "behaviors.tsv.gz", "b.zip!behaviors.tsv"])
def test_progress_counts_the_bytes_of_behaviors(tmp_path: Path, kind: str) -> None:
    raw.put(tmp_path / "raw", {"news.tsv": raw.news("N1", "N2", "N3", "N4"), kind: raw.TRAIN})
    told: list[tuple[int, int]] = []
    prepare_mind(
        tmp_path / "raw", tmp_path / "c", on_progress=lambda done, total: told.append((done, total))
    )
    n = len(raw.TRAIN.encode())
    assert told[-1] == (n, n)
    assert [done for done, _ in told] == sorted(done for done, _ in told)


def test_impressions_in_the_future_are_counted(tmp_path: Path) -> None:
    behaviors = "1\tU1\t11/15/2984 8:55:22 AM\tN1\tN2-1 N1-0\n"
    raw.put(tmp_path / "raw", {"news.tsv": raw.news("N1", "N2"), "behaviors.tsv": behaviors})
    _, report = prepare_mind(tmp_path / "raw", tmp_path / "c")
    assert "note: 1 impressions are more than a day after now" in "\n".join(report.lines())
