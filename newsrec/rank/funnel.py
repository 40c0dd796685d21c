"""A FAISS index over the short vectors of a large shelf: the wide end of a Matryoshka funnel.

Search at d/4, score the shortlist again at d: the index holds a quarter of the numbers, and what it
misses in order the second step puts right (paper 000 trains encoders whose prefixes allow it;
Kusupati et al. 2022, "Matryoshka Representation Learning", §4.3, call it adaptive retrieval).
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from newsrec.errors import ConfigError, StaleCacheError
from newsrec.files import atomic_folder, write_json
from newsrec.rank.sides import Floats, Side

_BATCH = 1 << 16
#: Rows that k-means sees per list, as FAISS recommends at least 39.
_ROWS_PER_LIST = 64
#: Part of the lists that a search reads. A reader of many topics is a mean vector that lies between
#: them, with near articles in many lists: of 200,000 generated articles a sixteenth of the lists
#: held 0.93 of such readers' best 100, an eighth 0.98, a quarter 0.993, and 1.00 of the best 100
#: of readers of one to three topics.
PROBED = 1 / 4
_PROBED_AT_LEAST = 32
_VERSION = 1


@dataclass(frozen=True, slots=True, eq=False)
class Funnel:
    """``index``: FAISS inverted lists over the first ``dim`` dimensions of the shelf's rows, at
    half precision, under their row numbers; ``fingerprint`` says of which rows and vectors."""

    index: Any
    dim: int
    fingerprint: str

    @classmethod
    def build(cls, side: Side, rows: NDArray[np.int64], dim: int, key: str = "") -> Funnel:
        """Index ``rows (m,)`` of ``side`` at ``dim``. Same rows, same index: k-means is seeded."""
        faiss, stamp = _faiss(), fingerprint(side, rows, dim, key)
        n_lists = max(1, int(2 ** np.round(np.log2(np.sqrt(max(len(rows), 1))))))
        index = faiss.index_factory(dim, f"IVF{n_lists},SQfp16", faiss.METRIC_INNER_PRODUCT)
        short = side.prefix(dim)
        sample = rows[:: max(1, len(rows) // (_ROWS_PER_LIST * n_lists))]
        index.train(_short_rows(short, sample, side.dim))
        for first in range(0, len(rows), _BATCH):
            batch = rows[first : first + _BATCH]
            index.add_with_ids(_short_rows(short, batch, side.dim), batch)
        return cls(index, dim, stamp)

    def shortlist(
        self, reader: Floats, size: int, allowed: NDArray[np.bool_] | None = None
    ) -> NDArray[np.int64]:
        """About the best ``size`` row numbers for ``reader (>= dim,)``, unordered; only rows where
        ``allowed (n,)``. Fewer than ``size`` when the lists that were read hold fewer."""
        faiss = _faiss()
        query = np.ascontiguousarray(reader[None, : self.dim], np.float32)
        n_probe = max(_PROBED_AT_LEAST, int(np.ceil(self.index.nlist * PROBED)))
        options: dict[str, Any] = {"nprobe": min(n_probe, self.index.nlist)}
        if allowed is not None:
            bits = np.packbits(allowed, bitorder="little")
            options["sel"] = faiss.IDSelectorBitmap(bits)
        params = faiss.SearchParametersIVF(**options)
        _, found = self.index.search(query, size, params=params)
        return np.asarray(found[0][found[0] >= 0], np.int64)

    def save(self, folder: Path) -> None:
        """Write ``folder`` whole or not at all."""
        with atomic_folder(folder) as new:
            _faiss().write_index(self.index, str(new / "index.faiss"))
            write_json(new / "index.json", {"version": _VERSION, **self._meta()})

    @classmethod
    def load(cls, folder: Path, expected: str) -> Funnel:
        """Open what `save` wrote; `StaleCacheError` when it is damaged or its fingerprint is not
        ``expected`` (made with `fingerprint`)."""
        remedy = f"Delete {folder} and run the command again: the index is built anew"
        try:
            meta = json.loads((folder / "index.json").read_bytes())
            found, dim = str(meta["fingerprint"]), int(meta["dim"])
            version = meta["version"]
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise StaleCacheError(f"{folder / 'index.json'}: {error}. {remedy}") from None
        if (version, found) != (_VERSION, expected):
            raise StaleCacheError(
                f"{folder}: index version {version} of {found}, expected {_VERSION} of {expected}: "
                f"it was made from other vectors or another shelf. {remedy}"
            )
        try:
            index = _faiss().read_index(str(folder / "index.faiss"))
        except RuntimeError as error:
            raise StaleCacheError(
                f"{folder / 'index.faiss'}: not a FAISS index ({_first_line(error)}). {remedy}"
            ) from None
        return cls(index, dim, found)

    def _meta(self) -> dict[str, object]:
        return {"fingerprint": self.fingerprint, "dim": self.dim, "rows": self.index.ntotal}


def open_funnel(
    folder: Path, side: Side, rows: NDArray[np.int64], dim: int, key: str = ""
) -> Funnel:
    """The index in ``folder``, built and saved there when there is none.

    ``key`` names what the vectors depend on (the hash of their spec). Raises
    `StaleCacheError` when the folder holds something else.
    """
    if folder.exists():
        return Funnel.load(folder, fingerprint(side, rows, dim, key))
    funnel = Funnel.build(side, rows, dim, key)
    funnel.save(folder)
    return funnel


def fingerprint(side: Side, rows: NDArray[np.int64], dim: int, key: str = "") -> str:
    """16 hex digits of ``key``, the row numbers, and a sample of 256 prepared rows."""
    if not 1 <= dim <= side.dim:
        raise ConfigError(f"index of {dim} dimensions over vectors of {side.dim}")
    digest = hashlib.sha256(f"{_VERSION} {key} {dim} {len(rows)}\n".encode())
    digest.update(np.ascontiguousarray(rows, np.int64).tobytes())
    if len(rows):
        sample = rows[np.linspace(0, len(rows) - 1, min(256, len(rows))).astype(np.int64)]
        # Rounded: a product may differ in its last bit from one machine to the next.
        digest.update(side.at(sample).astype(np.float16).tobytes())
    return digest.hexdigest()[:16]


def _faiss() -> Any:
    import faiss

    return faiss


def _short_rows(short: Side, rows: NDArray[np.int64], full: int) -> Floats:
    """Prepared prefixes; of length 1 when they are shorter than the vectors, as levels are."""
    x = short.at(rows)
    if short.dim < full:
        norm = np.sqrt(np.einsum("ij,ij->i", x, x))[:, None]
        x = np.divide(x, norm, out=np.zeros_like(x), where=norm > 0)
    return np.ascontiguousarray(x)


def _first_line(error: Exception) -> str:
    return str(error).strip().splitlines()[-1][:120] if str(error).strip() else "unreadable"
