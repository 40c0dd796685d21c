"""A model repository to a local folder: once from the Hugging Face Hub, then from its cache."""

from __future__ import annotations

from difflib import get_close_matches
from pathlib import Path
from typing import Any

from newsrec.encode.presets import PRESETS, names
from newsrec.errors import ConfigError, DataError, one_line

#: Seconds to wait for the hub's answer. huggingface_hub 2.4 waits for ever on a silent host and
#: sentence-transformers 6.2 retries an unreachable one for over a minute, so newsrec asks first.
TIMEOUT_S = 5.0

_FILES = ["*.json", "*.txt", "*.model", "*.safetensors"]
_NOT_NEEDED = ["onnx/*", "openvino/*", "*/onnx/*", "*/openvino/*"]
_BACKENDS = {"onnx": ["*.onnx", "*.onnx_data"], "openvino": ["*.xml", "*.bin"]}


def fetch(
    name: str, repo: str, revision: str, *, code: bool = False, backend: str = "torch"
) -> tuple[Path, str]:
    """``(folder, commit)`` of ``repo`` at ``revision``: downloaded, or found in the cache.

    ``name`` is what the user asked for; ``code`` brings Python files along. Pickled weights are
    never downloaded. Raises `ConfigError` when there is no such repository or revision, `DataError`
    when the hub cannot be reached and the cache does not have it.
    """
    wanted: dict[str, Any] = {
        "allow_patterns": _FILES + ["*.py"] * code + _BACKENDS.get(backend, []),
        "ignore_patterns": _NOT_NEEDED if backend == "torch" else None,
        "etag_timeout": TIMEOUT_S,
    }
    from huggingface_hub import snapshot_download
    from huggingface_hub.errors import LocalEntryNotFoundError

    commit, reason = _ask(name, repo, revision)
    try:
        folder = snapshot_download(
            repo, revision=commit or revision, local_files_only=commit is None, **wanted
        )
    except LocalEntryNotFoundError as error:
        raise _unreachable(name, repo, revision, reason or str(error)) from None
    except Exception as error:  # a transfer that broke off, a full disk
        raise _unreachable(name, repo, revision, one_line(error)) from error
    return Path(folder), commit or Path(folder).name


def _ask(name: str, repo: str, revision: str) -> tuple[str | None, str]:
    """``(commit, "")`` of ``revision``, or ``(None, why the hub did not answer)``."""
    from huggingface_hub import HfApi
    from huggingface_hub.errors import (
        GatedRepoError,
        HFValidationError,
        RepositoryNotFoundError,
        RevisionNotFoundError,
    )

    try:
        return HfApi().model_info(repo, revision=revision, timeout=TIMEOUT_S).sha, ""
    except GatedRepoError:
        raise ConfigError(
            f"{name}: {repo} asks for an accepted licence; accept it on its page and log in "
            "with `hf auth login`"
        ) from None
    except RevisionNotFoundError:
        raise ConfigError(f"{name}: {repo} has no revision {revision!r}") from None
    except (RepositoryNotFoundError, HFValidationError):
        raise ConfigError(
            f"unknown encoder {name!r}: neither a folder nor a preset ({_presets(name)}), and the "
            f"Hugging Face Hub has no public model {repo!r}"
        ) from None
    except Exception as error:  # each generation of the library has its own connection errors
        return None, one_line(error)


def _unreachable(name: str, repo: str, revision: str, reason: str) -> DataError:
    from huggingface_hub import constants

    use = f"{name}=FOLDER" if name in PRESETS else "FOLDER"
    return DataError(
        f"{name}: no such folder; tried {constants.ENDPOINT}/{repo} at {revision!r} ({reason}) and "
        f"the cache {constants.HF_HUB_CACHE}. Where there is a network: `hf download {repo} "
        f"--local-dir FOLDER`; then use `{use}` as the encoder. Presets: {_presets(name)}"
    )


def _presets(name: str) -> str:
    near = get_close_matches(name, names(), n=1) if name not in PRESETS else []
    return ", ".join(names()) + "".join(f"; did you mean {found!r}?" for found in near)
