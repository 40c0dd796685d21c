"""Which raw file is what: MIND's sets, and xMIND's translations."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import PurePosixPath

from newsrec.corpus.archives import RawFile
from newsrec.errors import DataError
from newsrec.languages import canonical

BARE = "bare"
ROLES = ("train", "dev", "test", BARE)
_ROLE = {"train": "train", "dev": "dev", "valid": "dev", "validation": "dev", "test": "test"}
_SET_FOLDER = re.compile(r"(?:^|.*[_-])(train|dev|valid|validation|test)$", re.IGNORECASE)
_FILE = re.compile(
    r"(news|behaviors)(?:[_-](train|dev|valid|validation|test))?\.tsv", re.IGNORECASE
)
_FLAT = re.compile(r"xmind[_-]([^_.-]+).*\.(?:tsv|parquet)", re.IGNORECASE)
_SIZE = re.compile(r"mind_?(small|large|demo)", re.IGNORECASE)


@dataclass(slots=True)
class MindSet:
    """One of MIND's sets; ``role`` is train, dev, test or bare (no folder says which)."""

    role: str
    folder: str
    news: RawFile | None = None
    behaviors: RawFile | None = None


@dataclass(slots=True)
class Layout:
    """``sets`` by role, in the order of `ROLES`; ``translations`` by ISO 639-3 code, sorted."""

    sets: dict[str, MindSet] = field(default_factory=dict)
    translations: dict[str, list[RawFile]] = field(default_factory=dict)


def find_layout(files: Sequence[RawFile], raw: str, size: str | None = None) -> Layout:
    """Sort ``files`` out; other files are passed over.

    ``size`` (small, large, demo) leaves out folders that are named for another one. Raises
    `DataError` when two sets claim one role, or a folder of xMIND names no language.
    """
    layout = Layout()
    for file in files:
        sizes = {found.lower() for found in _SIZE.findall(file.path.as_posix())}
        if size and sizes and size.lower() not in sizes:
            continue
        language = _translation(file.path)
        named = _FILE.fullmatch(file.path.name)
        if language is not None:
            if file.path.suffix in (".tsv", ".parquet"):
                code = canonical(language, file.shown)
                layout.translations.setdefault(code, []).append(file)
        elif named is not None:
            _add(layout, file, named, raw)
    return Layout(
        {role: layout.sets[role] for role in ROLES if role in layout.sets},
        dict(sorted(layout.translations.items())),
    )


def _translation(path: PurePosixPath) -> str | None:
    """The language a file of xMIND names: ``xmind/fin/…`` (any case), ``fin/xMINDsmall_train/…``
    or ``xmind_fin_….tsv``."""
    parts = path.parts
    for k, part in enumerate(parts[:-1]):
        if part.lower().startswith("xmind"):
            later = [p for p in parts[k + 1 :] if not p.lower().startswith("xmind")]
            named = later[0].split(".")[0] if later else ""
            before = parts[k - 1] if k else named
            return before if named.lower() in ("", "news", *_ROLE) else named
    flat = _FLAT.fullmatch(path.name)
    return flat.group(1) if flat else None


def _add(layout: Layout, file: RawFile, named: re.Match[str], raw: str) -> None:
    folders = [part for part in reversed(file.path.parts[:-1]) if _SET_FOLDER.fullmatch(part)]
    role = BARE
    if named.group(2):
        role = _ROLE[named.group(2).lower()]
    elif folders:
        match = _SET_FOLDER.fullmatch(folders[0])
        role = _ROLE[match.group(1).lower()] if match else BARE
    folder = file.path.parent.as_posix()
    known = layout.sets.setdefault(role, MindSet(role, folder))
    kind = named.group(1).lower()
    if getattr(known, kind) is not None:
        raise DataError(
            f"{raw}: two {kind} files for the {role} set, {getattr(known, kind).shown} and "
            f"{file.shown}; name one folder, or choose with --size small, large or demo"
        )
    setattr(known, kind, file)
