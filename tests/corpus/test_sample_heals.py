"""The bundled sample is whole whenever it is opened, whatever happened to its folder."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from newsrec.corpus.sample import open_sample
from newsrec.errors import DataError

_OPEN = "from newsrec.corpus.sample import open_sample; print(open_sample().fingerprint)"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("NEWSREC_DATA", str(tmp_path))
    return open_sample().folder


def _flip(path: Path) -> None:
    whole = path.read_bytes()
    path.write_bytes(whole[:-1] + bytes([whole[-1] ^ 1]))


DAMAGE: dict[str, Callable[[Path], object]] = {
    "no description": lambda folder: (folder / "corpus.json").unlink(),
    "half a description": lambda folder: (folder / "corpus.json").write_text("{"),
    "flipped text": lambda folder: _flip(folder / "texts" / "fin" / "title.npy"),
    "flipped ids": lambda folder: _flip(folder / "news" / "ids.npy"),
    "truncated": lambda folder: (folder / "users.npy").write_bytes(b""),
    "missing file": lambda folder: (folder / "news" / "names.json").unlink(),
    "missing shelf": lambda folder: shutil.rmtree(folder / "texts" / "fin"),
    "empty folder": lambda folder: (shutil.rmtree(folder), folder.mkdir()),
}


@pytest.mark.parametrize("damage", DAMAGE)
def test_a_damaged_sample_is_made_again(folder: Path, damage: str) -> None:
    before = open_sample().fingerprint
    DAMAGE[damage](folder)
    healed = open_sample()
    healed.verify()
    assert healed.fingerprint == before
    assert [path.name for path in folder.parent.iterdir()] == [folder.name]


def test_files_of_others_in_a_damaged_sample_are_not_deleted(folder: Path) -> None:
    (folder / "users.npy").unlink()
    (folder / "notes.txt").write_text("years of work")
    with pytest.raises(DataError, match=r"notes\.txt"):
        open_sample()
    assert (folder / "notes.txt").read_text() == "years of work"


def test_the_remedy_is_a_command(folder: Path) -> None:
    made_by = json.loads((folder / "corpus.json").read_text())["made_by"]
    assert made_by.startswith("newsrec recommend")


@pytest.mark.parametrize("damaged", [False, True])
def test_processes_that_open_it_at_one_moment_all_succeed(folder: Path, damaged: bool) -> None:
    expected = open_sample().fingerprint
    if damaged:
        (folder / "users.npy").write_bytes(b"")
    else:
        shutil.rmtree(folder)
    running = [
        subprocess.Popen([sys.executable, "-c", _OPEN], stdout=subprocess.PIPE, text=True)
        for _ in range(4)
    ]
    for process in running:
        said, _ = process.communicate(timeout=120)
        assert (process.returncode, said.strip()) == (0, expected)
    assert [path.name for path in folder.parent.iterdir()] == [folder.name]


def test_one_that_comes_second_takes_what_the_first_made(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The other process finishes between this one's look and its move."""
    from newsrec.corpus import sample

    expected = open_sample().fingerprint
    whole = folder.with_name("elsewhere")
    folder.rename(whole)
    prepare = sample.prepare_sample

    def prepare_slowly(where: Path) -> object:
        made = prepare(where)
        shutil.copytree(whole, folder, dirs_exist_ok=True)
        return made

    monkeypatch.setattr(sample, "prepare_sample", prepare_slowly)
    assert open_sample().fingerprint == expected
