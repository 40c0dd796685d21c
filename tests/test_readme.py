"""What the README says to type works, and what it shows is what comes out."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import REPOSITORY

README = (REPOSITORY / "README.md").read_text("utf-8")
BLOCKS = re.findall(r"^```(\w+)(?: ([\w-]+))?\n(.*?)^```", README, re.M | re.S)
BIN = Path(sys.executable).parent


def commands() -> list[str]:
    """Every line of the shell blocks that runs newsrec on the sample."""
    lines = [line for kind, tag, body in BLOCKS if kind == "sh" and tag == "run"
             for line in body.splitlines()]  # fmt: skip
    return [line for line in lines if line.startswith("newsrec ")]


@pytest.mark.parametrize("line", commands())
def test_the_commands_of_the_readme_run(line: str, tmp_path: Path) -> None:
    words = shlex.split(line.split("  #")[0])
    done = subprocess.run(
        [str(BIN / words[0]), *words[1:]],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "COLUMNS": "110"},
    )
    assert done.returncode == 0, done.stderr


def test_the_readme_has_commands_to_run() -> None:
    assert len(commands()) >= 3


def test_the_python_example_prints_what_it_says(tmp_path: Path) -> None:
    examples = [body for kind, tag, body in BLOCKS if kind == "python" and tag == "run"]
    outputs = [body for kind, tag, body in BLOCKS if kind == "text" and tag == "output"]
    assert examples
    assert len(examples) == len(outputs)
    for example, output in zip(examples, outputs, strict=True):
        done = subprocess.run(
            [sys.executable, "-c", example],
            cwd=tmp_path,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        assert done.stdout.strip() == output.strip()


def test_every_file_that_the_readme_names_exists() -> None:
    for target in re.findall(r"\]\(([\w./-]+)\)", README):
        assert (REPOSITORY / target).exists(), target
