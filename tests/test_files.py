"""A folder that is replaced is there whole, whenever the process that replaces it is killed."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from newsrec import files
from newsrec.errors import DataError
from newsrec.files import atomic_folder, held, write_text
from newsrec.places import check_file

# argv: folder, "swap" or "renames", the step that kills, and whether before or after it.
_WRITE = """
import os, shutil, signal, sys
from pathlib import Path
from newsrec import files

folder, way, step, when = sys.argv[1:]

def killing(owner, name, nth=1):
    real, calls = getattr(owner, name), []
    def wrapped(*args, **kwargs):
        calls.append(args)
        if len(calls) == nth and when == "before":
            os.kill(os.getpid(), signal.SIGKILL)
        result = real(*args, **kwargs)
        if len(calls) == nth and when == "after":
            os.kill(os.getpid(), signal.SIGKILL)
        return result
    setattr(owner, name, wrapped)

if way == "renames":
    files._exchanged = lambda one, other: False
if step == "swap":
    killing(files, "_exchanged")
elif step == "make":
    killing(files.tempfile, "mkdtemp")
elif step == "remove":
    killing(shutil, "rmtree")
elif step.startswith("rename"):
    killing(os, "rename", int(step[-1]))
with files.atomic_folder(Path(folder)) as new:
    (new / "one").write_text("new")
    if step == "write":
        os.kill(os.getpid(), signal.SIGKILL)
    (new / "two").write_text("new")
"""


def _killed(folder: Path, way: str, step: str, when: str) -> None:
    command = [sys.executable, "-c", _WRITE, str(folder), way, step, when]
    process = subprocess.run(command, capture_output=True, text=True, check=False, timeout=100)
    assert process.returncode == -signal.SIGKILL, process.stderr


def test_a_link_stays_and_leads_to_the_new_file(tmp_path: Path) -> None:
    (tmp_path / "there").mkdir()
    (tmp_path / "there" / "file").write_text("old")
    link = tmp_path / "link"
    link.symlink_to(tmp_path / "there" / "file")
    write_text(link, "new")
    assert link.is_symlink()
    assert (tmp_path / "there" / "file").read_text() == "new"
    assert [path.name for path in (tmp_path / "there").iterdir()] == ["file"]


def test_a_pipe_is_written_to_and_stays(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    check_file(tmp_path / "pipe", "--json")
    with subprocess.Popen(["cat", tmp_path / "pipe"], stdout=subprocess.PIPE) as reader:
        write_text(tmp_path / "pipe", "what is read at the other end")
        assert reader.communicate(timeout=60)[0] == b"what is read at the other end"
    assert (tmp_path / "pipe").is_fifo()
    assert [path.name for path in tmp_path.iterdir()] == ["pipe"]


def test_stdout_keeps_what_was_written_before(tmp_path: Path) -> None:
    code = (
        "from pathlib import Path; from newsrec.files import write_text; print('one', flush=True);"
        "write_text(Path('/dev/stdout'), 'two')"
    )
    with (tmp_path / "all").open("wb") as file:
        subprocess.run([sys.executable, "-c", code], stdout=file, check=True)
    assert (tmp_path / "all").read_text() == "one\ntwo"


def _write(folder: Path, text: str) -> None:
    with atomic_folder(folder) as new:
        for name in ("one", "two"):
            (new / name).write_text(text)


def _found(folder: Path) -> set[tuple[str, str]]:
    return {(path.name, path.read_text()) for path in folder.iterdir()}


def _whole(text: str) -> set[tuple[str, str]]:
    return {("one", text), ("two", text)}


_STEPS = [
    ("swap", "make", "after", "old"),
    ("swap", "write", "", "old"),
    ("swap", "swap", "before", "old"),
    ("swap", "swap", "after", "new"),
    ("swap", "remove", "before", "new"),
    ("renames", "write", "", "old"),
    ("renames", "rename1", "before", "old"),
    ("renames", "rename1", "after", "none"),
    ("renames", "rename2", "before", "none"),
    ("renames", "rename2", "after", "new"),
]


@pytest.mark.skipif(sys.platform != "linux", reason="exchanges folders as Linux does")
@pytest.mark.parametrize(("way", "step", "when", "left"), _STEPS)
def test_a_kill_leaves_the_old_folder_or_the_new_one(
    tmp_path: Path, way: str, step: str, when: str, left: str
) -> None:
    folder = tmp_path / "corpus"
    _write(folder, "old")
    _killed(folder, way, step, when)
    if left == "none":
        assert not folder.exists()
    else:
        assert _found(folder) == _whole(left)
    # A run that fails puts back what was lost, and clears up.
    with pytest.raises(KeyError), atomic_folder(folder):
        raise KeyError
    assert _found(folder) == _whole("old" if left == "none" else left)
    assert [path.name for path in tmp_path.iterdir()] == ["corpus"]


@pytest.mark.skipif(sys.platform != "linux", reason="locks folders as Linux does")
def test_the_first_folder_is_there_whole_or_not_at_all(tmp_path: Path) -> None:
    for when, n_found in (("before", 0), ("after", 2)):
        folder = tmp_path / when
        _killed(folder, "swap", "rename1", when)
        assert len(list(folder.glob("*"))) == n_found
        _write(folder, "next")
        assert _found(folder) == _whole("next")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["after", "before"]


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no locks on folders")
def test_what_a_live_process_writes_is_left_alone(tmp_path: Path) -> None:
    folder = tmp_path / "corpus"
    script = _WRITE.replace('if step == "write"', 'print("ready", flush=True); input()\n    if 0')
    command = [sys.executable, "-c", script, str(folder), "swap", "", ""]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        _write(folder, "mine")
        _write(folder, "mine")
        assert len(list(tmp_path.iterdir())) == 2
        process.communicate("\n", timeout=100)
    assert process.returncode == 0
    assert _found(folder) == _whole("new")
    assert [path.name for path in tmp_path.iterdir()] == ["corpus"]


def test_names_that_only_look_alike_are_left_alone(tmp_path: Path) -> None:
    others = [".corpus.settings", ".corpus.old", ".corpus.b.abcdefgh.newsrec", ".corpus.abcdefgh"]
    for name in others:
        (tmp_path / name).mkdir()
    _write(tmp_path / "corpus", "new")
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted([*others, "corpus"])


@pytest.mark.parametrize("swaps", [True, False])
def test_an_error_leaves_the_old_folder_and_nothing_else(
    tmp_path: Path, swaps: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not swaps:
        monkeypatch.setattr(files, "_exchanged", lambda one, other: False)
    folder = tmp_path / "corpus"
    _write(folder, "old")
    with pytest.raises(FileNotFoundError), atomic_folder(folder) as new:
        (new / "one" / "two").write_text("new")
    assert _found(folder) == _whole("old")
    _write(folder, "new")
    assert _found(folder) == _whole("new")
    assert [path.name for path in tmp_path.iterdir()] == ["corpus"]


_HOLD = """
import sys, time
from pathlib import Path
from newsrec.files import held
with held(Path(sys.argv[1]), "a test"):
    print("held", flush=True)
    time.sleep(100)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such locks")
def test_a_folder_is_one_process_s_until_it_ends_however_it_ends(tmp_path: Path) -> None:
    folder = tmp_path / "run"
    command = [sys.executable, "-c", _HOLD, str(folder)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "held\n"
        said = r"run: another process is at work there \(a test\)"
        with pytest.raises(DataError, match=said), held(folder, "a test"):
            pass
        process.kill()
    with held(folder, "a test"):
        pass
    with held(folder, "a test"):
        pass
