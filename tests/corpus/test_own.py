"""Own articles and clicks to a corpus: formats, columns, histories, negatives, bad input."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from newsrec.corpus import ArticleOptions, Corpus, Report, prepare_articles
from newsrec.errors import ConfigError, DataError
from tests.corpus import raw

Rows = list[dict[str, Any]]

ARTICLES: Rows = [
    {"id": "a1", "language": "deu", "title": "Ein Zug", "abstract": "Kurz.", "category": "news",
     "published": "2026-01-01T08:00:00Z", "story": "s1"},
    {"id": "a2", "language": "en", "title": "A train", "abstract": "", "category": "news",
     "published": "2026-01-01T10:00:00+02:00", "story": "s1"},
    {"id": "b1", "language": "fi", "title": "Sadetta, \"paljon\"", "abstract": "Rivi 1\nRivi 2",
     "category": "", "published": "2026-01-02 08:00:00", "story": ""},
    {"id": "b2", "language": "deu", "title": "Suppe", "abstract": "", "category": "food",
     "published": "", "story": ""},
]  # fmt: skip
CLICKS: Rows = [
    {"user": "u1", "article": "a1", "time": "2026-01-03T08:00:00"},
    {"user": "u2", "article": "a1", "time": "2026-01-03T09:00:00"},
    {"user": "u1", "article": "b1", "time": "2026-01-04T08:00:00"},
    {"user": "u1", "article": "a2", "time": "2026-01-05T08:00:00"},
]


def _csv(rows: Rows, delimiter: str = ",") -> str:
    text = io.StringIO()
    columns = list(dict.fromkeys(name for row in rows for name in row))
    writer = csv.DictWriter(text, columns, delimiter=delimiter, lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue()


def _jsonl(rows: Rows) -> str:
    return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)


def _parquet(rows: Rows) -> bytes:
    buffer = io.BytesIO()
    pq.write_table(pa.Table.from_pylist(rows), buffer)
    return buffer.getvalue()


def _prepare(
    tmp_path: Path, articles: Rows = ARTICLES, clicks: Rows = CLICKS, **options: Any
) -> tuple[Corpus, Report]:
    raw.put(tmp_path, {"articles.csv": _csv(articles), "clicks.csv": _csv(clicks)})
    return prepare_articles(
        tmp_path / "articles.csv", tmp_path / "clicks.csv", tmp_path / "out",
        ArticleOptions(**options),
    )  # fmt: skip


ALL_TEST = {
    "valid_from": np.datetime64("2000-01-01", "s"),
    "test_from": np.datetime64("2000-01-01", "s"),
}


def test_each_article_is_a_row_present_in_its_own_language(tmp_path: Path) -> None:
    corpus, _ = _prepare(tmp_path)
    assert corpus.news.ids.tolist() == ["a1", "a2", "b1", "b2"]
    assert corpus.languages == ("deu", "eng", "fin")
    assert corpus.texts("deu").present.tolist() == [True, False, False, True]
    assert corpus.texts("fin").title[2] == 'Sadetta, "paljon"'
    assert corpus.texts("fin").abstract[2] == "Rivi 1\nRivi 2"
    assert corpus.texts("eng").title[0] == ""
    assert corpus.news.story.tolist() == [0, 0, -1, -1]
    assert corpus.news.category.tolist() == [0, 0, -1, 1]


def test_times_with_a_zone_become_utc_and_unknown_ones_when_first_shown(tmp_path: Path) -> None:
    clicks = [*CLICKS, {"user": "u1", "article": "b2", "time": "2026-01-06T08:00:00"}]
    corpus, _ = _prepare(tmp_path, clicks=clicks)
    assert corpus.news.published.astype(str).tolist() == [
        "2026-01-01T08:00:00", "2026-01-01T08:00:00", "2026-01-02T08:00:00", "2026-01-06T08:00:00",
    ]  # fmt: skip
    assert corpus.info["published"] == "given, 1 first shown"


def test_a_history_is_what_was_clicked_strictly_before_with_its_language(tmp_path: Path) -> None:
    clicks = [*CLICKS, {"user": "u1", "article": "b2", "time": "2026-01-05T08:00:00"}]
    corpus, _ = _prepare(tmp_path, clicks=clicks, **ALL_TEST)
    test = corpus.impressions("test")
    histories = [test.history[k].tolist() for k in test.history_of]
    assert histories == [[], [], [0], [0, 2], [0, 2]]
    spoken = corpus.history_language("test")
    assert spoken is not None
    languages = [corpus.languages[k] for k in spoken]
    rows = test.history.values.tolist()
    assert dict(zip(rows, languages, strict=True)) == {0: "deu", 2: "fin"}


@pytest.mark.parametrize(
    ("name", "write"),
    [("{}.csv", _csv), ("{}.tsv", lambda rows: _csv(rows, "\t")), ("{}.jsonl", _jsonl),
     ("{}.ndjson", _jsonl), ("{}.parquet", _parquet), ("{}.csv.gz", _csv),
     ("{}.jsonl.zip!{}.jsonl", _jsonl), ("{}.parquet.gz", _parquet)],
)  # fmt: skip
def test_every_format_gives_the_same_corpus(tmp_path: Path, name: str, write: Any) -> None:
    expected, _ = _prepare(tmp_path)
    names = {kind: name.replace("{}", kind) for kind in ("articles", "clicks")}
    files = {names["articles"]: write(ARTICLES), names["clicks"]: write(CLICKS)}
    raw.put(tmp_path / "raw", files)
    paths = [tmp_path / "raw" / names[kind].split("!")[0] for kind in ("articles", "clicks")]
    found, _ = prepare_articles(*paths, tmp_path / "other")
    assert found.fingerprint == expected.fingerprint


def test_times_are_read_in_every_stated_form(tmp_path: Path) -> None:
    moment = 1_767_600_000  # 2026-01-05T08:00:00Z, from `date -u -d @1767600000`
    forms = ["2026-01-05T08:00:00", "2026-01-05 08:00:00Z", "2026-01-05T10:00:00+02:00",
             "2026-01-05T08:00:00.999", str(moment), str(moment * 1000), f"{moment}.5"]  # fmt: skip
    clicks = [{"user": f"u{k}", "article": "a1", "time": form} for k, form in enumerate(forms)]
    corpus, _ = _prepare(tmp_path, clicks=clicks, **ALL_TEST)
    assert set(corpus.impressions("test").time.astype(str)) == {"2026-01-05T08:00:00"}


def test_parquet_keeps_typed_times_numbers_and_lists(tmp_path: Path) -> None:
    times = pa.array([1_767_600_000_123] * 2, pa.timestamp("ms", tz="Europe/Oslo"))
    table = pa.table(
        {
            "user": pa.array([7, 8]),
            "article": pa.array([["a1"], []], pa.list_(pa.string())),
            "time": times,
            "shown": pa.array([["a1", "b1"], ["b1", "b2"]]),
        }
    )
    raw.put(tmp_path, {"articles.csv": _csv(ARTICLES)})
    pq.write_table(table, tmp_path / "clicks.parquet")
    corpus, _ = prepare_articles(
        tmp_path / "articles.csv", tmp_path / "clicks.parquet", tmp_path / "out"
    )
    assert corpus.users.tolist() == ["7", "8"]
    parts = [corpus.impressions(split) for split in corpus.splits]
    assert {str(t) for part in parts for t in part.time} == {"2026-01-05T08:00:00"}
    assert [part.candidates.values.tolist() for part in parts] == [[0, 2, 2, 3]]
    assert parts[0].clicked is not None
    assert parts[0].clicked.tolist() == [True, False, False, False]


@pytest.mark.parametrize("separator", [" ", "|", " | "])
def test_visits_with_what_was_shown(tmp_path: Path, separator: str) -> None:
    clicks = [
        {"user": "u1", "article": "b1", "time": "2026-01-05", "impression": "i9",
         "shown": separator.join(["a1", "b1", "b2"])},
        # A second click of the same list, and one that the list does not name.
        {"user": "u1", "article": "a2", "time": "2026-01-05T00:00:09", "impression": "i9",
         "shown": ""},
    ]  # fmt: skip
    corpus, _ = _prepare(tmp_path, clicks=clicks, **ALL_TEST)
    test = corpus.impressions("test")
    assert test.ids.tolist() == ["i9"]
    assert test.time.astype(str).tolist() == ["2026-01-05T00:00:00"]
    assert test.candidates[0].tolist() == [0, 2, 3, 1]
    assert test.clicked is not None
    assert test.clicked.tolist() == [False, True, False, True]


@pytest.mark.parametrize("name", ["a 1", "a|1", "|", "a  1 | b"])
@pytest.mark.parametrize("more", [{}, {"clicked": "1"}, {"impression": "i 1|2"}])
def test_an_id_may_hold_spaces_and_bars(tmp_path: Path, name: str, more: dict[str, str]) -> None:
    articles = [ARTICLES[0] | {"id": name}, ARTICLES[1] | {"id": "a"}, ARTICLES[2] | {"id": "1"}]
    clicks = [{"user": "u 1", "article": f" {name} ", "time": "2026-01-05"} | more]
    corpus, report = _prepare(tmp_path, articles, clicks, **ALL_TEST)
    assert corpus.impressions("test").candidates[0].tolist() == [0]
    assert list(report.dropped.values()) == [0, 0, 0]


def test_lists_of_ids_are_taken_as_they_are(tmp_path: Path) -> None:
    names = ["a 1", "a|1", "a"]
    articles = [ARTICLES[k] | {"id": name} for k, name in enumerate(names)]
    clicks = [{"user": "u1", "article": ["a 1"], "shown": names, "time": "2026-01-05"},
              {"user": "u1", "article": ["a|1", "a"], "time": "2026-01-05T01:00"}]  # fmt: skip
    raw.put(tmp_path, {"articles.csv": _csv(articles), "clicks.jsonl": _jsonl(clicks)})
    corpus, _ = prepare_articles(
        tmp_path / "articles.csv", tmp_path / "clicks.jsonl", tmp_path / "out",
        ArticleOptions(**ALL_TEST),
    )  # fmt: skip
    test = corpus.impressions("test")
    assert test.candidates.values.tolist() == [0, 1, 2, 1, 2]
    assert test.clicked is not None
    assert test.clicked.tolist() == [True, False, False, True, True]


@pytest.mark.parametrize("impression", [True, False])
def test_one_row_a_shown_article(tmp_path: Path, impression: bool) -> None:
    clicks: Rows = [
        {"user": "u1", "article": name, "time": "2026-01-05", "clicked": clicked}
        for name, clicked in (("a1", "0"), ("b1", "1"), ("b2", "False"))
    ]
    clicks.append({"user": "u2", "article": "a1", "time": "2026-01-05", "clicked": "true"})
    if impression:
        clicks = [{"impression": "x" + row["user"], **row} for row in clicks]
    corpus, _ = _prepare(tmp_path, clicks=clicks, **ALL_TEST)
    test = corpus.impressions("test")
    assert [list(c) for c in test.candidates] == [[0, 2, 3], [0]]
    assert test.clicked is not None
    assert test.clicked.tolist() == [False, True, False, True]


def test_splits_lie_at_the_quantiles_of_the_clicks_and_are_recorded(tmp_path: Path) -> None:
    clicks = [
        {"user": f"u{k}", "article": "a1", "time": str(1_767_600_000 + k * 60)} for k in range(100)
    ]
    corpus, report = _prepare(tmp_path, clicks=clicks)
    assert {split.name: split.impressions for split in report.splits} == {
        "train": 80, "valid": 10, "test": 10,
    }  # fmt: skip
    assert corpus.info["valid_from"] == str(corpus.impressions("train").time.max() + 12)
    _, report = _prepare(
        tmp_path,
        clicks=clicks,
        valid_from=np.datetime64(1_767_600_000 + 60, "s"),
        test_from=np.datetime64(1_767_600_000 + 180, "s"),
    )
    assert [split.impressions for split in report.splits] == [1, 2, 97]
    with pytest.raises(ConfigError, match=r"valid-from .* lies after test-from"):
        _prepare(
            tmp_path,
            valid_from=np.datetime64("2026-01-05", "s"),
            test_from=np.datetime64("2026-01-04", "s"),
        )


def test_histories_hold_the_newest_clicks_up_to_the_limit(tmp_path: Path) -> None:
    clicks = [{"user": "u", "article": ARTICLES[k % 4]["id"], "time": str(1_767_600_000 + k)}
              for k in range(8)]  # fmt: skip
    corpus, _ = _prepare(tmp_path, clicks=clicks, max_history=3, **ALL_TEST)
    test = corpus.impressions("test")
    assert [test.history[k].tolist() for k in test.history_of[:6]] == [
        [], [0], [0, 1], [0, 1, 2], [1, 2, 3], [2, 3, 0],
    ]  # fmt: skip


def _many(n_articles: int, n_clicks: int) -> tuple[Rows, Rows]:
    rng = np.random.default_rng(7)
    languages = ["deu", "fin"]
    articles = [
        {"id": f"n{k}", "language": languages[k % 2], "title": f"t{k}",
         "published": str(1_767_600_000 + 3600 * k)}
        for k in range(n_articles)
    ]  # fmt: skip
    clicks = [
        {"user": f"u{rng.integers(5)}", "article": f"n{rng.integers(n_articles)}",
         "time": str(1_767_600_000 + 3600 * int(rng.integers(n_articles, 2 * n_articles)))}
        for _ in range(n_clicks)
    ]  # fmt: skip
    return articles, clicks


def test_negatives_are_recent_unclicked_and_of_the_language_of_the_click(tmp_path: Path) -> None:
    articles, clicks = _many(200, 60)
    options = {"negatives": 5, "negatives_days": 3.0, **ALL_TEST}
    corpus, report = _prepare(tmp_path, articles, clicks, **options)
    test = corpus.impressions("test")
    assert test.clicked is not None
    by_user: dict[int, set[int]] = {}
    for k in range(len(test)):
        at = slice(test.candidates.offsets[k], test.candidates.offsets[k + 1])
        by_user.setdefault(int(test.user[k]), set()).update(
            test.candidates.values[at][test.clicked[at]].tolist()
        )
    places = []
    for k in range(len(test)):
        at = slice(test.candidates.offsets[k], test.candidates.offsets[k + 1])
        rows, clicked = test.candidates.values[at], test.clicked[at]
        assert clicked.sum() == 1
        assert len(set(rows.tolist())) == len(rows) <= 6
        places.append(int(np.argmax(clicked)) if len(rows) == 6 else -1)
        negatives = rows[~clicked]
        assert not set(negatives.tolist()) & by_user[int(test.user[k])]
        age = test.time[k] - corpus.news.published[negatives]
        assert (age >= np.timedelta64(0)).all()
        assert (age < np.timedelta64(3, "D")).all()
        assert len(set((rows % 2).tolist())) == 1
    assert len({place for place in places if place >= 0}) > 2
    assert corpus.info["negatives"] == {"synthetic": 5, "days": 3.0, "seed": 42}
    added = sum(int((~corpus.impressions(split).clicked).sum()) for split in corpus.splits)
    told = [note for note in report.notes if "candidates are synthetic: " in note]
    (count,) = re.findall(r"synthetic: ([\d,]+) unclicked .* 5 to each but", told[0])
    assert int(count.replace(",", "")) == added > 0
    _, bare = _prepare(tmp_path, articles, clicks, **{**options, "negatives_days": 1e-6})
    assert any("synthetic: 0 " in n and n.endswith("--negatives-days") for n in bare.notes)
    again, _ = _prepare(tmp_path, articles, clicks, **options)
    assert again.fingerprint == corpus.fingerprint
    other, _ = _prepare(tmp_path, articles, clicks, **options, seed=1)
    assert other.fingerprint != corpus.fingerprint


def test_visits_that_tell_what_was_shown_get_no_negatives(tmp_path: Path) -> None:
    clicks = [{"user": "u1", "article": "a1", "time": "2026-01-05", "shown": "a1 b1"}]
    corpus, _ = _prepare(tmp_path, clicks=clicks, negatives=3, **ALL_TEST)
    assert corpus.impressions("test").candidates[0].tolist() == [0, 2]


def test_columns_may_be_renamed(tmp_path: Path) -> None:
    articles = [{"nid": a["id"], "lang": a["language"], "headline": a["title"]} for a in ARTICLES]
    clicks = [{"uid": c["user"], "nid": c["article"], "Time": c["time"]} for c in CLICKS]
    columns = "id=nid, language=lang,title=headline,user=uid,article=nid"
    corpus, _ = _prepare(tmp_path, articles, clicks, columns=columns)
    assert corpus.news.ids.tolist() == ["a1", "a2", "b1", "b2"]
    with pytest.raises(ConfigError, match=r"no column 'titel'; known: .* Nearest: 'title'"):
        _prepare(tmp_path, articles, clicks, columns="titel=headline")
    with pytest.raises(ConfigError, match="'id', expected OURS=THEIRS"):
        _prepare(tmp_path, articles, clicks, columns="id")


def test_clicks_on_unknown_articles_are_dropped_counted_and_fatal_past_the_limit(
    tmp_path: Path,
) -> None:
    clicks = [
        *CLICKS,
        {"user": "u3", "article": "zz", "time": "2026-01-05"},
        {"user": "u1", "article": "b1", "time": "2026-01-06"},
    ]
    corpus, report = _prepare(tmp_path, clicks=clicks)
    assert list(report.dropped.values()) == [1, 1, 1]
    assert corpus.users.tolist() == ["u1", "u2"]
    with pytest.raises(DataError, match=r"clicks\.csv: 1 of 4 ids \(25\.0%\).*'zz'"):
        _prepare(tmp_path, clicks=clicks, max_missing=0.2)
    with pytest.raises(DataError, match="no click on any of the 4 articles"):
        _prepare(tmp_path, clicks=clicks[4:5], max_missing=1.0)


def _twice() -> bytes:
    """A Parquet file with two columns of one name."""
    columns = [pa.array(["a"]), pa.array(["deu"]), pa.array(["one"]), pa.array(["two"])]
    table = pa.Table.from_arrays(columns, names=["id", "language", "title", "title"])
    pq.write_table(table, buffer := io.BytesIO())
    return buffer.getvalue()


def _with(rows: Rows, k: int, **changes: str) -> Rows:
    return [{**row, **changes} if i == k else row for i, row in enumerate(rows)]


def _without(rows: Rows, column: str, name: str = "") -> Rows:
    return [{(name if k == column else k): v for k, v in row.items() if name or k != column}
            for row in rows]  # fmt: skip


@pytest.mark.parametrize(
    ("articles", "clicks", "message"),
    [
        # The abstract of b1 spans two lines: the next record starts on line 6.
        (_with(ARTICLES, 3, language="xx-yy-zz"), CLICKS,
         "articles.csv:6: unknown language 'xx-yy-zz', expected an ISO 639-3 code; nearest known"),
        (_with(ARTICLES, 1, published="yesterday"), CLICKS,
         "articles.csv:3: unknown time 'yesterday' in 'published', expected 2026-"),
        (_with(ARTICLES, 1, id="a1", language="deu"), CLICKS,
         "articles.csv:3: id 'a1' again with another text in deu: 'A train', before 'Ein Zug'"),
        (_with(ARTICLES, 1, id="a1"), CLICKS,
         "articles.csv:3: id 'a1' again in eng, before in deu"),
        (_with(ARTICLES, 0, id=" "), CLICKS, "articles.csv:2: empty id"),
        (_without(ARTICLES, "title", "titel"), CLICKS,
         "no column 'title' among 'id', 'language', 'titel', 'abstract'"),
        (_without(ARTICLES, "title", "titel"), CLICKS, "--columns title=titel"),
        (_without(ARTICLES, "language"), CLICKS, "no column 'language' among"),
        (ARTICLES, _without(CLICKS, "user"), "clicks.csv:1: no column 'user'"),
        (ARTICLES, _with(CLICKS, 2, time="13/45/2026"), "clicks.csv:4: unknown time '13/45/2026'"),
        (ARTICLES, _with(CLICKS, 2, user=""), "clicks.csv:4: empty user"),
        (ARTICLES, _with(CLICKS, 2, article=""), "clicks.csv:4: empty article"),
        (ARTICLES, [{**row, "clicked": "2"} for row in CLICKS], "clicks.csv:2: clicked is '2'"),
        (ARTICLES, [{**row, "impression": "i"} for row in CLICKS],
         "clicks.csv:3: impression 'i' of reader 'u2', before of 'u1'"),
    ],
)  # fmt: skip
def test_bad_rows_are_named_and_nothing_is_left_behind(
    tmp_path: Path, articles: Rows, clicks: Rows, message: str
) -> None:
    with pytest.raises(DataError) as caught:
        _prepare(tmp_path, articles, clicks)
    assert message in str(caught.value)
    assert sorted(p.name for p in tmp_path.iterdir()) == ["articles.csv", "clicks.csv"]


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("a.csv", "", "a.csv: empty file"),
        ("a.csv", "id,language,title\n", "a.csv: no rows"),
        ("a.csv", "id,language,title\na,deu\n", "a.csv:2: 2 columns, expected 3"),
        ("a.csv", 'id,language,title\na,deu,"open\n', "a.csv:2: "),
        ("a.csv", "id,language,title\na,deu,\udce9".encode("utf-8", "surrogateescape"),
         "a.csv:2: bytes b'\\xe9"),
        ("a.csv", "id;language;title\na;deu;x\n",
         "a.csv:1: one column 'id;language;title', separated by ';'? Expected commas"),
        ("a.csv", "id,language,title\na,,x\n", "a.csv:2: no language, expected an ISO 639-3 code"),
        ("a.jsonl", '{"id": "a"\n', "a.jsonl:1: not JSON"),
        ("a.jsonl", '{"id": "a", "language": "deu", "title": "x"}\n[1]\n', "a.jsonl:2: list"),
        ("a.parquet", "PAR1", "a.parquet: not a Parquet file"),
        ("a.parquet", _twice(), "a.parquet: column 'title' comes 2 times in the header"),
        ("a.xlsx", "x", ".xlsx, expected .csv, .tsv, .jsonl"),
        ("a.zip!../a.csv", "x", "member '../a.csv' leaves the folder"),
        ("a.csv.gz", "", "a.csv.gz: empty file"),
    ],
)  # fmt: skip
def test_bad_files_are_named(tmp_path: Path, name: str, content: str | bytes, message: str) -> None:
    raw.put(tmp_path, {name: content, "clicks.csv": _csv(CLICKS)})
    with pytest.raises(DataError) as caught:
        prepare_articles(tmp_path / name.split("!")[0], tmp_path / "clicks.csv", tmp_path / "out")
    assert message in str(caught.value)


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    raw.put(tmp_path, {"articles.csv": _csv(ARTICLES)})
    with pytest.raises(DataError, match=r"clicks\.csv: no such file"):
        prepare_articles(tmp_path / "articles.csv", tmp_path / "clicks.csv", tmp_path / "out")


def test_unknown_options_are_refused() -> None:
    for bad in ({"negatives": -1}, {"max_history": 0}, {"negatives_days": 0.0}, {"max_missing": 2}):
        with pytest.raises(ConfigError, match="expected"):
            ArticleOptions(**bad)  # type: ignore[arg-type]


_log = st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3), st.integers(0, 6)), min_size=1)


@given(_log, st.integers(1, 4))
@settings(deadline=None, max_examples=30)
def test_histories_equal_those_gathered_by_hand(
    tmp_path_factory: pytest.TempPathFactory, log: Sequence[tuple[int, int, int]], limit: int
) -> None:
    clicks = [{"user": f"u{u}", "article": ARTICLES[a]["id"], "time": str(1_767_600_000 + t)}
              for u, a, t in log]  # fmt: skip
    corpus, _ = _prepare(
        tmp_path_factory.mktemp("own"), clicks=clicks, max_history=limit, **ALL_TEST
    )
    test = corpus.impressions("test")
    in_time = sorted(log, key=lambda click: click[2])
    assert len(test) == len(log)
    for k, (user, article, time) in enumerate(in_time):
        before = [a for u, a, t in in_time if u == user and t < time]
        assert test.history[int(test.history_of[k])].tolist() == before[-limit:]
        assert test.candidates[k].tolist() == [article]


def _with(tmp_path: Path, articles: str, clicks: str = "", suffix: str = "jsonl") -> Report:
    files: dict[str, str | bytes] = {
        f"articles.{suffix}": articles, "clicks.csv": clicks or _csv(CLICKS[:1])
    }  # fmt: skip
    raw.put(tmp_path, files)
    _, report = prepare_articles(
        tmp_path / f"articles.{suffix}", tmp_path / "clicks.csv", tmp_path / "out"
    )
    return report


def _article(**changes: Any) -> str:
    return json.dumps({"id": "a1", "language": "deu", "title": "Ein Zug"} | changes) + "\n"


@pytest.mark.parametrize("write", [_csv, _jsonl])
def test_a_text_may_be_of_any_length(tmp_path: Path, write: Any) -> None:
    limit = csv.field_size_limit()
    long = "ab cd " * 40_000
    suffix = "csv" if write is _csv else "jsonl"
    _with(tmp_path, write([ARTICLES[0] | {"body": long}]), suffix=suffix)
    body = Corpus.open(tmp_path / "out").texts("deu").body
    assert body is not None
    assert body[0] == long.strip()
    assert csv.field_size_limit() == limit


@pytest.mark.parametrize("header", ["id,id,language,title", "id,ID ,language,title"])
def test_a_column_that_comes_twice_is_refused(tmp_path: Path, header: str) -> None:
    with pytest.raises(DataError, match=r"articles.csv:1: column 'id' comes 2 times"):
        _with(tmp_path, f"{header}\na1,x,deu,Zug\n", suffix="csv")


@pytest.mark.parametrize("title", [["Ein", "Zug"], {"de": "Ein Zug"}])
def test_a_title_that_is_no_text_names_line_and_field(tmp_path: Path, title: Any) -> None:
    text = _article() + _article(id="a2", title=title)
    with pytest.raises(DataError, match=rf"articles.jsonl:2: {type(title).__name__} in 'title'"):
        _with(tmp_path, text)


def test_deep_nesting_names_its_line(tmp_path: Path) -> None:
    text = _article() + '{"id": ' + "[" * 100_000 + "]" * 100_000 + "}\n"
    with pytest.raises(DataError, match=r"articles.jsonl:2: not JSON"):
        _with(tmp_path, text)


def test_characters_that_are_no_text_are_replaced_and_counted(tmp_path: Path) -> None:
    text = _article(title="Ein\0Zug") + _article(id="a2", abstract="\ud83d Suppe \udc00")
    report = _with(tmp_path, text + _article(id="a3", title="heil 🚂"))
    texts = Corpus.open(tmp_path / "out").texts("deu")
    assert (texts.title[0], texts.abstract[1]) == ("Ein\ufffdZug", "\ufffd Suppe \ufffd")
    assert texts.title[2] == "heil 🚂"
    assert "note: 2 texts held NUL characters or lone surrogates (U+FFFD now)" in report.lines()


@pytest.mark.parametrize("column", ["id", "category", "story"])
@pytest.mark.parametrize("bad", ["a1\0", "a\ud800"])
def test_a_name_with_characters_that_are_no_text_is_refused(
    tmp_path: Path, column: str, bad: str
) -> None:
    with pytest.raises(DataError, match=rf"articles.jsonl:1: {column} .* holds U\+(0000|D800)"):
        _with(tmp_path, _article(**{column: bad}))


@pytest.mark.parametrize("column", ["user", "article"])
def test_a_click_with_characters_that_are_no_text_is_refused(tmp_path: Path, column: str) -> None:
    clicks = _csv([CLICKS[0] | {column: "a1\0"}])
    with pytest.raises(DataError, match=r"clicks.csv:2: .* holds U\+0000"):
        _with(tmp_path, _article(), clicks)


def _read_log(tmp_path: Path, clicks: str | bytes, suffix: str = "jsonl") -> Corpus:
    raw.put(tmp_path, {"articles.csv": _csv(ARTICLES), f"clicks.{suffix}": clicks})
    log = tmp_path / f"clicks.{suffix}"
    return prepare_articles(tmp_path / "articles.csv", log, tmp_path / "out")[0]


_VISIT = {"user": "u1", "article": "a1", "shown": ["a1", "b1"], "time": "2026-01-05"}


@pytest.mark.parametrize(
    ("column", "cell", "found"),
    [
        ("article", {"id": "a1"}, "dict"),
        ("article", [{"id": "a1"}], "dict"),
        ("article", [["a1"]], "list"),
        ("article", True, "bool"),
        ("shown", {"a1": 1}, "dict"),
        ("shown", ["a1", ["b1"]], "list"),
        ("shown", ["a1", {"id": "b1"}], "dict"),
        ("shown", ["a1", True], "bool"),
        ("user", True, "bool"),
        ("user", float("inf"), "number inf"),
        ("user", ["u1"], "list"),
        ("impression", False, "bool"),
        ("time", True, "bool"),
    ],
)
def test_a_click_that_is_no_name_names_line_and_column(
    tmp_path: Path, column: str, cell: Any, found: str
) -> None:
    text = _jsonl([_VISIT, _VISIT | {column: cell}])
    with pytest.raises(DataError, match=rf"clicks.jsonl:2: {found} in '{column}', expected"):
        _read_log(tmp_path, text.replace("Infinity", "1e400"))


@pytest.mark.parametrize(
    ("column", "cells", "found"),
    [
        ("article", [b"a1"], "bytes"),
        ("shown", [[b"a1"]], "bytes"),
        ("shown", [[{"id": "a1"}]], "dict"),
        ("user", pa.array([[("u", 1)]], pa.map_(pa.string(), pa.int64())), "list"),
        ("shown", pa.array([[[("u", 1)]]], pa.list_(pa.map_(pa.string(), pa.int64()))), "list"),
    ],
)
def test_a_parquet_cell_that_is_no_name_names_row_and_column(
    tmp_path: Path, column: str, cells: Any, found: str
) -> None:
    columns = {name: [cell] for name, cell in _VISIT.items()} | {column: cells}
    pq.write_table(pa.table(columns), buffer := io.BytesIO())
    with pytest.raises(DataError, match=rf"clicks.parquet:1: {found} in '{column}', expected"):
        _read_log(tmp_path, buffer.getvalue(), "parquet")


@pytest.mark.parametrize("column", ["id", "story"])
def test_an_article_with_a_long_id_is_refused(tmp_path: Path, column: str) -> None:
    articles = _article(**{column: "ä" * 128}) + _article(**{"id": "a2", column: "ä" * 128 + "b"})
    with pytest.raises(DataError) as caught:
        _with(tmp_path, articles)
    assert f"articles.jsonl:2: {column} 'ääää" in str(caught.value)
    assert "of 257 bytes, expected up to 256 in UTF-8" in str(caught.value)
    assert len(str(caught.value)) < 200
    if column == "story":
        _with(tmp_path, articles.splitlines()[0])


@pytest.mark.parametrize("column", ["user", "impression", "article", "shown"])
@pytest.mark.parametrize("in_list", [True, False])
def test_a_click_with_a_long_id_is_refused(tmp_path: Path, column: str, in_list: bool) -> None:
    rows = [_VISIT | {"impression": "i1"}, _VISIT | {"impression": "i2"}]
    cell: Any = "x" * 60_000
    if in_list and column in ("article", "shown"):
        cell = [cell]
    with pytest.raises(
        DataError, match=rf"clicks.jsonl:2: {column} 'x+'… of 60,000 bytes, expected up to 256"
    ):
        _read_log(tmp_path, _jsonl([rows[0], rows[1] | {column: cell}]))


def test_numbers_name_readers_and_articles_and_truth_values_say_clicked(tmp_path: Path) -> None:
    articles = [ARTICLES[0] | {"id": 7}, ARTICLES[1] | {"id": 8.0}]
    raw.put(tmp_path, {"articles.jsonl": _jsonl(articles)})
    rows = [{"user": 1, "article": 7, "time": 1_767_600_000, "clicked": True},
            {"user": 1, "article": 8, "time": 1_767_600_000, "clicked": False}]  # fmt: skip
    raw.put(tmp_path, {"clicks.jsonl": _jsonl(rows)})
    corpus, _ = prepare_articles(
        tmp_path / "articles.jsonl", tmp_path / "clicks.jsonl", tmp_path / "out"
    )
    assert (corpus.news.ids.tolist(), corpus.users.tolist()) == (["7", "8"], ["1"])
    shown = corpus.impressions(corpus.splits[0])
    assert shown.clicked is not None
    assert shown.clicked.tolist() == [True, False]


@pytest.mark.parametrize("days", [float("nan"), float("inf"), 1e12, 0.0, -1.0])
def test_a_window_that_is_no_time_is_refused(days: float) -> None:
    with pytest.raises(ConfigError, match="negatives_days"):
        ArticleOptions(negatives=1, negatives_days=days)


def test_a_seed_below_0_is_refused() -> None:
    with pytest.raises(ConfigError, match="seed -1"):
        ArticleOptions(seed=-1)


def test_times_in_the_future_are_counted_and_kept(tmp_path: Path) -> None:
    articles = [ARTICLES[0] | {"published": "2999-01-01"}, *ARTICLES[1:]]
    late = {"user": "u1", "article": "a1", "time": "32000000000000"}  # In 2984.
    _, report = _prepare(tmp_path, articles=articles, clicks=[*CLICKS, late])
    notes = "\n".join(report.notes)
    assert "1 articles are published more than a day after now (the last 2999-01-01" in notes
    assert "1 impressions are more than a day after now" in notes
    _, report = _prepare(tmp_path / "sound")
    assert "after now" not in "\n".join(report.lines())


@pytest.mark.parametrize("time", ["1768000000000000", "1768000000000000000", "3000-01-01"])
def test_times_of_no_year_near_name_their_line(tmp_path: Path, time: str) -> None:
    unknown = "unknown time '{}'.* expected 2026-.* of the years 1400 to 2999"
    late = {"user": "u1", "article": "a1", "time": time}
    with pytest.raises(DataError, match="clicks.csv:6: " + unknown.format(time)):
        _prepare(tmp_path, clicks=[*CLICKS, late])
    with pytest.raises(DataError, match="articles.csv:3: " + unknown.format(time)):
        _prepare(tmp_path, articles=[ARTICLES[0], ARTICLES[1] | {"published": time}])


@pytest.mark.parametrize(
    "times",
    [
        pa.array([1_767_600_000, 1_767_600_000_000_000]),
        pa.array([1_767_600_000, 1_767_600_000_000], pa.timestamp("s")),
        # 2 ** 64 microseconds later: what an overflow would make 2026 of.
        pa.array([1_767_600_000, 1_767_600_000 + 18_446_744_073_709], pa.timestamp("s", "UTC")),
        pa.array([20_458, 20_458_000], pa.date32()),
    ],
)
def test_parquet_times_of_no_year_near_name_their_row(tmp_path: Path, times: Any) -> None:
    columns = {"user": ["u1", "u2"], "article": ["a1", "a1"], "time": times}
    pq.write_table(pa.table(columns), buffer := io.BytesIO())
    with pytest.raises(DataError, match=r"clicks.parquet:2: unknown time '.*', expected 2026-"):
        _read_log(tmp_path, buffer.getvalue(), "parquet")


def test_progress_counts_articles_then_clicks(tmp_path: Path) -> None:
    articles, clicks = tmp_path / "articles.csv", tmp_path / "clicks.csv"
    articles.write_text("id,language,title\na,eng,One\nb,fin,Kaksi\n", "utf-8")
    clicks.write_text("user,article,time\n" + "u,a,2024-05-01 10:00:00\n" * 3, "utf-8")
    told: list[tuple[int, int]] = []
    prepare_articles(
        articles, clicks, tmp_path / "c", on_progress=lambda done, total: told.append((done, total))
    )
    assert told == [(0, 2), (2, 2), (0, 3), (3, 3)]


def test_articles_that_nobody_clicked_are_a_shelf(tmp_path: Path) -> None:
    articles = tmp_path / "articles.csv"
    articles.write_text(_csv(ARTICLES), encoding="utf-8")
    corpus, report = prepare_articles(articles, None, tmp_path / "shelf")
    assert (report.news, report.readers, corpus.splits) == (4, 0, ())
    again = Corpus.open(tmp_path / "shelf")
    assert again.texts("deu").title[int(again.news.rows(["a1"])[0])] == "Ein Zug"
    assert len(again.users) == 0
    with pytest.raises(ConfigError, match="need --clicks"):
        prepare_articles(articles, None, tmp_path / "other", ArticleOptions(negatives=4))
    assert not (tmp_path / "other").exists()
