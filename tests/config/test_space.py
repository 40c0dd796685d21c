"""Spaces as they are written: read back alike, and refused where they hold nothing."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from newsrec.config.space import Choice, Range, load_space, parse_space
from newsrec.errors import ConfigError

LINE = (
    "learning_rate=1e-5..1e-2 log, query=[50,100,200], dropout=0..0.5, epochs=3, "
    "hidden=[[400, 256], [200, 128]], temperature=0.1..0.5 step 0.02, clip=[null, 1e0], loss=ce"
)


def test_a_line_is_read() -> None:
    space = load_space(LINE)
    assert space.varied == {
        "learning_rate": Range(low=1e-5, high=1e-2, log=True),
        "query": Choice(values=(50, 100, 200)),
        "dropout": Range(low=0, high=0.5),
        "hidden": Choice(values=((400, 256), (200, 128))),
        "temperature": Range(low=0.1, high=0.5, step=0.02),
        "clip": Choice(values=(None, 1.0)),
    }
    assert space.fixed == {"epochs": 3, "loss": "ce"}


def test_a_file_says_what_a_line_says(tmp_path: Path) -> None:
    path = tmp_path / "space.yaml"
    path.write_text(load_space(LINE).to_yaml(), "utf-8")
    assert load_space(str(path)) == load_space(LINE)
    (tmp_path / "more.yaml").write_text(f"extends: {path.name}\nepochs: 5..9\nrate: 1e-3\n")
    more = load_space(str(tmp_path / "more.yaml"))
    assert more.varied["epochs"] == Range(low=5, high=9)
    assert more.fixed == {"loss": "ce", "rate": 1e-3}  # YAML 1.1 would keep 1e-3 a text


def test_one_value_in_a_list_is_fixed() -> None:
    space = load_space("query=[50], hidden=[[40, 8]]")
    assert space.fixed == {"query": 50, "hidden": (40, 8)}
    assert load_space("query=[50]").to_dict() == {"query": 50}
    assert parse_space(space.to_dict()) == space


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("a=5..1", "a: the range 5..1 is empty"),
        ("a=3..3", "a: the range 3..3 is empty"),
        ("a=0..1 log", "a: the range 0..1 log has no logarithm at 0"),
        ("a=-2..1 log", "no logarithm at -2"),
        ("a=1..9 log step 2", "steps on a logarithmic scale"),
        ("a=1..5 step 9", "steps of 9, which do not fit"),
        ("a=1..5 step 0", "steps of 0, which do not fit"),
        ("a=[]", "a: an empty list"),
        ("a=[1, 2, 1]", "a: 1 is in the list twice"),
        ("a=1..", r"a: '1\.\.', expected a value, a list"),
        ("a=nan..1", r"a: 'nan\.\.1', expected a value, a list"),
        ("a={low: 1}", "a: {'low': 1}, expected a value, a list"),
        ("a=2024-01-01", "a: datetime.date.*expected a value"),
        ("a", "'a', expected NAME=VALUES"),
        ("a b=3", "'a b=3', expected NAME=VALUES"),
        ("a=", "'a=', expected NAME=VALUES"),
        ("a=[1", "is no value"),
        ("a=1, a=2", "a is there twice"),
    ],
)
def test_what_holds_nothing_is_refused_by_name(line: str, said: str) -> None:
    with pytest.raises(ConfigError, match=said):
        load_space(line)


def test_errors_begin_with_the_file(tmp_path: Path) -> None:
    path = tmp_path / "space.yaml"
    path.write_text("query: 9..1\n")
    with pytest.raises(ConfigError, match=rf"{path.name}: query: the range 9..1 is empty"):
        load_space(str(path))
    with pytest.raises(ConfigError, match=r"missing.yaml: cannot be read"):
        load_space(str(tmp_path / "missing.yaml"))


numbers = st.integers(-1000, 1000) | st.floats(-1e9, 1e9, allow_nan=False)
positive = st.floats(1e-12, 1e9, allow_nan=False)


@given(st.lists(numbers, min_size=2, max_size=2, unique=True).map(sorted))
def test_every_range_is_read_back(ends: list[float]) -> None:
    space = parse_space({"x": Range(low=ends[0], high=ends[1]).written})
    assert parse_space(yaml.safe_load(space.to_yaml())) == space
    assert space.varied == {"x": Range(low=ends[0], high=ends[1])}


@given(st.lists(positive, min_size=2, max_size=2, unique=True).map(sorted))
def test_every_logarithmic_range_is_read_back(ends: list[float]) -> None:
    line = f"x={Range(low=ends[0], high=ends[1], log=True).written}"
    assert load_space(line).varied == {"x": Range(low=ends[0], high=ends[1], log=True)}


values = st.none() | st.booleans() | st.integers(-99, 99) | positive | st.sampled_from("ab")


@given(st.lists(values, min_size=2, max_size=5, unique_by=repr))
def test_every_choice_is_read_back(chosen: list[object]) -> None:
    space = parse_space({"x": chosen})
    assert parse_space(yaml.safe_load(space.to_yaml())) == space
    assert space.varied == {"x": Choice(values=tuple(chosen))}
