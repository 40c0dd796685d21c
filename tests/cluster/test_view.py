"""What a view counts, names and leaves out."""

from __future__ import annotations

import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from newsrec.cluster import Articles, Captions, Limits, View, view_of
from newsrec.cluster.timeline import timeline
from newsrec.cluster.view import Node, in_script, plural
from newsrec.errors import DataError
from newsrec.types.clusters import ClusterTree
from tests.cluster.shown import generated_tree, generated_view, named, sample_view

NAT = np.datetime64("NaT", "s")
MONDAY = np.datetime64("2026-03-02T00:00:00", "s")


def tree_of(*labels: list[int]) -> ClusterTree:
    n = len(labels)
    return ClusterTree(np.array(labels, np.int32), (1,) * n, (0.5,) * n)


def shelf(titles: dict[str, list[str]], published: object = None, urls: object = None) -> Articles:
    n = len(next(iter(titles.values())))
    times = np.full(n, NAT) if published is None else np.array(published, "datetime64[s]")
    return Articles([f"N{i}" for i in range(n)], times, titles, urls)  # type: ignore[arg-type]


def names_of(tree: ClusterTree) -> list[list[str]]:
    return [[f"{level}/{k}" for k in range(n)] for level, n in enumerate(tree.n_clusters)]


def small(**more: object) -> View:
    """Two themes of three and one articles, three stories; the last article is in none."""
    tree = tree_of([0, 0, 0, 1, -1], [0, 0, 1, 2, -1])
    titles = {"eng": ["a", "", "c", "", "e"], "arb": ["", "ب", "ت", "ث", ""]}
    days = [MONDAY, MONDAY + 86400 * 2, MONDAY + 86400 * 20, NAT, NAT]
    articles = shelf(titles, days, more.pop("urls", None))
    return view_of(tree, articles, Captions(names_of(tree), language="eng"), **more)  # type: ignore[arg-type]


def node(view: View, level: int, cluster: int) -> Node:
    return next(x for x in view.root.walk() if (x.level, x.cluster) == (level, cluster))


def test_articles_languages_and_days_are_counted_per_cluster() -> None:
    view = small()
    assert view.levels == ("topic", "story")
    assert (view.root.n, view.root.n_loose, view.root.n_children) == (5, 1, 2)
    assert view.languages == ("eng", "arb")
    theme = node(view, 0, 0)
    assert (theme.n, theme.name, [child.cluster for child in theme.children]) == (3, "0/0", [0, 1])
    assert theme.languages == ((0, 2), (1, 2))
    assert view.time is not None
    assert (view.time.step_s, view.time.n_unknown) == (86400, 2)
    assert theme.over_time == ((0, 1), (2, 1), (20, 1))
    assert view.root.languages == ((0, 3), (1, 3))
    first = int(MONDAY.astype(int))
    spans = [node(view, *at).span for at in [(-1, -1), (0, 0), (1, 1), (0, 1)]]
    last = first + 86400 * 20
    assert spans == [(first, last), (first, last), (last, last), ()]


def test_headlines_are_heads_then_the_newest_of_each_language() -> None:
    tree = tree_of([0] * 5)
    titles = {"eng": ["old", "mid", "new", "", ""], "fin": ["", "", "", "vanha", "uusi"]}
    days = [MONDAY, MONDAY + 1, MONDAY + 2, MONDAY + 3, MONDAY + 4]
    captions = Captions([["story"]])

    def order(**more: object) -> list[str]:
        view = view_of(tree, shelf(titles, days), captions, **more)  # type: ignore[arg-type]
        return [article.texts[0][1] for article in view.root.children[0].headlines]

    assert order() == ["uusi", "new", "vanha", "mid", "old"]
    assert order(heads=[[0, 3]]) == ["old", "vanha", "uusi", "new", "mid"]
    assert order(limits=Limits(headlines=2)) == ["uusi", "new"]


def test_an_article_without_date_comes_last_and_one_without_text_shows_its_id() -> None:
    tree = tree_of([0, 0, 0])
    view = view_of(tree, shelf({"eng": ["x", "y", ""]}, [NAT, MONDAY, NAT]), Captions([["s"]]))
    found = view.root.children[0].headlines
    assert [(a.id, a.published, a.texts) for a in found] == [
        ("N1", int(MONDAY.astype(int)), ((0, "y"),)),
        ("N2", None, ()),
        ("N0", None, ((0, "x"),)),
    ]


def test_only_http_links_are_kept() -> None:
    urls = [
        "https://a.example/1",
        "javascript:alert(1)",
        "data:text/html,x",
        "HTTP://B.example",
        "",
    ]
    found = {a.id: a.url for x in small(urls=urls).root.walk() for a in x.headlines}
    assert found == {"N0": urls[0], "N1": "", "N2": "", "N3": urls[3]}


def test_the_sample_is_whole_in_its_view() -> None:
    view = sample_view()
    assert view.n_clusters == (6, 18, 36)
    assert [view.n_listed(level) for level in range(3)] == [6, 18, 36]
    assert len(view.languages) == 15
    for story in (x for x in view.root.walk() if x.level == 2):
        assert (story.n, len(story.headlines)) == (2, 2)
        assert all(len(article.texts) == 15 for article in story.headlines)
        # The language of the names comes first.
        assert view.languages[story.headlines[0].texts[0][0]] == "eng"


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 400), st.integers(0, 2**20), st.integers(1, 60), st.integers(0, 60))
def test_a_view_adds_up_whatever_is_left_out(n: int, seed: int, listed: int, detailed: int) -> None:
    rng = np.random.default_rng(seed)
    if n:
        tree = generated_tree(n, rng)
        labels = tree.labels.copy()
        # Some articles in no story, some in nothing at all.
        lost = rng.random(n) < 0.1
        labels[2, lost] = -1
        labels[:, lost & (rng.random(n) < 0.5)] = -1
        labels = np.stack([_packed(row) for row in labels])
        tree = ClusterTree(labels, tree.dims, tree.thresholds)
    else:
        tree = ClusterTree(np.zeros((3, 0), np.int32), (1, 1, 1), (0.1, 0.2, 0.3))
    articles = shelf({"eng": [f"t{i}" for i in range(n)]})
    limits = Limits(listed=listed, detailed=min(listed, detailed))
    view = view_of(tree, articles, Captions(named(tree, rng)), limits=limits)
    for x in view.root.walk():
        held = sum(child.n for child in x.children)
        assert held + x.n_loose <= x.n
        if x.level + 1 < tree.n_levels and len(x.children) == x.n_children:
            assert held + x.n_loose == x.n
        assert len(x.headlines) <= limits.headlines
        assert [c.n for c in x.children] == sorted((c.n for c in x.children), reverse=True)
        if x.detailed and n:
            assert sum(count for _, count in x.languages) == x.n
        if x.cluster >= 0:
            assert x.n == np.count_nonzero(tree.labels[x.level] == x.cluster)
    in_all = sum(view.n_listed(level) for level in range(3))
    assert in_all == min(listed, sum(tree.n_clusters))
    assert json.loads(view.to_json())["root"]["n"] == n


def _packed(row: np.ndarray) -> np.ndarray:
    used = np.unique(row[row >= 0])
    return np.where(row >= 0, np.searchsorted(used, row), -1).astype(np.int32)


def test_the_largest_are_listed_first_until_the_page_is_full() -> None:
    whole = generated_view(3000)
    size = len(whole.to_json().encode())
    rng = np.random.default_rng(0)
    tree = generated_tree(3000, rng)
    articles = shelf({"tam": [f"துறைமுகம் {i}" * 6 for i in range(3000)]})
    view = view_of(tree, articles, Captions(named(tree, rng)), max_bytes=size // 3)
    assert len(view.to_json().encode()) <= size // 3
    listed = [x.n for x in view.root.walk() if x.level == 2]
    sizes = np.sort(tree.sizes(2))[::-1]
    assert listed
    np.testing.assert_array_equal(np.sort(listed)[::-1], sizes[: len(listed)])


def test_hostile_text_stays_text() -> None:
    nasty = "</script><script>alert(1)</script><!-- \u2028\u2029 & \ud800 \x00\x1b"
    tree = tree_of([0])
    articles = shelf({"eng": [nasty]})
    json_text = view_of(tree, articles, Captions([[nasty]], [[[nasty]]], [[nasty]])).to_json()
    assert not set("<>&\u2028\u2029") & set(json_text)
    json_text.encode("utf-8")
    name = json.loads(json_text)["root"]["x"][0]["a"][0][4]
    assert name == "</script><script>alert(1)</script><!-- & \ufffd"


@given(st.text())
def test_json_in_a_script_reads_the_same(text: str) -> None:
    assert json.loads(in_script(json.dumps(text, ensure_ascii=False))) == text


def test_titles_are_cut_and_say_so() -> None:
    view = view_of(tree_of([0]), shelf({"eng": ["long " * 500]}), Captions([["x"]]))
    title = view.root.children[0].headlines[0].texts[0][1]
    assert len(title) <= 200
    assert title.endswith("…")


@pytest.mark.parametrize(
    ("hours", "step_s"),
    [(1, 3600), (60, 3600), (24 * 10, 6 * 3600), (24 * 30, 86400), (24 * 400, 7 * 86400)],
)
def test_buckets_follow_the_span(hours: int, step_s: int) -> None:
    times = MONDAY + np.arange(hours + 1) * 3600
    found = timeline(times)
    assert found is not None
    assert (found.step_s, found.n_outside) == (step_s, 0)
    bucket = found.bucket(times)
    assert bucket.min() >= 0
    assert bucket.max() == found.n - 1 < 72
    starts = found.starts()
    assert np.all(starts[bucket] <= times)
    assert np.all(times < starts[bucket] + np.timedelta64(step_s, "s"))


def test_weeks_begin_on_monday() -> None:
    found = timeline(MONDAY + np.arange(300) * 86400 + 86400 * 3)
    assert found is not None
    days = found.starts().astype("datetime64[D]").tolist()
    assert {day.strftime("%A") for day in days} == {"Monday"}


def test_a_wrong_year_does_not_squeeze_all_others() -> None:
    times = np.append(MONDAY + np.arange(200) * 3600, np.datetime64("1970-01-01T00:00:00", "s"))
    found = timeline(times)
    assert found is not None
    assert (found.step_s, found.n_outside) == (6 * 3600, 1)
    assert found.bucket(times)[-1] == -1
    assert timeline(np.full(3, NAT)) is None


@settings(max_examples=50, deadline=None)
@given(st.lists(st.integers(-(2**36), 2**36), min_size=1, max_size=60))
def test_every_time_is_in_a_bucket_or_counted_as_outside(seconds: list[int]) -> None:
    times = np.array(seconds, "datetime64[s]")
    found = timeline(times)
    assert found is not None
    assert np.count_nonzero(found.bucket(times) < 0) == found.n_outside <= 0.02 * len(seconds)
    assert 1 <= found.n <= 72


@pytest.mark.parametrize(
    ("what", "said"),
    [
        ({"captions": Captions([["a"], ["b"]])}, "names"),
        ({"captions": Captions([["0"], ["1"]], keywords=[[[]]])}, "names|keywords"),
        ({"levels": ["story", "topic", "theme"]}, "levels: 3, the tree has 2"),
        ({"heads": [[0]]}, "heads: 1, the tree has 2"),
        ({"articles": shelf({"eng": ["x"]})}, "articles: 1, the tree has 2"),
    ],
)
def test_parts_that_do_not_fit_are_refused(what: dict[str, object], said: str) -> None:
    tree = tree_of([0, 0], [0, 1])
    given = {"captions": Captions(names_of(tree)), "articles": shelf({"eng": ["x", "y"]})} | what
    with pytest.raises(DataError, match=said):
        view_of(tree, **given)  # type: ignore[arg-type]
    with pytest.raises(DataError, match=r"titles\['fin'\]: 1 rows, expected 2"):
        Articles(["a", "b"], np.full(2, NAT), {"fin": ["x"]})


def test_levels_have_plurals() -> None:
    assert [plural(x) for x in ("theme", "story", "day")] == ["themes", "stories", "days"]
    tree = tree_of([0], [0], [0], [0])
    view = view_of(tree, shelf({"eng": ["x"]}), Captions(names_of(tree)))
    assert view.levels == ("theme", "topic1", "topic2", "story")
