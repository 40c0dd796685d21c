"""Where RecBole is: found, or said how to get it."""

from __future__ import annotations

import sys
import tomllib
from importlib.util import find_spec
from pathlib import Path

import pytest

from newsrec.errors import ConfigError, MissingExtra
from newsrec.recbole.environment import REQUIREMENTS, find_python, install, versions
from tests.conftest import REPOSITORY


def test_the_extra_is_what_the_command_installs() -> None:
    project = tomllib.loads((REPOSITORY / "pyproject.toml").read_text())["project"]
    assert sorted(project["optional-dependencies"]["recbole"]) == sorted(REQUIREMENTS)


def test_the_pins_fit_the_extra() -> None:
    pins = dict(
        line.split("==")
        for line in (REPOSITORY / "constraints-recbole.txt").read_text().splitlines()
    )
    assert pins["recbole"] == "1.2.1"
    for name in ("numpy", "pandas", "scipy", "setuptools", "ray"):
        bound = next(r for r in REQUIREMENTS if r.startswith(f"{name}<"))
        limit = [int(x) for x in bound.split("<")[1].removeprefix("=").split(".")]
        found = [int(x) for x in pins[name].split(".")][: len(limit)]
        assert found <= limit if "<=" in bound else found < limit
    core = (REPOSITORY / "constraints.txt").read_text().splitlines()
    assert f"torch=={pins['torch']}" in core


def test_without_recbole_the_command_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert find_spec("recbole") is None, "newsrec's own environment must not have RecBole"
    monkeypatch.chdir(tmp_path)
    with pytest.raises(MissingExtra, match=r"venv \.venv-recbole && .*'recbole==1\.2\.1'"):
        find_python(None)


def test_the_environment_in_the_folder_is_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    there = tmp_path / ".venv-recbole" / "bin" / "python"
    there.parent.mkdir(parents=True)
    there.symlink_to(sys.executable)
    assert find_python(None) == there


def test_an_interpreter_without_recbole_is_told_how() -> None:
    python = Path(sys.executable)
    with pytest.raises(MissingExtra) as error:
        versions(find_python(python))
    assert str(error.value).endswith(install(python))
    assert "'numpy<2'" in str(error.value)


def test_what_is_no_interpreter_is_said(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="is no program"):
        find_python(tmp_path / "python")
    with pytest.raises(ConfigError, match="is no program"):
        find_python(tmp_path)
    other = tmp_path / "other"
    other.write_text("#!/bin/sh\necho hello\n")
    other.chmod(0o755)
    with pytest.raises(ConfigError, match="does not run as a Python interpreter"):
        versions(find_python(other))
