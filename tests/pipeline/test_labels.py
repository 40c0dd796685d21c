"""Labels of articles: a corpus's own and those of a file."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from newsrec.corpus import Corpus
from newsrec.errors import ConfigError, DataError
from newsrec.pipeline.labels import labels_of
from newsrec.pipeline.open import open_corpus


@pytest.fixture(scope="module")
def corpus() -> Corpus:
    return open_corpus(None)


def test_a_column_is_numbered_by_label_and_unknown_where_it_says_nothing(
    corpus: Corpus, tmp_path: Path
) -> None:
    ids = corpus.news.ids.tolist()
    file = tmp_path / "labels.csv"
    file.write_text(f"id,mood\n{ids[3]},glad\n{ids[1]},sad\n{ids[4]}, glad \n{ids[5]},\nelse,sad\n")
    found = labels_of(corpus, ("category", "mood"), file)
    np.testing.assert_array_equal(corpus.news.category, found["category"])
    assert found["mood"][[3, 4]].tolist() == [0, 0]
    assert found["mood"][1] == 1
    assert (np.delete(found["mood"], [1, 3, 4]) == -1).all()


@pytest.mark.parametrize(
    ("content", "error", "said"),
    [
        (
            None,
            ConfigError,
            "the corpus does not say it; bring a CSV file with the columns id,mood",
        ),
        (
            "id,tone\nN01,x\n",
            ConfigError,
            "unknown aspect .*'mood'; known: category, subcategory, t",
        ),
        ("key,mood\nN01,x\n", DataError, "labels.csv:1: columns key, mood, expected id"),
        ("id,mood\nnobody,x\n", DataError, "none of its ids is an article of corpus 'sample'"),
        ("", DataError, "columns none, expected id"),
    ],
)
def test_what_is_no_file_of_labels_is_said(
    content: str | None, error: type[Exception], said: str, corpus: Corpus, tmp_path: Path
) -> None:
    file = tmp_path / "labels.csv"
    if content is not None:
        file.write_text(content)
    with pytest.raises(error, match=said):
        labels_of(corpus, ("mood",), None if content is None else file)


def test_a_file_that_is_missing_is_said(corpus: Corpus, tmp_path: Path) -> None:
    with pytest.raises(DataError, match="cannot be read as CSV"):
        labels_of(corpus, ("mood",), tmp_path / "nothing.csv")
