"""The shape of the package: imports point one way, and what must stay light stays light."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

PACKAGE = Path(__file__).resolve().parent.parent / "newsrec"
FOUNDATION = (
    "errors", "types", "protocols", "languages", "files", "late", "parquet", "places", "plain",
    "processes",
)  # fmt: skip
STAGES = (
    "corpus", "text", "encode", "adapt", "cluster", "rank", "rerank", "evaluate", "similarity",
)  # fmt: skip
LAYER = {
    **dict.fromkeys(FOUNDATION, 0),
    **dict.fromkeys(STAGES, 1),
    **dict.fromkeys(("config", "spelling", "build", "track"), 2),
    **dict.fromkeys(("pipeline", "mini", "recbole"), 3),
    **dict.fromkeys(("serve", "cli", "__main__"), 4),
}
FILES = sorted(PACKAGE.rglob("*.py"))
# A heavy import lives in one file (or, for the training code, one stage).
HOME = {
    "sentence_transformers": ("encode/sentence.py",),
    "mlflow": ("track/", "pipeline/pyfunc.py"),
    "faiss": ("rank/",),
    "optuna": ("pipeline/tune/study.py",),
    "torch": (
        "encode/sentence.py", "encode/precision.py", "encode/policies.py", "encode/tower.py",
        "adapt/", "cluster/summarise/local.py", "recbole/worker.py", "rank/aspects.py",
        "rank/checkpoints.py", "rank/heads/", "rank/layers.py", "rank/loop.py", "rank/losses.py",
        "rank/neural.py", "rank/news_modules.py", "rank/peers.py", "rank/train.py", "rank/tuned.py",
    ),
    "peft": ("adapt/lora.py", "encode/policies.py", "cluster/summarise/local.py"),
    "recbole": ("recbole/worker.py",),
}  # fmt: skip


def imported(path: Path) -> set[str]:
    """Every module a file imports, late ones too."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: relative import"
            found.add(node.module or "")
            found |= {f"{node.module}.{alias.name}" for alias in node.names}
    return found


def name_of(path: Path) -> str:
    """The part of the package a file belongs to: a stage, a layer's module."""
    return path.relative_to(PACKAGE).with_suffix("").parts[0]


@pytest.mark.parametrize("path", FILES, ids=lambda p: str(p.relative_to(PACKAGE)))
def test_imports_point_up_the_list(path: Path) -> None:
    own = name_of(path)
    if own == "__init__":
        return
    for module in imported(path):
        parts = module.split(".")
        if parts[0] != "newsrec" or len(parts) < 2 or parts[1] not in LAYER:
            continue
        other = parts[1]
        if other == own:
            continue
        assert LAYER[other] <= LAYER[own], f"{path.name}: {own} must not import {other}"
        both_stages = own in STAGES and other in STAGES
        assert not both_stages, f"{path.name}: stage {own} must not import stage {other}"


@pytest.mark.parametrize("heavy", sorted(HOME))
def test_a_heavy_import_lives_in_one_place(heavy: str) -> None:
    for path in FILES:
        where = path.relative_to(PACKAGE).as_posix()
        if any(module.split(".")[0] == heavy for module in imported(path)):
            assert where.startswith(HOME[heavy]), f"{where} imports {heavy}"


def test_no_function_is_longer_than_sixty_lines() -> None:
    for path in FILES:
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.FunctionDef):
                length = (node.end_lineno or 0) - node.lineno + 1
                assert length <= 60, f"{path.name}:{node.lineno} {node.name}: {length} lines"


def test_no_file_is_named_for_nothing() -> None:
    nothing = {"utils", "util", "helpers", "common", "manager", "base", "misc"}
    assert not [path for path in FILES if path.stem in nothing]


def test_commands_are_short() -> None:
    for path in (PACKAGE / "cli").rglob("*.py"):
        assert path.read_text("utf-8").count("\n") <= 80, f"{path.name} is longer than 80 lines"


def loaded_by(*arguments: str) -> set[str]:
    """Top-level modules in memory after a command of newsrec ran in a fresh process."""
    code = (
        "import sys\n"
        "from newsrec.cli.app import main\n"
        "sys.argv = ['newsrec', *sys.argv[1:]]\n"
        "try:\n    main()\n"
        "except SystemExit as stop:\n    assert not stop.code, stop.code\n"
        "print('MODULES', *sorted({m.split('.')[0] for m in sys.modules}))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, *arguments], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return set(done.stdout.strip().splitlines()[-1].split()[1:])


def test_help_loads_neither_numpy_nor_torch() -> None:
    assert not loaded_by("--help") & {"numpy", "torch", "pandas", "mlflow", "transformers"}


def test_recommend_with_the_builtin_encoder_stays_light() -> None:
    heavy = {"torch", "transformers", "sentence_transformers", "pandas", "mlflow", "sklearn"}
    first = loaded_by("recommend", "--user", "U123", "--lang", "fin")
    assert not first & heavy
    assert not loaded_by("recommend", "--user", "U123", "--lang", "fin,eng") & heavy
