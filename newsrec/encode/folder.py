"""A model folder, looked at before torch is loaded: what is wrong is said in one clear line."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

from newsrec.errors import DataError
from newsrec.files import write_json

_TOKENIZERS = (
    "tokenizer.json", "vocab.txt", "vocab.json", "sentencepiece.bpe.model", "spiece.model",
    "tokenizer.model", "spm.model",
)  # fmt: skip
_PICKLED = ("pytorch_model.bin", "pytorch_model.bin.index.json")
_READ = (".json", ".txt", ".model", ".safetensors", ".py", ".onnx", ".onnx_data", ".xml", ".bin")
_EXPORTS = ("onnx", "openvino")
_NAME = "newsrec.json"


def check_folder(folder: Path, backend: str = "torch") -> None:
    """Raise `DataError` unless ``folder`` can hold a model that newsrec loads.

    Checked: it exists, its JSON files parse, its weights are safetensors files as long as their
    headers say, and a vocabulary is there (transformers 5 makes up an empty one where none is).
    """
    if not folder.exists():
        raise DataError(f"{folder}: no such model folder")
    if not folder.is_dir():
        raise DataError(f"{folder}: is a file, expected a model folder")
    parts = _modules(folder)
    if parts is None and not (folder / "config.json").is_file():
        raise DataError(
            f"{folder}: no modules.json (sentence-transformers) and no config.json "
            "(transformers) in it, expected a model folder"
        )
    for part in [folder] if parts is None else parts:
        for path in sorted(part.glob("*.json")):
            _json(path)
        if backend == "torch":
            _check_weights(part)
    where = folder if parts is None else parts[0]
    if not any((place / name).is_file() for place in (where, folder) for name in _TOKENIZERS):
        raise DataError(f"{where}: no vocabulary in it, expected one of {', '.join(_TOKENIZERS)}")


def content_hash(folder: Path, backend: str = "torch") -> str:
    """16 hex digits over the names and bytes of every file that can change a vector."""
    total = hashlib.blake2b(digest_size=8)
    for path in sorted(folder.rglob("*")):
        inner = path.relative_to(folder)
        hidden = any(part.startswith(".") for part in inner.parts)
        unused = backend == "torch" and (inner.parts[0] in _EXPORTS or path.suffix == ".bin")
        if path.is_file() and path.suffix in _READ and not hidden and not unused:
            with path.open("rb") as file:
                digest = hashlib.file_digest(file, lambda: hashlib.blake2b(digest_size=16))
            total.update(f"{inner.as_posix()}\0{digest.hexdigest()}\n".encode())
    return total.hexdigest()


def is_pipeline(folder: Path) -> bool:
    """Whether ``folder`` has its own sentence-transformers pipeline."""
    return (folder / "modules.json").is_file()


def call(folder: Path, name: str) -> None:
    """Give ``folder`` a name of its own, which stays when the folder moves."""
    write_json(folder / _NAME, {"name": name})


def called(folder: Path) -> str:
    """The name that `call` gave ``folder``, else that of the folder."""
    path = folder / _NAME
    found = _json(path) if path.is_file() else {}
    name = found.get("name") if isinstance(found, dict) else None
    return name if isinstance(name, str) and name else folder.resolve().name


def _modules(folder: Path) -> list[Path] | None:
    """The folders of the pipeline's modules; None where there is no pipeline."""
    if not is_pipeline(folder):
        return None
    path = folder / "modules.json"
    try:
        return [folder / entry["path"] for entry in _json(path)] or [folder]
    except (TypeError, KeyError):
        raise DataError(f"{path}: expected a list of modules, each with a path") from None


def _json(path: Path) -> Any:
    try:
        return json.loads(path.read_bytes())
    except ValueError as error:
        raise DataError(f"{path}: not JSON ({error})") from None


def _check_weights(part: Path) -> None:
    found = sorted(part.glob("*.safetensors"))
    for path in found:
        _check_safetensors(path)
    index = part / "model.safetensors.index.json"
    if index.is_file():
        shards = set(_json(index).get("weight_map", {}).values())
        missing = sorted(shards - {path.name for path in found})
        if missing:
            raise DataError(f"{part / missing[0]}: no such file, {index.name} names it")
    if found:
        return
    pickled = [part / name for name in _PICKLED if (part / name).is_file()]
    if pickled:
        raise DataError(
            f"{pickled[0]}: pickled weights can run code when loaded, expected safetensors. If you "
            f'trust them, convert once: python -c "from transformers import AutoModel as M; '
            f"M.from_pretrained('{part}').save_pretrained('{part}')\""
        )
    if (part / "config.json").is_file() and "model_type" in _json(part / "config.json"):
        raise DataError(
            f"{part}: no weights in it, expected model.safetensors (pickled ones are not taken)"
        )


def _check_safetensors(path: Path) -> None:
    """Header: 8 bytes little-endian length, JSON, then the tensors end to end."""
    size = path.stat().st_size
    with path.open("rb") as file:
        length = int.from_bytes(file.read(8), "little")
        if size < 8 or length > size - 8:
            raise DataError(f"{path}: {size} bytes, cut short or not a safetensors file")
        try:
            header = json.loads(file.read(length))
            ends = [v["data_offsets"][1] for k, v in header.items() if k != "__metadata__"]
        except (ValueError, TypeError, KeyError, AttributeError):
            raise DataError(f"{path}: damaged header, not a safetensors file") from None
    expected = 8 + length + max(ends, default=0)
    if size != expected:
        raise DataError(f"{path}: {size} bytes, its header says {expected}; copy it again")
