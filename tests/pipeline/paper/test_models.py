"""Encoders of the command line as columns of the paper's tables."""

from __future__ import annotations

from pathlib import Path

import pytest

from newsrec.errors import ConfigError, DataError
from newsrec.pipeline.paper.models import MODELS, column
from newsrec.pipeline.paper.printed import table
from tests.encode.models import bert


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return bert(tmp_path_factory.mktemp("models") / "any")


@pytest.mark.parametrize(
    ("word", "label", "name"),
    [
        ("nase", "NaSE", "nase"),
        ("LaBSE", "LaBSE", "labse"),
        ("sentence-transformers/LaBSE", "LaBSE", "labse"),
        ("xlm-roberta-large", "XLM-R", "FacebookAI/xlm-roberta-large"),
        ("XLM-R", "XLM-R", "FacebookAI/xlm-roberta-large"),
        ("mini", "mini", "mini"),
        ("me5-base", "me5-base", "me5-base"),
        ("LaBSE=mini", "LaBSE", "mini"),
    ],
)
def test_a_word_is_a_column(word: str, label: str, name: str) -> None:
    found = column(word)
    assert (found.label, found.name) == (label, name)
    assert found.tunable == ("mini" not in word)


def test_a_folder_gets_the_convention_of_its_column(folder: Path) -> None:
    assert column(f"labse={folder}").name == f"labse={folder}"
    assert column(f"NaSE-DAE+MT={folder}").name == f"nase={folder}"
    large = column(f"XLM-R={folder}")
    assert (large.name, large.large) == (str(folder), True)
    assert large.encoder("newsrec").options == {"pooling": "cls"}
    own = column(str(folder))
    assert (own.label, own.name) == ("any", str(folder))
    assert own.weights == large.weights
    named = bert(folder.with_name("NaSE"))
    assert (column(str(named)).label, column(str(named)).name) == ("NaSE", f"nase={named}")
    assert column(f"me5-base={folder}").label == "me5-base"


def test_the_papers_protocol_reads_labse_raw_as_its_code_does(folder: Path) -> None:
    found = column(f"LaBSE={folder}:precision=fp32")
    assert found.encoder("newsrec").options == {"precision": "fp32"}
    raw = {"pooling": "pooler", "normalize": False, "precision": "fp32"}
    assert found.encoder("newsreclib").options == raw


def test_other_weights_under_one_name_are_told_apart(folder: Path, tmp_path: Path) -> None:
    other = bert(tmp_path / "any", seed=1)
    assert column(f"LaBSE={other}").weights != column(f"LaBSE={folder}").weights


@pytest.mark.parametrize(
    ("word", "error", "said"),
    [
        ("LaBSE=/no/such/folder", DataError, "no such model folder"),
        ("LaBES=/no/such/folder", ConfigError, "Did you mean 'LaBSE'"),
        ("NaSE-DAE", ConfigError, "NaSE-DAE=FOLDER"),
    ],
)
def test_what_is_wrong_is_said_in_one_line(word: str, error: type[Exception], said: str) -> None:
    with pytest.raises(error, match=said) as caught:
        column(word)
    assert "\n" not in str(caught.value)


def test_every_model_of_the_tables_is_known() -> None:
    assert {row.model for n in (2, 3) for row in table(n).rows} <= set(MODELS)  # type: ignore[arg-type]
