"""The corpus folder: nouns as memmapped arrays, written whole or not at all.

corpus.json            format version, name, fingerprint, languages, splits, info, files
users.npy              (n_users,) str
news/…                 the NewsTable; names.json holds its category and entity names
texts/LANGUAGE/…       Texts, strings as UTF-8 bytes and offsets
splits/SPLIT/…         Impressions, and history_language where a reader reads several
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from newsrec.corpus.arrays import ArrayReader, ArrayWriter, fingerprint_of
from newsrec.corpus.foreign import FORMAT, refuse_foreign
from newsrec.corpus.parts import (
    check_split,
    read_news,
    read_split,
    read_texts,
    write_news,
    write_split,
    write_texts,
)
from newsrec.errors import DataError, StaleCacheError, unknown_name
from newsrec.files import atomic_folder, write_json
from newsrec.languages import canonical
from newsrec.types import Impressions, NewsTable, Texts

VERSION = 1
_KEYS = ("name", "fingerprint", "languages", "splits", "info", "files")
_MAKE = "newsrec prepare mind RAW --out {folder}  (or: newsrec prepare articles …)"


@dataclass(frozen=True)
class Corpus:
    """An opened corpus folder; arrays are read-only memmaps, read when first used.

    Damage is found when a file is first read: files of up to 256 kB (readers and the
    news table: 4 MB) are compared with their recorded hash, of larger ones size, dtype and shape
    are; `verify` compares everything.

    ``fingerprint`` is a hash of all content (16 hex digits); ``languages`` are ISO 639-3;
    ``info`` says how it was made (protocol, counts, options).
    """

    folder: Path
    name: str
    fingerprint: str
    languages: tuple[str, ...]
    splits: tuple[str, ...]
    info: Mapping[str, Any]
    _read: ArrayReader

    def __repr__(self) -> str:
        return f"Corpus({str(self.folder)!r}, {len(self.languages)} languages, {self.fingerprint})"

    @classmethod
    def open(cls, folder: Path | str) -> Corpus:
        """Open ``folder``; `DataError` when there is no corpus, `StaleCacheError` when it is
        damaged or of another format version."""
        folder = Path(folder)
        meta = _read_meta(folder)
        remedy = f"Make it again: {meta.get('made_by') or _MAKE.format(folder=folder)}"
        if meta.get("version") != VERSION:
            raise StaleCacheError(
                f"{folder}: corpus format {meta.get('version')}, expected {VERSION}. {remedy}"
            )
        lacking = [key for key in _KEYS if key not in meta]
        if lacking:
            raise StaleCacheError(f"{folder / 'corpus.json'}: no {lacking[0]!r}. {remedy}")
        if not _is_sealed(meta):
            raise StaleCacheError(
                f"{folder / 'corpus.json'}: damaged, files and fingerprint do not fit. {remedy}"
            )
        read = ArrayReader(folder, meta["files"], remedy)
        read.check()
        return cls(
            folder=folder,
            name=meta["name"],
            fingerprint=meta["fingerprint"],
            languages=tuple(meta["languages"]),
            splits=tuple(meta["splits"]),
            info=meta["info"],
            _read=read,
        )

    @cached_property
    def news(self) -> NewsTable:
        """The table of news, language-free."""
        with self._damage():
            return read_news(self._read)

    @cached_property
    def users(self) -> NDArray[np.str_]:
        """Reader ids ``(n_users,)``; ``Impressions.user`` indexes them."""
        return self._read.array("users")

    def texts(self, language: str) -> Texts:
        """The shelf in ``language`` (any spelling); `ConfigError` names the languages there are."""
        code = canonical(language)
        if code not in self.languages:
            raise unknown_name(f"language of corpus {self.name!r}", code, self.languages)
        with self._damage():
            return read_texts(self._read, code)

    def impressions(self, split: str) -> Impressions:
        """The impressions of ``split``; `ConfigError` names the splits there are."""
        self._check_split(split)
        with self._damage():
            return read_split(self._read, split)

    def history_language(self, split: str) -> NDArray[np.int16] | None:
        """``(nnz of impressions.history,)``: index into ``languages`` of what was clicked, or None
        where the log does not say."""
        self._check_split(split)
        name = f"splits/{split}/history_language"
        return self._read.array(name) if self._read.has(name) else None

    def verify(self) -> None:
        """Read everything and compare with the recorded hashes; `StaleCacheError` on the first
        file that differs."""
        self._read.verify()

    def _check_split(self, split: str) -> None:
        if split not in self.splits:
            raise unknown_name(f"split of corpus {self.name!r}", split, self.splits)

    @contextmanager
    def _damage(self) -> Iterator[None]:
        """Parts that were checked when written and no longer fit are damage, not bad input."""
        try:
            yield
        except DataError as error:
            raise StaleCacheError(f"{self.folder}: {error}. {self._read.remedy}") from None


def write_corpus(
    folder: Path | str,
    *,
    name: str,
    news: NewsTable,
    users: NDArray[np.str_],
    texts: Iterable[Texts],
    splits: Mapping[str, Impressions],
    history_language: Mapping[str, NDArray[np.int16]] | None = None,
    info: Mapping[str, Any] | None = None,
    made_by: str = "",
    unlisted: bool = False,
) -> Corpus:
    """Write ``folder`` whole (an older corpus there is replaced at the end) and open it.

    ``history_language[split]`` is ``(nnz of that split's history,)``, an index into the languages
    in the order of ``texts``. ``made_by`` is the command that makes the folder again; ``unlisted``
    as in `refuse_foreign`. Raises `DataError` when the parts do not fit together or ``folder``
    holds something else.
    """
    folder = Path(folder)
    refuse_foreign(folder, unlisted=unlisted)
    with atomic_folder(folder) as temporary:
        write = ArrayWriter(temporary)
        write_news(write, news)
        write.ids("users", users)
        languages: list[str] = []
        for shelf in texts:
            write_texts(write, shelf, len(news), languages)
            languages.append(shelf.language)
        for split, impressions in splits.items():
            spoken = (history_language or {}).get(split)
            check_split(split, impressions, spoken, limits=(len(news), len(users), len(languages)))
            write_split(write, split, impressions, spoken)
        meta = {
            "format": FORMAT,
            "version": VERSION,
            "name": name,
            "fingerprint": write.fingerprint(languages),
            "languages": languages,
            "splits": list(splits),
            "made_by": made_by,
            "info": dict(info or {}),
            "files": write.files,
        }
        write_json(temporary / "corpus.json", meta)
    return Corpus.open(folder)


def _is_sealed(meta: Mapping[str, Any]) -> bool:
    """Whether the recorded hashes and languages still give the recorded fingerprint."""
    try:
        return bool(fingerprint_of(meta["files"], meta["languages"]) == meta["fingerprint"])
    except (TypeError, KeyError, AttributeError):
        return False


def _read_meta(folder: Path) -> dict[str, Any]:
    path = folder / "corpus.json"
    make = f"Make one: {_MAKE.format(folder=folder)}"
    if not path.is_file():
        what = "no corpus.json in it" if folder.is_dir() else "no such folder"
        raise DataError(f"{folder}: {what}, expected a newsrec corpus. {make}")
    try:
        meta = json.loads(path.read_bytes())
    except (ValueError, RecursionError) as error:
        raise StaleCacheError(f"{path}: not JSON ({error}). {make}") from None
    if not isinstance(meta, dict) or meta.get("format") != FORMAT:
        raise StaleCacheError(f"{path}: format is not {FORMAT!r}. {make}")
    return meta
