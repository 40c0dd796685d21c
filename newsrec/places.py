"""Whether something can be written where it is asked for, told before the work begins."""

from __future__ import annotations

import os
from pathlib import Path

from newsrec.errors import DataError


def check_file(path: Path, what: str) -> None:
    """`DataError` unless a file can be written under ``path``; ``what`` asked for it: an option."""
    if path.is_dir():
        raise DataError(f"{what}: {path} is a folder, expected a file")
    if path.is_symlink():
        path = path.resolve()
    if path.exists() and not path.is_file():  # a pipe, a device: written to as it is
        if not os.access(path, os.W_OK):
            raise DataError(f"{what}: {path} is not writable; name another place")
        return
    check_writable(path.parent, what)


def check_writable(folder: Path, what: str) -> None:
    """`DataError` unless the folder, or the nearest one above that is there, takes new files."""
    there = folder.absolute()
    while not there.exists() and there != there.parent:
        there = there.parent
    if not there.is_dir():
        raise DataError(f"{what}: {there} is a file, expected a folder")
    if not os.access(there, os.W_OK | os.X_OK):
        raise DataError(f"{what}: {there} is not writable; name another place")
