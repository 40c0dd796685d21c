"""Writing so that a kill at any moment leaves either the old file or the new one."""

from __future__ import annotations

import json
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO


def data_root() -> Path:
    """Where newsrec keeps what it makes: ``$NEWSREC_DATA``, else ``data`` in the current folder."""
    return Path(os.environ.get("NEWSREC_DATA") or "data")


@contextmanager
def atomic_file(path: Path) -> Iterator[BinaryIO]:
    """A binary file that appears under ``path`` only when the block ends without an error."""
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

    The old folder, if there is one, is moved aside first and deleted last.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = Path(tempfile.mkdtemp(prefix=f".{path.name}.", dir=path.parent))
    try:
        os.chmod(temporary, 0o777 & ~_umask())
        yield temporary
        old = None
        if path.exists():
            old = Path(tempfile.mkdtemp(prefix=f".{path.name}.old.", dir=path.parent))
            os.replace(path, old / path.name)
        try:
            os.replace(temporary, path)
        except OSError:
            if old is not None:
                os.replace(old / path.name, path)
            raise
        if old is not None:
            shutil.rmtree(old, ignore_errors=True)
    except BaseException:
        shutil.rmtree(temporary, ignore_errors=True)
        raise


def write_json(path: Path, value: Any) -> None:
    """``value`` as indented UTF-8 JSON, atomically; NaN is refused (use None)."""
    text = json.dumps(value, indent=2, ensure_ascii=False, allow_nan=False, default=str)
    with atomic_file(path) as file:
        file.write(text.encode("utf-8") + b"\n")


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
