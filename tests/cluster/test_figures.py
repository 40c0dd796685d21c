"""Figures of a view: drawn from any names, without a warning, saying what they leave out."""

from __future__ import annotations

import struct
import warnings
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from newsrec.cluster import Articles, Captions, View, draw, view_of
from newsrec.cluster import figures as drawing
from newsrec.cluster.lettering import families, label
from newsrec.cluster.treemap import squarify
from newsrec.types.clusters import ClusterTree
from tests.cluster.shown import generated_view, sample_view

NAMES = [
    "harbour & <b>budget</b>", "$\\frac{", "_hidden", "港湾の予算", "துறைமுகம்", "ท่าเรือ", "ميناء",
    "🎈 balloons", "\U0001fbc5", "word" * 60, "a\u200bb", "𝼀𝼁",
]  # fmt: skip


def of_names(names: list[str], **more: object) -> View:
    """One theme, topic and story a name; two articles each, an hour apart."""
    n = len(names)
    row = np.repeat(np.arange(n), 2).astype(np.int32)
    tree = ClusterTree(np.stack([row, row, row]), (1, 1, 1), (0.1, 0.2, 0.3))
    times = np.datetime64("2026-03-01T00:00:00", "s") + np.arange(2 * n) * 3600
    titles = {"eng": [f"title {i}" for i in range(2 * n)]}
    articles = Articles([f"N{i}" for i in range(2 * n)], times, titles)
    return view_of(tree, articles, Captions([names] * 3, **more))  # type: ignore[arg-type]


def size(path: Path) -> tuple[int, int]:
    data = path.read_bytes()
    assert data[:8] == b"\x89PNG\r\n\x1a\n"
    width, height = struct.unpack(">II", data[16:24])
    return width, height


def test_a_view_is_drawn_in_three_figures_without_a_warning(tmp_path: Path) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        paths = draw(sample_view(), tmp_path)
        draw(generated_view(3000), tmp_path / "more")
    assert [path.name for path in paths] == [
        "hierarchy.png", "stories_over_time.png", "languages.png",
    ]  # fmt: skip
    assert all(min(size(path)) > 400 for path in paths)
    assert sorted(path.name for path in tmp_path.glob("*.*")) == sorted(p.name for p in paths)


def test_any_name_is_drawn_or_replaced_without_a_warning(tmp_path: Path) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert len(draw(of_names(NAMES), tmp_path)) == 3


def texts(figure: object) -> str:
    from matplotlib.text import Text

    found = figure.findobj(Text)  # type: ignore[attr-defined]
    return "\n".join(text.get_text() for text in found)


def test_a_name_that_no_font_has_is_replaced_and_the_figure_says_so() -> None:
    # A letter of a script that was never encoded is in no font.
    view = of_names(["\U000e1000\u0378\u0379", "harbour"])
    said = texts(drawing._hierarchy(view))
    assert "3 names are in letters that no installed font has" in said
    assert "theme 0" in said
    assert "harbour" in said
    assert "no installed font" not in texts(drawing._hierarchy(of_names(["harbour", "storm"])))


def test_keywords_stand_for_a_name_that_cannot_be_drawn() -> None:
    unknown = "\u0378\u0379"
    keywords = [[["budget", unknown, "harbour"]]] * 3
    view = of_names([unknown], keywords=keywords)
    assert label(view.root.children[0], "theme")[::2] == ("budget, harbour", False)
    story = of_names([unknown]).root.children[0].children[0].children[0]
    assert label(story, "story")[::2] == ("title 1", False)


def test_latin_letters_need_only_the_font_that_matplotlib_brings() -> None:
    assert families("Über große Façade, №") == ["DejaVu Sans"]


@pytest.mark.parametrize("text", ["港湾", "துறைமுகம்", "ท่าเรือ"])
def test_letters_of_other_scripts_come_from_a_font_that_has_them(text: str) -> None:
    from matplotlib.font_manager import FontProperties, findfont
    from matplotlib.ft2font import FT2Font

    found = families(text)
    if found is None:
        # Then it must be true: no font that matplotlib knows has them all, or it cannot shape.
        assert label(of_names([text]).root.children[0], "theme")[2] is False
        return
    have: set[int] = set()
    for name in found:
        have |= set(FT2Font(findfont(FontProperties(family=name))).get_charmap())
    assert set(map(ord, text)) <= have


def test_a_view_without_times_or_text_or_clusters_is_drawn_as_far_as_it_goes(
    tmp_path: Path,
) -> None:
    nowhere = ClusterTree(np.full((2, 3), -1, np.int32), (1, 1), (0.1, 0.2))
    times = np.full(3, np.datetime64("NaT", "s"))
    view = view_of(nowhere, Articles(["a", "b", "c"], times, {}), Captions([[], []]))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert [path.name for path in draw(view, tmp_path)] == ["hierarchy.png"]


SIDES = st.floats(0.1, 50)


@given(st.lists(st.integers(1, 10**6), min_size=1, max_size=60), SIDES, SIDES)
def test_tiles_have_the_area_of_their_value_and_do_not_overlap(
    values: list[int], width: float, height: float
) -> None:
    values.sort(reverse=True)
    boxes = squarify(values, (1.0, 2.0, width, height))
    area = width * height
    np.testing.assert_allclose(
        boxes[:, 2] * boxes[:, 3],
        np.array(values) / sum(values) * area,
        rtol=1e-6,
        atol=1e-9 * area,
    )
    x, y, w, h = boxes.T
    slack = 1e-7 * max(width, height)
    assert x.min() >= 1 - slack
    assert y.min() >= 2 - slack
    assert (x + w).max() <= 1 + width + slack
    assert (y + h).max() <= 2 + height + slack
    apart = (x[:, None] + w[:, None] <= x + slack) | (y[:, None] + h[:, None] <= y + slack)
    either = apart | apart.T
    np.fill_diagonal(either, True)
    # A sliver thinner than the slack may lie on its neighbour's edge.
    thin = np.minimum(w, h) <= 2 * slack
    assert np.all(either | thin[:, None] | thin)


def test_the_colours_are_those_of_the_page() -> None:
    script = Path(drawing.__file__).parent / "page" / "script" / "data.js"
    assert ", ".join(f'"{colour}"' for colour in drawing.COLOURS) in script.read_text("utf-8")
