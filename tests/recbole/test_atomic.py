"""Atomic files: what is written is what RecBole, and pandas below it, reads."""

from __future__ import annotations

import io
import struct
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from newsrec.errors import DataError
from newsrec.recbole.atomic import name_of, read_atomic, token, vector, write_atomic
from tests.recbole.made import IDS

ANY = st.text(st.characters(), max_size=12)


def as_recbole_reads(text: str) -> list[str]:
    """A token column as RecBole 1.2.1's `Dataset._load_feat` reads it."""
    frame = pd.read_csv(
        io.StringIO(text), delimiter="\t", usecols=["item_id:token"], dtype={"item_id:token": str},
        encoding="utf-8", engine="python",
    )  # fmt: skip
    return list(frame["item_id:token"])


@settings(deadline=None)
@given(ANY)
def test_a_token_stands_for_one_name(name: str) -> None:
    found = token(name)
    assert name_of(found) == name
    assert found.isascii()
    assert found
    assert not set(found) & set("\t\n\r \"'")


@settings(deadline=None)
@given(st.lists(ANY, min_size=1, max_size=20))
def test_no_token_is_missing_or_changed_for_pandas(names: list[str]) -> None:
    found = [token(name) for name in names]
    text = "item_id:token\tplace:float\n" + "".join(f"{t}\t{i}\n" for i, t in enumerate(found))
    assert as_recbole_reads(text) == found


@pytest.mark.parametrize(
    "name",
    [*IDS, "", "NaN", "N/A", "n/a", "#N/A", "#NA", "<NA>", "NULL", "None", "-NaN", "1.#IND",
     "-1.#QNAN", "1e5", "007", " x ", "[PAD]", "%", "%4EA"],
)  # fmt: skip
def test_names_that_mean_something_to_others_come_back(name: str) -> None:
    found = token(name)
    assert name_of(found) == name
    assert as_recbole_reads(f"item_id:token\tplace:float\n{found}\t0\n") == [found]


@settings(deadline=None)
@given(st.lists(st.floats(width=32, allow_nan=False, allow_infinity=False), min_size=1))
def test_vectors_keep_every_bit(values: list[float]) -> None:
    row = np.array(values, np.float32)
    back = np.array([float(x) for x in vector(row).split(" ")], np.float32)
    assert struct.pack(f"{len(row)}f", *back) == struct.pack(f"{len(row)}f", *row)


def test_what_was_written_is_read(tmp_path: Path) -> None:
    path = tmp_path / "x.inter"
    rows = [("u%201", "i", "0"), ("u2", "", "1")]
    assert write_atomic(path, ("user_id:token", "item_id:token", "place:float"), rows) == 2
    assert read_atomic(path) == {
        "user_id:token": ["u%201", "u2"], "item_id:token": ["i", ""], "place:float": ["0", "1"],
    }  # fmt: skip


def test_a_line_with_another_number_of_columns_is_named(tmp_path: Path) -> None:
    path = tmp_path / "x.inter"
    path.write_text("user_id:token\titem_id:token\nu\ti\nu\n")
    with pytest.raises(DataError, match=r"x\.inter:3: 1 columns, expected 2"):
        read_atomic(path)
