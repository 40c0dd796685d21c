"""Writing so that a kill at any moment leaves either the old file or the new one."""

from __future__ import annotations

import json
import os
import re
import shutil
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO

from newsrec.errors import DataError

# Not /dev/shm, which is a folder like others.
_STREAMS = (Path("/dev"), Path("/dev/fd"))


def data_root() -> Path:
    """Where newsrec keeps what it makes: ``$NEWSREC_DATA``, else ``data`` in the current folder."""
    return Path(os.environ.get("NEWSREC_DATA") or "data")


@contextmanager
def atomic_file(path: Path) -> Iterator[BinaryIO]:
    """A binary file that appears under ``path`` only when the block ends without an error.

    A link stays, and what it leads to is replaced; what is no file (a pipe, a device, whatever
    ``/dev/stdout`` is) is written to as it is.
    """
    if path.exists() and not path.is_dir() and (not path.is_file() or path.parent in _STREAMS):
        with path.open("ab") as file:
            yield file
        return
    path = path.resolve() if path.is_symlink() else path
    path.parent.mkdir(parents=True, exist_ok=True)
    fd, temporary = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
    try:
        with os.fdopen(fd, "wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        os.chmod(temporary, 0o666 & ~_umask())
        os.replace(temporary, path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise


@contextmanager
def atomic_folder(path: Path) -> Iterator[Path]:
    """A folder that replaces ``path`` only when the block ends without an error.

    It is written as ``.NAME.XXXXXXXX.newsrec`` beside ``path``, which then takes its name or
    changes places with the old one, in one step (Linux). Where that is not possible, the old one is
    moved to ``….newsrec.old`` first, and a process killed right then leaves no ``path``: the next
    `atomic_folder` of it puts the old one back. It also removes what dead processes have left of
    ``path``; not on Windows, where nothing tells whose process lives.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    _clear(path)
    work, lock = _own_folder(path)
    try:
        os.chmod(work, 0o777 & ~_umask())
        yield work
        _put(work, path)
    finally:
        _discard(work, path)
        if lock is not None:
            os.close(lock)


def _clear(path: Path) -> None:
    """What dead processes have left of ``path``."""
    named = re.compile(re.escape(f".{path.name}.") + r"[a-z0-9_]{8}\.newsrec(\.old)?")
    for left in [entry for entry in path.parent.iterdir() if named.fullmatch(entry.name)]:
        work = left.with_name(left.name.removesuffix(".old"))
        lock = _locked(work, wait=False)
        if lock is not None or not work.exists():
            _discard(work, path)
        if lock is not None:
            os.close(lock)


def _own_folder(path: Path) -> tuple[Path, int | None]:
    """A new folder beside ``path`` and the lock on it, None where there are no locks."""
    while True:
        work = Path(tempfile.mkdtemp(".newsrec", f".{path.name}.", path.parent))
        lock = _locked(work, wait=True)
        # Before it was locked, another process may have taken it for a dead one's.
        if work.exists():
            return work, lock
        if lock is not None:
            os.close(lock)


@contextmanager
def held(folder: Path, what: str) -> Iterator[None]:
    """``folder`` is this process's until the block ends or the process dies, however it dies;
    `DataError` when another one holds it, where ``what`` says for what. Not on Windows."""
    folder.mkdir(parents=True, exist_ok=True)
    lock = _locked(folder, wait=False)
    if lock is None and sys.platform != "win32":
        raise DataError(f"{folder}: another process is at work there ({what}); wait until it ends")
    try:
        yield
    finally:
        if lock is not None:
            os.close(lock)


def _locked(folder: Path, *, wait: bool) -> int | None:
    """An open file that locks ``folder`` until it is closed or its process dies, however it dies;
    None where the folder is gone, is locked, or cannot be."""
    if sys.platform == "win32":
        return None
    import fcntl

    try:
        file = os.open(folder, os.O_RDONLY)
    except OSError:
        return None
    try:
        fcntl.flock(file, fcntl.LOCK_EX if wait else fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(file)
        return None
    return file


def _put(work: Path, path: Path) -> None:
    """``work`` becomes ``path``; what was there becomes ``work`` or what is beside it."""
    if not os.path.lexists(path):
        try:
            os.rename(work, path)
            return
        except OSError:
            if not os.path.lexists(path):
                raise
    # Also when another process was first.
    if not _exchanged(work, path):
        os.rename(path, _aside(work))
        os.rename(work, path)


def _discard(work: Path, path: Path) -> None:
    """Remove ``work`` and what is beside it; an old folder goes back when nothing replaced it."""
    if _aside(work).exists() and not os.path.lexists(path):
        os.rename(_aside(work), path)
    for left in (work, _aside(work)):
        shutil.rmtree(left, ignore_errors=True)


def _aside(work: Path) -> Path:
    return work.with_name(f"{work.name}.old")


def _exchanged(one: Path, other: Path) -> bool:
    """Whether the two names were exchanged in one step; False where system, C library or file
    system do not know how."""
    if sys.platform != "linux":
        return False
    import ctypes

    try:
        rename = ctypes.CDLL(None).renameat2
    except (OSError, AttributeError):
        return False
    here, exchange = -100, 2  # AT_FDCWD, RENAME_EXCHANGE (linux/fcntl.h, linux/fs.h)
    return bool(rename(here, os.fsencode(one), here, os.fsencode(other), exchange) == 0)


def write_json(path: Path, value: Any) -> None:
    """``value`` as indented UTF-8 JSON, atomically; NaN is refused (use None)."""
    text = json.dumps(value, indent=2, ensure_ascii=False, allow_nan=False, default=str)
    write_text(path, f"{text}\n")


def write_text(path: Path, text: str) -> None:
    """``text`` as UTF-8, atomically."""
    with atomic_file(path) as file:
        file.write(text.encode("utf-8"))


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
