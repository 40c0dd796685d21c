"""What may be replaced by a new corpus: an older corpus, and nothing of anybody else's."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from newsrec.errors import DataError
from newsrec.places import check_writable

FORMAT = "newsrec-corpus"
#: What file browsers leave behind; nobody misses it.
_LITTER = (".DS_Store", "Thumbs.db", "desktop.ini")
_LAYOUT = re.compile(
    r"corpus\.json|users\.npy|news/names\.json|news/[a-z]+(\.offsets)?\.npy"
    r"|texts/[a-z]{3}/(present|(title|abstract|body)(\.offsets)?)\.npy"
    r"|splits/[^/]+/(ids|user|time|history_of|history_language|clicked"
    r"|(history|candidates)(\.offsets)?)\.npy"
)


def refuse_foreign(folder: Path, *, unlisted: bool = False) -> None:
    """`DataError` when ``folder`` holds anything but a corpus, so that writing there would delete
    it, or when nothing can be written there.

    What ``corpus.json`` lists may be replaced; where it is damaged (or missing, with ``unlisted``,
    for a folder that only newsrec writes), files that are named as a corpus names them.
    """
    if not folder.exists():
        check_writable(folder, str(folder))
        return
    if not folder.is_dir():
        raise DataError(f"{folder}: is a file, expected a folder to write a corpus into")
    found = sorted(_entries(folder))
    if not found:
        return
    path = folder / "corpus.json"
    if not unlisted and not path.is_file():
        raise _foreign(folder, f"no corpus.json, but {found[0]!r}")
    listed = _listed(path)
    for name in found:
        ours = _LAYOUT.fullmatch(name) if listed is None else name in listed
        if not ours:
            raise _foreign(folder, repr(name))


def _listed(path: Path) -> set[str] | None:
    """The files that ``corpus.json`` names and itself; None when it is missing or damaged."""
    try:
        meta: Any = json.loads(path.read_bytes())
    except (OSError, ValueError, RecursionError):
        return None
    if not isinstance(meta, dict) or meta.get("format") != FORMAT:
        raise _foreign(path.parent, f"a corpus.json whose format is not {FORMAT!r}")
    files = meta.get("files")
    return {"corpus.json", *files} if isinstance(files, dict) else None


def _entries(folder: Path) -> Iterator[str]:
    """Files, links and empty folders below ``folder``, by relative name."""
    for path in folder.rglob("*"):
        is_folder = path.is_dir() and not path.is_symlink()
        if path.name not in _LITTER and not (is_folder and any(path.iterdir())):
            yield path.relative_to(folder).as_posix()


def _foreign(folder: Path, what: str) -> DataError:
    return DataError(
        f"{folder}: holds files that are not a newsrec corpus ({what}), which writing there would "
        "delete; name a new or empty folder with --out"
    )
