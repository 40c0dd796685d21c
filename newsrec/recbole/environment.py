"""The interpreter in whose environment RecBole is installed.

RecBole 1.2.1 needs numpy < 2, pandas < 3, setuptools < 81 and ray <= 2.6.3 (Python 3.11 at most),
and its graph models scipy < 1.13; newsrec itself runs with newer ones, so RecBole's place is an
environment of its own.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

from newsrec.errors import ConfigError, MissingExtra

#: What the extra ``newsrec[recbole]`` installs beside newsrec.
REQUIREMENTS = (
    "recbole==1.2.1", "numpy<2", "pandas<3", "scipy<1.13", "setuptools<81", "ray<=2.6.3",
)  # fmt: skip
#: Where `scripts/install_recbole` puts it.
FOLDER = Path(".venv-recbole")

_ASK = """
import json, sys
from importlib.metadata import PackageNotFoundError, version
found = {"python": sys.version.split()[0]}
for name in ("recbole", "torch", "numpy", "pandas", "scipy"):
    try:
        found[name] = version(name)
    except PackageNotFoundError:
        pass
print(json.dumps(found))
"""
_TIMEOUT_S = 120


def find_python(given: Path | None) -> Path:
    """The interpreter to train with: ``given``, this one if RecBole is here, or that of
    ``.venv-recbole`` in the current folder. `MissingExtra` when there is none."""
    if given is not None:
        if not given.is_file() or not os.access(given, os.X_OK):
            raise ConfigError(
                f"--python: {given} is no program; name the interpreter of the environment that "
                f"has RecBole, such as {FOLDER / 'bin' / 'python'}"
            )
        # Not resolved: a link to the system's Python is what makes an environment one.
        return given.absolute()
    if find_spec("recbole") is not None:
        return Path(sys.executable)
    there = FOLDER / "bin" / "python"
    if there.is_file():
        return there.absolute()
    raise MissingExtra(
        f"RecBole is not installed here, and there is no {there}. It needs an environment of its "
        f"own (Python 3.11): python3.11 -m venv {FOLDER} && {install(there)}; or name one that has "
        "it: --python ENVIRONMENT/bin/python"
    )


def versions(python: Path) -> dict[str, str]:
    """Versions of RecBole and what it stands on; `MissingExtra` when ``python`` has no RecBole."""
    try:
        done = subprocess.run(
            [str(python), "-I", "-c", _ASK],
            capture_output=True, text=True, timeout=_TIMEOUT_S, check=False,
        )  # fmt: skip
        found = json.loads(done.stdout) if done.returncode == 0 else None
    except (OSError, ValueError, subprocess.TimeoutExpired):
        found = None
    if not isinstance(found, dict):
        raise ConfigError(f"--python: {python} does not run as a Python interpreter")
    if "recbole" not in found:
        raise MissingExtra(f"{python} has no RecBole. Install it there: {install(python)}")
    return {str(name): str(version) for name, version in found.items()}


def install(python: Path) -> str:
    """The command that installs RecBole for ``python``."""
    return f"{python} -m pip install " + " ".join(f"'{name}'" for name in REQUIREMENTS)
