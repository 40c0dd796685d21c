"""Arrays on disk: plain ``.npy``, memmapped when read, hashed when written, never pickled."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from newsrec.errors import StaleCacheError
from newsrec.files import write_json
from newsrec.types import Ragged, Strings


@dataclass(slots=True)
class ArrayWriter:
    """Writes arrays under ``root`` and remembers ``{name: {bytes, hash}}`` of each."""

    root: Path
    files: dict[str, dict[str, Any]] = field(default_factory=dict)

    def array(self, name: str, array: NDArray[Any], dtype: DTypeLike) -> None:
        """Write ``root/name.npy`` as little-endian ``dtype``."""
        data = np.ascontiguousarray(array, dtype=np.dtype(dtype).newbyteorder("<"))
        path = self.root / f"{name}.npy"
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("wb") as file:
            np.lib.format.write_array(file, data, allow_pickle=False)
        self.files[f"{name}.npy"] = {"bytes": path.stat().st_size, "hash": _hash_array(data)}

    def json(self, name: str, value: Any) -> None:
        """Write ``root/name.json``."""
        path = self.root / f"{name}.json"
        write_json(path, value)
        digest = hashlib.blake2b(path.read_bytes(), digest_size=16).hexdigest()
        self.files[f"{name}.json"] = {"bytes": path.stat().st_size, "hash": digest}

    def ragged(self, name: str, ragged: Ragged, dtype: DTypeLike = np.int32) -> None:
        """Two files: ``name.npy (nnz,)`` and ``name.offsets.npy (n+1,) int64``."""
        self.array(name, ragged.values, dtype)
        self.array(f"{name}.offsets", ragged.offsets, np.int64)

    def strings(self, name: str, strings: Strings) -> None:
        """UTF-8 bytes end to end, and where each string starts."""
        self.ragged(name, strings.data, np.uint8)

    def ids(self, name: str, ids: NDArray[np.str_]) -> None:
        """Fixed-width text: ids are short, and numpy can search them without decoding."""
        array = np.asarray(ids, np.str_)
        self.array(name, array, array.dtype if array.dtype.itemsize else "<U1")

    def fingerprint(self, languages: Sequence[str]) -> str:
        """16 hex digits over the content of every file written so far and the languages' order."""
        lines = [f"{name}\t{self.files[name]['hash']}\n" for name in sorted(self.files)]
        return hashlib.sha256("".join([*lines, *languages]).encode()).hexdigest()[:16]


@dataclass(frozen=True, slots=True)
class ArrayReader:
    """Reads what `ArrayWriter` wrote as read-only memmaps.

    ``files`` is what the writer remembered; ``remedy`` says what to run when something is wrong.
    """

    root: Path
    files: Mapping[str, Mapping[str, Any]]
    remedy: str

    def has(self, name: str) -> bool:
        return f"{name}.npy" in self.files

    def array(self, name: str) -> NDArray[Any]:
        """``root/name.npy``; `StaleCacheError` when it is missing, short or not an array."""
        path = self.root / f"{name}.npy"
        try:
            return np.asarray(np.load(path, mmap_mode="r", allow_pickle=False))
        except (OSError, ValueError, EOFError) as error:
            raise StaleCacheError(f"{path}: {error}. {self.remedy}") from None

    def ragged(self, name: str) -> Ragged:
        return Ragged(self.array(name), self.array(f"{name}.offsets"))

    def strings(self, name: str) -> Strings:
        return Strings(self.ragged(name))

    def json(self, name: str) -> Any:
        """``root/name.json``."""
        path = self.root / f"{name}.json"
        try:
            return json.loads(path.read_bytes())
        except (OSError, ValueError) as error:
            raise StaleCacheError(f"{path}: {error}. {self.remedy}") from None

    def check(self) -> None:
        """Every file there with its recorded size; content is not read (see `hash_of`)."""
        for name, known in self.files.items():
            path = self.root / name
            found = path.stat().st_size if path.is_file() else None
            if found != known["bytes"]:
                what = "missing" if found is None else f"{found} bytes"
                raise StaleCacheError(
                    f"{path}: {what}, expected {known['bytes']} bytes. {self.remedy}"
                )

    def hash_of(self, name: str) -> str:
        """Content hash of the file ``root/name``, comparable with the recorded one."""
        if name.endswith(".npy"):
            return _hash_array(self.array(name.removesuffix(".npy")))
        return hashlib.blake2b((self.root / name).read_bytes(), digest_size=16).hexdigest()


def _hash_array(data: NDArray[Any]) -> str:
    """32 hex digits over dtype, shape and values."""
    content = hashlib.blake2b(f"{data.dtype.str}{data.shape}".encode(), digest_size=16)
    content.update(np.ascontiguousarray(data).reshape(-1).view(np.uint8).data)
    return content.hexdigest()
