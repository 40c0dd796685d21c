"""What every test may use."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).resolve().parent.parent


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """The real data beside the checkout; never part of the project."""
    folder = Path(os.environ.get("NEWSREC_SHARED", REPOSITORY.parent / "shared" / "data"))
    if not folder.is_dir():
        pytest.skip(f"real data not found at {folder}; set NEWSREC_SHARED to its folder")
    return folder


@pytest.fixture(scope="session")
def recbole_python() -> Path:
    """The interpreter of the environment that has RecBole. Its tests never skip: without it they
    fail, or are left out by name (``-m "not recbole"``)."""
    python = REPOSITORY / ".venv-recbole" / "bin" / "python"
    python = Path(os.environ.get("NEWSREC_RECBOLE_PYTHON", python))
    if not python.is_file():
        pytest.fail(f"no {python}: make it with scripts/install_recbole (Python 3.11)")
    return python


@pytest.fixture(autouse=True)
def _own_data_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing a test does lands in the checkout's data folder."""
    monkeypatch.setenv("NEWSREC_DATA", str(tmp_path / "newsrec-data"))


@pytest.fixture(autouse=True)
def _own_threads() -> Iterator[None]:
    """The last bits of torch's sums depend on its threads, which a test may set for itself only."""
    import torch

    before = torch.get_num_threads()
    yield
    torch.set_num_threads(before)
