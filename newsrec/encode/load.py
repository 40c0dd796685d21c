"""An encoder from its name: a preset, a sentence-transformers model, or a local folder."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path
from typing import Any

from newsrec.encode.folder import called, check_folder, content_hash
from newsrec.encode.hub import fetch
from newsrec.encode.presets import BUILT_IN, POOLINGS, PRESETS, Preset, names
from newsrec.errors import ConfigError, DataError, MissingExtra, unknown_name
from newsrec.protocols import Encoder

BACKENDS = ("torch", "onnx", "openvino")
PRECISIONS = ("auto", "fp32", "bf16", "fp16", "int8")
_NEEDS = {"onnx": ("optimum", "onnxruntime"), "openvino": ("optimum", "openvino")}


def load_encoder(
    name: str = BUILT_IN,
    *,
    device: str | None = None,
    precision: str = "auto",
    batch_size: int | None = None,
    trust_remote_code: bool = False,
    revision: str | None = None,
    backend: str = "torch",
    **convention: Any,
) -> Encoder:
    """The encoder ``name``: a preset, ``PRESET=FOLDER`` (its convention, the folder's weights), a
    folder, or a model of the Hugging Face Hub.

    ``precision``: ``auto`` is half where the device has it and it pays, else ``fp32``; ``int8`` is
    for CPUs. ``batch_size`` limits the texts of one pass; None leaves it to their tokens.
    ``convention`` overrides `Preset`: pooling, normalize, prefix, levels, max_tokens. Raises
    `ConfigError` for an unknown name or option and for code that is not trusted, `MissingExtra` for
    a backend, `DataError` for a folder that is no model and a hub that does not answer.
    """
    _check_options(precision, backend, batch_size)
    kind, _, given = name.partition("=")
    if kind not in names() and Path(name).exists():  # a folder may have "=" in its name
        kind, given = name, ""
    if kind == BUILT_IN:
        changed = {"device": device, "batch_size": batch_size, "revision": revision}
        given_options = [key for key, value in changed.items() if value is not None]
        return _built_in(name, given, precision, backend, [*convention, *given_options])
    preset = _preset(kind, given, convention)
    if preset.remote_code and not trust_remote_code and not given:
        raise ConfigError(
            f"{name}: {preset.repo} runs Python code from its repository. Read it, then ask for it "
            "with --trust-remote-code (trust_remote_code=True)"
        )
    if given or (kind not in PRESETS and _is_local(kind)):
        folder = Path(given or kind).expanduser()
        check_folder(folder, backend)
        label = kind if given else called(folder)
        version = content_hash(folder, backend)
    else:
        wanted, label = revision or preset.revision, kind
        folder, version = fetch(name, preset.repo, wanted, code=trust_remote_code, backend=backend)
        check_folder(folder, backend)
    from newsrec.encode.sentence import SentenceEncoder

    return SentenceEncoder(
        folder, preset, name=label, revision=version, device=device, precision=precision,
        batch_size=batch_size, trust_remote_code=trust_remote_code, backend=backend,
    )  # fmt: skip


def _built_in(name: str, folder: str, precision: str, backend: str, options: list[str]) -> Encoder:
    changed = [
        *options,
        *["precision"] * (precision != "auto"),
        *["backend"] * (backend != "torch"),
    ]
    if changed:
        raise ConfigError(f"{name}: the built-in encoder has no option {changed[0]!r}")
    from newsrec.encode.static import StaticEncoder

    return StaticEncoder(Path(folder).expanduser() if folder else None)


def _check_options(precision: str, backend: str, batch_size: int | None) -> None:
    if precision not in PRECISIONS:
        raise unknown_name("precision", precision, PRECISIONS)
    if backend not in BACKENDS:
        raise unknown_name("backend", backend, BACKENDS)
    if batch_size is not None and batch_size < 1:
        raise ConfigError(f"batch_size: {batch_size}, expected at least 1")
    from importlib.util import find_spec

    missing = [package for package in _NEEDS.get(backend, ()) if find_spec(package) is None]
    if missing:
        raise MissingExtra(
            f"backend {backend!r} needs {missing[0]!r}: pip install "
            f"'sentence-transformers[{backend}]'"
        )


def _preset(kind: str, folder: str, convention: dict[str, Any]) -> Preset:
    """The convention of ``kind`` with the caller's changes; a pooling asked for replaces the
    folder's own pipeline."""
    if folder and kind not in PRESETS:
        raise unknown_name("encoder preset", kind, names())
    known = ("pooling", "normalize", "prefix", "levels", "max_tokens")
    for option, value in convention.items():
        if option not in known:
            raise unknown_name("encoder option", option, known)
        if option == "pooling" and value not in POOLINGS:
            raise unknown_name("pooling", str(value), POOLINGS)
    # sentence-transformers' own models need no owner in their name.
    preset = PRESETS.get(kind) or Preset(kind if "/" in kind else f"sentence-transformers/{kind}")
    if "pooling" in convention:
        preset = replace(preset, pipeline=False)
    return replace(preset, **convention)


def _is_local(name: str) -> bool:
    """Whether ``name`` means a folder; `DataError` when it can mean nothing else and is missing."""
    if name and Path(name).expanduser().exists():
        return True
    if not name or name.startswith((".", "~", os.sep)) or name.count("/") > 1 or name.endswith("/"):
        raise DataError(f"{name!r}: no such model folder")
    return False
