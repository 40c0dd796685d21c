"""Files as a data set ships them: plain, gzipped, or inside zip archives; read, never unpacked."""

from __future__ import annotations

import gzip
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path, PurePosixPath, PureWindowsPath
from typing import BinaryIO, cast

from newsrec.errors import DataError

OnProgress = Callable[[int, int], None]
_SKIPPED = ("__macosx", "thumbs.db")


@dataclass(frozen=True, slots=True)
class RawFile:
    """One file of raw data.

    ``path`` is where it lies below the raw folder with archives and ``.gz`` taken away:
    ``MINDsmall_train.zip`` holding ``news.tsv`` gives ``MINDsmall_train/news.tsv``. ``shown`` is
    what errors call it.
    """

    path: PurePosixPath
    shown: str
    file: Path
    member: str = ""

    @contextmanager
    def open(self) -> Iterator[BinaryIO]:
        """The decompressed bytes; damage met while reading is a `DataError` too."""
        with ExitStack() as stack:
            try:
                stream = self._enter(stack)
            except (zipfile.BadZipFile, NotImplementedError, RuntimeError, OSError) as error:
                raise DataError(f"{self.shown}: cannot be opened ({error})") from None
            try:
                yield stream
            except (EOFError, zlib.error, gzip.BadGzipFile, zipfile.BadZipFile) as error:
                raise DataError(
                    f"{self.shown}: truncated or damaged archive ({error}); get the file again"
                ) from None

    @property
    def size(self) -> int:
        """Bytes when decompressed; of a gzipped file what its end says, 0 inside an archive."""
        gzipped = (self.member or self.file.name).lower().endswith(".gz")
        if self.member:
            with zipfile.ZipFile(self.file) as archive:
                return 0 if gzipped else archive.getinfo(self.member).file_size
        if not gzipped:
            return self.file.stat().st_size
        with self.file.open("rb") as file:
            file.seek(max(0, self.file.stat().st_size - 4))
            return int.from_bytes(file.read(4), "little")

    def _enter(self, stack: ExitStack) -> BinaryIO:
        if self.member:
            archive = stack.enter_context(zipfile.ZipFile(self.file))
            stream = cast(BinaryIO, stack.enter_context(archive.open(self.member)))
        else:
            stream = stack.enter_context(self.file.open("rb"))
        if not (self.member or self.file.name).lower().endswith(".gz"):
            return stream
        return cast(BinaryIO, stack.enter_context(gzip.GzipFile(fileobj=stream)))


@dataclass(slots=True)
class Counted:
    """A stream that tells ``on_progress(done, total)`` how many bytes were read of it and, in
    ``done``, before it."""

    stream: BinaryIO
    total: int
    on_progress: OnProgress | None
    done: int = 0

    def read(self, size: int = -1) -> bytes:
        data = self.stream.read(size)
        self.done += len(data)
        if self.on_progress is not None:
            self.on_progress(self.done, self.total)
        return data


def counted(n: int, on_progress: OnProgress | None) -> Iterator[int]:
    """``range(n)`` that tells ``on_progress(done, n)`` now and then and at its end."""
    for k in range(n):
        if on_progress is not None and k % 5_000 == 0:
            on_progress(k, n)
        yield k
    if on_progress is not None:
        on_progress(n, n)


def raw_file(path: Path) -> RawFile:
    """One file named by the user; a zip archive must hold exactly one."""
    if not path.is_file():
        what = "a folder, expected a file" if path.is_dir() else "no such file"
        raise DataError(f"{path}: {what}")
    if path.suffix.lower() != ".zip":
        return RawFile(_without_gz(PurePosixPath(path.name)), path.name, path)
    members = _members(path, path.name)
    if len(members) != 1:
        raise DataError(f"{path}: {len(members)} files in the archive, expected one")
    return RawFile(
        _without_gz(PurePosixPath(members[0])), f"{path.name}/{members[0]}", path, members[0]
    )


def list_raw(root: Path) -> list[RawFile]:
    """Every file below ``root`` (a folder or a zip archive), those in archives too, by path."""
    if not root.exists():
        raise DataError(f"{root}: no such file or folder, expected MIND's files")
    if root.is_file():
        if root.suffix.lower() != ".zip":
            raise DataError(
                f"{root}: is a file, expected a folder or a zip archive of MIND's files"
            )
        return sorted(_zipped(root, PurePosixPath(), root.name), key=lambda raw: raw.path)
    found: list[RawFile] = []
    for file in root.rglob("*"):
        below = PurePosixPath(file.relative_to(root).as_posix())
        if not file.is_file() or _is_skipped(below):
            continue
        if file.suffix.lower() == ".zip":
            found.extend(_zipped(file, below.with_suffix(""), below.as_posix()))
        else:
            found.append(RawFile(_without_gz(below), below.as_posix(), file))
    return sorted(found, key=lambda raw: (raw.path, raw.shown))


def _zipped(file: Path, prefix: PurePosixPath, shown: str) -> Iterator[RawFile]:
    members = _members(file, shown)
    # behaviors.tsv.zip is a compressed file; MINDsmall_train.zip stands for a folder, which its
    # members may name once more.
    as_file = len(members) == 1 and prefix.suffix in (".tsv", ".csv", ".parquet", ".jsonl")
    for member in members:
        inside = PurePosixPath(member)
        if as_file:
            path = prefix
        elif prefix.name and inside.parts[0] == prefix.name:
            path = prefix.parent / inside
        else:
            path = prefix / inside
        if not _is_skipped(inside):
            yield RawFile(_without_gz(path), f"{shown}/{member}", file, member)


def _members(file: Path, shown: str) -> list[str]:
    """Names of the files in an archive; `DataError` for one that would leave the folder."""
    try:
        with zipfile.ZipFile(file) as archive:
            names = [item.filename for item in archive.infolist() if not item.is_dir()]
    except (zipfile.BadZipFile, OSError) as error:
        raise DataError(
            f"{shown}: truncated or damaged archive ({error}); get the file again"
        ) from None
    for name in names:
        path, windows = PurePosixPath(name), PureWindowsPath(name)
        if path.is_absolute() or windows.anchor or ".." in (*path.parts, *windows.parts):
            raise DataError(
                f"{shown}: member {name!r} leaves the folder, expected a relative path; "
                "do not trust this archive"
            )
    return names


def _without_gz(path: PurePosixPath) -> PurePosixPath:
    return path.with_suffix("") if path.suffix.lower() == ".gz" else path


def _is_skipped(path: PurePosixPath) -> bool:
    return any(part.startswith(".") or part.lower() in _SKIPPED for part in path.parts)
