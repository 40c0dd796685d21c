"""Judged pairs: what is read, and what is refused."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from newsrec.corpus.pairs import read_pairs
from newsrec.errors import DataError


def written(path: Path, text: str) -> Path:
    path.write_text(text, encoding="utf-8")
    return path


def test_texts_with_an_overall_grade(tmp_path: Path) -> None:
    path = written(
        tmp_path / "p.tsv",
        "pair\tlang1\tlang2\toverall\ttext1\ttext2\n"
        'x\ten\tfi\t1.0\tA "quoted train\tJuna\n'
        'y\ten\tde\t2.49\tA "quoted train\tEin Zug\n'
        "z\tde\tfi\t3.5\tEin Zug\tJuna\n",
    )
    found = read_pairs(path)
    assert found.by_text
    assert found.articles == ('A "quoted train', "Juna", "Ein Zug")
    assert found.languages == ("eng", "fin", "deu")
    assert found.pairs.tolist() == [[0, 1], [0, 2], [2, 1]]
    assert found.apart.tolist() == [0, 1, 3]
    assert found.grade(3).tolist() == [3, 2, 0]
    assert found.grade(1).tolist() == [1, 0, 0]


def test_grades_of_the_paper() -> None:
    """Very similar at all three levels, somewhat similar at two, somewhat dissimilar at one."""
    from newsrec.corpus.pairs import JudgedPairs

    apart = np.arange(4)
    found = JudgedPairs(("a", "b"), (), np.zeros((4, 2), np.int64), apart)
    assert found.grade(3).tolist() == [3, 2, 1, 0]
    assert found.grade(2).tolist() == [2, 1, 0, 0]


def test_ids_with_yes_or_no(tmp_path: Path) -> None:
    rows = [{"id1": "N1", "id2": 7, "same": 1}, {"id1": "N1", "id2": "N3", "same": False}]
    path = written(tmp_path / "p.jsonl", "\n".join(map(json.dumps, rows)))
    found = read_pairs(path)
    assert (found.by_text, found.articles) == (False, ("N1", "7", "N3"))
    assert found.grade(3).tolist() == [3, 0]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("a,b\n1,2\n", "expected id1, id2"),
        ("id1,id2\nN1,N2\n", "no judgement"),
        ("id1,id2,same\nN1,N2,perhaps\n", "p.csv:2: same 'perhaps'"),
        ("id1,id2,overall\nN1,N2,5\n", "p.csv:2: overall '5'"),
        ("id1,id2,overall\nN1,N2,nan\n", "p.csv:2: overall"),
        ("text1,text2,lang1,lang2,same\nA,,en,en,1\n", "p.csv:2: empty text2"),
        ("id1,id2,same\n", "no rows"),
    ],
)
def test_what_is_no_judged_pair_is_refused(tmp_path: Path, text: str, said: str) -> None:
    with pytest.raises(DataError, match=said):
        read_pairs(written(tmp_path / "p.csv", text))


def test_an_unknown_language_is_named(tmp_path: Path) -> None:
    text = "text1,text2,lang1,lang2,same\nA,B,en,xx9,1\n"
    with pytest.raises(DataError, match=r"p\.csv:2: lang2: unknown language 'xx9'"):
        read_pairs(written(tmp_path / "p.csv", text))


@pytest.mark.shared
def test_the_pairs_of_semeval_are_read(shared_data: Path) -> None:
    found = read_pairs(shared_data / "semeval2022_task8" / "pairs_with_text.tsv.gz")
    assert len(found.pairs) == 1896
    assert found.by_text
    assert 3000 < len(found.articles) <= 2 * 1896
    assert set(found.apart.tolist()) == {0, 1, 2, 3}
