"""Arrays on disk: plain ``.npy``, memmapped when read, hashed when written, never pickled."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from newsrec.errors import StaleCacheError
from newsrec.files import write_json
from newsrec.types import Ragged, Strings

#: Files up to this size are hashed when first read, at about 2 ms for each megabyte: the names of
#: news and readers, without which nothing can be told, up to far more than the rest.
SMALL_BYTES = 256_000
NAMES_BYTES = 4_000_000


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
        self.files[f"{name}.npy"] = {
            "bytes": path.stat().st_size,
            "hash": _hash_array(data),
            "dtype": data.dtype.str,
            "shape": list(data.shape),
        }

    def json(self, name: str, value: Any) -> None:
        """Write ``root/name.json``."""
        path = self.root / f"{name}.json"
        write_json(path, value)
        digest = _hash_bytes(path.read_bytes())
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
        return fingerprint_of(self.files, languages)


def fingerprint_of(files: Mapping[str, Mapping[str, Any]], languages: Sequence[str]) -> str:
    """16 hex digits over the recorded hashes of ``files`` and the languages' order."""
    lines = [f"{name}\t{files[name]['hash']}\n" for name in sorted(files)]
    return hashlib.sha256("".join([*lines, *languages]).encode()).hexdigest()[:16]


@dataclass(frozen=True, slots=True)
class ArrayReader:
    """Reads what `ArrayWriter` wrote as read-only memmaps.

    ``files`` is what the writer remembered; ``remedy`` says what to run when something is wrong.
    A file of up to `SMALL_BYTES` (``users`` and ``news/…``: `NAMES_BYTES`) is compared with its
    hash when first read; of a larger one, whose hash would cost more than what is done with it,
    only size, dtype and shape are.
    """

    root: Path
    files: Mapping[str, Mapping[str, Any]]
    remedy: str
    _whole: set[str] = field(default_factory=set)

    def has(self, name: str) -> bool:
        return f"{name}.npy" in self.files

    def array(self, name: str) -> NDArray[Any]:
        """``root/name.npy``; `StaleCacheError` when it is missing, short or not an array."""
        array = self._load(f"{name}.npy")
        self._compare(f"{name}.npy", lambda: _hash_array(array))
        return array

    def ragged(self, name: str) -> Ragged:
        return Ragged(self.array(name), self.array(f"{name}.offsets"))

    def strings(self, name: str) -> Strings:
        return Strings(self.ragged(name), f"{self.root / name}.npy: {self.remedy}")

    def json(self, name: str) -> Any:
        """``root/name.json``."""
        path = self.root / f"{name}.json"
        try:
            content = path.read_bytes()
            self._compare(f"{name}.json", lambda: _hash_bytes(content))
            return json.loads(content)
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

    def verify(self) -> None:
        """Compare every file, whatever its size, with its recorded hash."""
        for name in self.files:
            self._compare(name, lambda name=name: self._hash_of(name), always=True)  # type: ignore[misc]

    def _hash_of(self, name: str) -> str:
        if name.endswith(".npy"):
            # Mapping a small file takes longer than reading it.
            mapped = self.files[name]["bytes"] > SMALL_BYTES
            return _hash_array(self._load(name, mapped))
        return _hash_bytes((self.root / name).read_bytes())

    def _load(self, file: str, mapped: bool = True) -> NDArray[Any]:
        path, known = self.root / file, self.files.get(file, {})
        try:
            array = np.asarray(np.load(path, mmap_mode="r" if mapped else None, allow_pickle=False))
        # A damaged header can bring any error out of numpy's parser: tokenize, ast, dtype, mmap.
        except Exception as error:
            raise StaleCacheError(f"{path}: {error}. {self.remedy}") from None
        found = {"dtype": array.dtype.str, "shape": list(array.shape)}
        for what, value in found.items():
            if known.get(what, value) != value:
                raise StaleCacheError(
                    f"{path}: damaged, {what} {value}, expected {known[what]}. {self.remedy}"
                )
        return array

    def _compare(self, file: str, found: Callable[[], str], always: bool = False) -> None:
        known = self.files.get(file)
        if known is None or file in self._whole:
            return
        limit = NAMES_BYTES if file.startswith(("users", "news/")) else SMALL_BYTES
        if not always and known["bytes"] > limit:
            return
        if found() != known["hash"]:
            raise StaleCacheError(
                f"{self.root / file}: damaged, content differs from what was written. {self.remedy}"
            )
        self._whole.add(file)


def _hash_bytes(content: bytes) -> str:
    return hashlib.blake2b(content, digest_size=16).hexdigest()


def _hash_array(data: NDArray[Any]) -> str:
    """32 hex digits over dtype, shape and values."""
    content = hashlib.blake2b(f"{data.dtype.str}{data.shape}".encode(), digest_size=16)
    content.update(np.ascontiguousarray(data).reshape(-1).view(np.uint8).data)
    return content.hexdigest()
