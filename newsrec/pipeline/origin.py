"""Where a number comes from: commit, versions, config."""

from __future__ import annotations

import subprocess
from collections.abc import Mapping
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from newsrec.types import Provenance

#: Libraries that can change a number.
LIBRARIES = (
    "newsrec", "numpy", "scipy", "torch", "transformers", "sentence-transformers", "tokenizers",
    "faiss-cpu",
)  # fmt: skip

_TIMEOUT_S = 10


def provenance(
    config: Mapping[str, object],
    config_hash: str,
    corpus: str,
    encoder: Mapping[str, object],
    protocol: str,
    seed: int,
) -> Provenance:
    """A `Provenance` of this installation."""
    return Provenance(
        commit(), config, config_hash, corpus, encoder, protocol, seed, dict(versions())
    )


@cache
def versions() -> dict[str, str]:
    """Versions of the installed `LIBRARIES`."""
    found = {}
    for name in LIBRARIES:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue
    return found


@cache
def commit() -> str:
    """The commit of the checkout that newsrec runs from, with ``+changes`` when files of the
    package differ from it; "" outside a checkout of newsrec."""
    root = Path(__file__).resolve().parents[2]
    if not (root / ".git").exists() or not (root / "newsrec" / "__init__.py").is_file():
        return ""
    found = _git(root, "rev-parse", "HEAD")
    if not found:
        return ""
    changed = _git(root, "status", "--porcelain", "--", "newsrec")
    return f"{found}+changes" if changed else found


def _git(root: Path, *arguments: str) -> str:
    """What git says, "" where it cannot say anything."""
    try:
        done = subprocess.run(
            ["git", "-C", str(root), *arguments],
            capture_output=True, text=True, timeout=_TIMEOUT_S, check=False,
        )  # fmt: skip
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return done.stdout.strip() if done.returncode == 0 else ""
