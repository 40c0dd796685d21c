"""Trainable numbers with frozen vectors of 768 against table 2 of paper 004, and their sums."""

from __future__ import annotations

import pytest

from newsrec.rank.heads import make_head
from newsrec.rank.inputs import Inputs
from newsrec.types import EncoderSpec

CATEGORIES, ENTITIES = 18, 9_300

# 19 rows of 100, brought to 768.
CATEGORY = 19 * 100 + 100 * 768 + 768
AMONG_ENTITIES = 4 * 100 * 101 + 102 * 200
ENTITY_TABLE = (ENTITIES + 1) * 100


def additive(width: int, query: int) -> int:
    return width * query + 2 * query


def gru(size: int) -> int:
    return 6 * size * size + 6 * size


MINS = CATEGORY + 2 * additive(768, 100) + 4 * 768 * 769
CAUM_USER = (
    (4 * 400 * 400 + 400) + (2 * 400 * 400 + 400) + 4 * 400 * 401 + (2 * 400 * 400 + 400)
    + (2 * 400 * 400 + 400) + (400 * 256 + 256) + (256 + 1)
)  # fmt: skip


def inputs(*views: str, dim: int = 768) -> Inputs:
    encoder = EncoderSpec("generated", "0", dim, "mean", (dim,), normalized=False)
    return Inputs(
        views, dim, encoder,
        categories=tuple(f"category {i}" for i in range(CATEGORIES)),
        entities=tuple(f"Q{i}" for i in range(ENTITIES)),
    )  # fmt: skip


def count(name: str, *views: str, dim: int = 768, **options: object) -> int:
    return make_head(name, inputs(*views, dim=dim), **options).n_trainable()


@pytest.mark.parametrize(
    ("name", "views", "options", "total", "printed", "unit"),
    [
        ("naml", ("title", "abstract"), {}, CATEGORY + 2 * additive(768, 50), 0.156e6, 0.001e6),
        ("mins", ("title", "abstract"), {"one_gru": True}, MINS + gru(128), 2.69e6, 0.01e6),
        (
            "caum", ("title",), {},
            968 * 400 + 400 + 19 * 100 + 100 * 101 + AMONG_ENTITIES + ENTITY_TABLE + CAUM_USER,
            3.7e6, 0.1e6,
        ),
        (
            "manner", ("title+abstract",), {},
            868 * 768 + 768 + AMONG_ENTITIES + ENTITY_TABLE, 1.7e6, 0.1e6,
        ),
        ("lfrec", ("title+abstract",), {}, 0, 0.0, 1.0),
    ],
)  # fmt: skip
def test_counts_are_those_of_table_2(
    name: str, views: tuple[str, ...], options: dict[str, object], total: int,
    printed: float, unit: float,
) -> None:  # fmt: skip
    found = count(name, *views, **options)
    assert found == total
    # A printed 1.7 stands for anything from 1.65 to 1.75.
    assert abs(found - printed) <= max(0.01 * printed, unit / 2)


def test_a_gru_for_every_channel_is_the_default_of_mins() -> None:
    assert count("mins", "title", "abstract") == MINS + 6 * gru(128)


def test_naml_cat_is_table_2_without_the_attention_over_its_only_view() -> None:
    found = count("naml-cat")
    assert found == CATEGORY + additive(768, 200)
    assert abs(found + additive(768, 200) - 0.387e6) <= 0.0005e6


def test_four_printed_figures_leave_one_range_for_the_entities() -> None:
    """Table 2 prints MANNeR and CAUM for vectors of 768 (1.7, 3.7 M) and, beside attention over
    tokens, of 1,024 (2.1, 8.2 M)."""
    low, high = 0, 10**6
    tokens = 4 * 1024 * 1025 + additive(1024, 200)
    for name, dim, printed, more in (
        ("manner", 768, 1.7e6, 0),
        ("manner", 1024, 2.1e6, 0),
        ("caum", 768, 3.7e6, 0),
        ("caum", 1024, 8.2e6, tokens),
    ):
        rest = count(name, "title", dim=dim) + more - ENTITY_TABLE
        low = max(low, int(printed - 0.05e6 - rest) // 100)
        high = min(high, int(printed + 0.05e6 - rest) // 100)
    assert low <= ENTITIES <= high
    assert high - low < 200


def test_the_number_of_views_changes_no_attention_and_widens_caum() -> None:
    assert count("naml", "title+abstract") == count("naml", "title", "abstract")
    assert count("caum", "title", "abstract") - count("caum", "title") == 768 * 400
