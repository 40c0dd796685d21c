"""Which models and options of RecBole there are."""

from __future__ import annotations

import ast
import sys
from pathlib import Path
from typing import Any

import pytest

from newsrec.errors import ConfigError
from newsrec.recbole import worker
from newsrec.recbole.models import check_models, check_options


def test_models_come_once_and_unknown_ones_are_answered_with_the_list() -> None:
    assert check_models(["BPR", "SASRec", "BPR"]) == ("BPR", "SASRec")
    with pytest.raises(ConfigError, match=r"unknown RecBole model 'SASRek'; .*BPR.*'SASRec'"):
        check_models(["SASRek"])
    with pytest.raises(ConfigError, match="no model named"):
        check_models([])


@pytest.mark.parametrize(
    "options", [{"learning_rate": 0.01}, {"loss_type": "BPR", "mlp_hidden_size": [64, 32]}, {}]
)
def test_plain_options_pass(options: dict[str, Any]) -> None:
    assert check_options(options) == options


@pytest.mark.parametrize("value", ["__import__('os')", "a b", "x.y", [1, "f()"], {"a": 1}, ""])
def test_texts_that_recbole_would_evaluate_are_refused(value: object) -> None:
    with pytest.raises(ConfigError, match="expected a number, a word or a list"):
        check_options({"loss_type": value})


@pytest.mark.parametrize("key", ["data_path", "load_col", "seed", "epochs", "dataset", "eval_args"])
def test_what_newsrec_decides_cannot_be_set(key: str) -> None:
    with pytest.raises(ConfigError, match="decided by newsrec"):
        check_options({key: 1})


def test_the_worker_needs_nothing_of_newsrec() -> None:
    """It runs where newsrec is not installed, and loads nothing but numpy before it begins."""
    tree = ast.parse(Path(worker.__file__).read_text("utf-8"))
    found = {
        (alias.name if isinstance(node, ast.Import) else node.module or "").split(".")[0]
        for node in ast.walk(tree)
        if isinstance(node, ast.Import | ast.ImportFrom)
        for alias in node.names
    }
    assert found <= {*sys.stdlib_module_names, "__future__", "numpy", "torch", "recbole"}
    calls = {node.attr for node in ast.walk(tree) if isinstance(node, ast.Attribute)}
    assert "resume_checkpoint" not in calls
    assert ("torch", "load") not in {
        (node.value.id, node.attr) for node in ast.walk(tree)
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name)
    }  # fmt: skip
