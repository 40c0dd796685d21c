"""A stored matrix's manifest: everything that changes a vector, and what its files must be.

Every file is recorded by its size and the CRC-32 of each block of 4 MiB. Opening checks sizes, the
first and the last block, and all blocks of files up to 32 MiB, so it stays in milliseconds; the
rest is checked on request.
"""

from __future__ import annotations

import json
import zlib
from dataclasses import asdict
from pathlib import Path
from typing import Any

from newsrec.errors import ConfigError, StaleCacheError
from newsrec.files import write_json
from newsrec.types import EmbeddingSpec, EncoderSpec

MANIFEST = "manifest.json"
_FORMAT, _VERSION = "newsrec-embeddings", 1
_BLOCK = 1 << 22
_SMALL = 1 << 25


def write_manifest(folder: Path, spec: EmbeddingSpec, **more: Any) -> None:
    """Describe the ``.npy`` files of ``folder``; ``more`` is kept with them."""
    from newsrec import __version__

    body = {
        "format": _FORMAT,
        "version": _VERSION,
        "newsrec": __version__,
        "hash": spec.hash,
        "spec": asdict(spec),
        **more,
        "files": {path.name: _record(path) for path in sorted(folder.glob("*.npy"))},
    }
    write_json(folder / MANIFEST, {**body, "check": _check(body)})


def read_manifest(folder: Path, spec: EmbeddingSpec) -> dict[str, Any]:
    """The manifest of ``folder``; `StaleCacheError` when it is not ``spec``'s or is damaged."""
    path = folder / MANIFEST
    try:
        body = json.loads(path.read_bytes())
    except FileNotFoundError:
        raise stale(folder, "no manifest.json, not made by newsrec", spec) from None
    except (OSError, ValueError) as error:
        raise stale(path, f"not readable as JSON ({error})", spec) from None
    if not isinstance(body, dict) or body.get("format") != _FORMAT:
        raise stale(path, f"format is not {_FORMAT!r}", spec)
    if body.get("version") != _VERSION:
        raise stale(path, f"version {body.get('version')}, expected {_VERSION}", spec)
    known = body.pop("check", None)
    if known != _check(body):
        raise stale(path, "was changed after it was written", spec)
    made_for = json.loads(json.dumps(asdict(spec)))
    if body["spec"] != made_for:
        differ = [key for key in made_for if body["spec"].get(key) != made_for[key]]
        raise stale(path, f"made for another {', '.join(differ)}", spec)
    return body


def spec_in(folder: Path) -> EmbeddingSpec | None:
    """What ``folder`` says it holds, believed as little as its manifest; None for no manifest."""
    try:
        fields = json.loads((folder / MANIFEST).read_bytes())["spec"]
        encoder = {**fields["encoder"], "levels": tuple(fields["encoder"]["levels"])}
        return EmbeddingSpec(**{**fields, "encoder": EncoderSpec(**encoder)})
    except (OSError, ValueError, TypeError, KeyError, ConfigError):
        return None


def check_files(folder: Path, manifest: dict[str, Any], spec: EmbeddingSpec, *, full: bool) -> None:
    """`StaleCacheError` names the first file that is not what was written; ``full`` reads all."""
    for name, known in manifest["files"].items():
        path = folder / name
        size = path.stat().st_size if path.is_file() else -1
        if size != known["bytes"]:
            what = "missing" if size < 0 else f"{size} bytes, expected {known['bytes']}"
            raise stale(path, what, spec)
        count = len(known["blocks"])
        numbers = range(count) if full or size <= _SMALL else {0, count - 1}
        with path.open("rb") as file:
            for number in numbers:
                file.seek(number * _BLOCK)
                if zlib.crc32(file.read(_BLOCK)) != known["blocks"][number]:
                    where = f"bytes {number * _BLOCK} to {min(size, (number + 1) * _BLOCK)}"
                    raise stale(path, f"{where} are damaged", spec)


def stale(path: Path, what: str, spec: EmbeddingSpec) -> StaleCacheError:
    """The error for a stored file that cannot be used. The command that replaces it is told by
    those who know the corpus and the encoder's options (`newsrec.pipeline.stored`)."""
    return StaleCacheError(
        f"{path}: {what}. Remove the folder ({spec.language} {spec.view} of "
        f"{spec.encoder.name}), or encode again by force"
    )


def crc_of(path: Path) -> int:
    """CRC-32 of a whole file, read block by block."""
    total = 0
    with path.open("rb") as file:
        while block := file.read(_BLOCK):
            total = zlib.crc32(block, total)
    return total


def _record(path: Path) -> dict[str, Any]:
    blocks = []
    with path.open("rb") as file:
        while block := file.read(_BLOCK):
            blocks.append(zlib.crc32(block))
    return {"bytes": path.stat().st_size, "blocks": blocks}


def _check(body: dict[str, Any]) -> str:
    text = json.dumps(body, sort_keys=True, ensure_ascii=True, default=str)
    return f"{zlib.crc32(text.encode()):08x}"
