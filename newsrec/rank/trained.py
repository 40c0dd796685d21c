"""A folder of trained rankers, without torch: where each is, and what it reads.

A ranker's own folder holds ``manifest.json``; a run's folder holds it as ``best``; the folder of
several seeds holds runs as ``seed42``, ``seed43``, …
"""

from __future__ import annotations

import json
import re
import zlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from newsrec.errors import ConfigError, DataError, StaleCacheError
from newsrec.protocols import Ranker
from newsrec.rank.table import Recipe

FORMAT, VERSION = "newsrec-ranker", 1
MANIFEST = "manifest.json"
#: Folder of a tuned encoder inside a ranker's folder.
ENCODER = "encoder"


@dataclass(frozen=True, slots=True)
class Trained:
    """A trained ranker: ``head``; the ``views`` it reads, none for a head that reads no text;
    ``encoder``, as it was named for training (``{"name": …, "options": …}``), None without one;
    ``trainable``: what of that encoder was tuned, and then is in `encoder_at`."""

    folder: Path
    head: str
    views: tuple[str, ...]
    encoder: dict[str, Any] | None
    trainable: str

    @property
    def one(self) -> bool:
        """Whether it is the same for every seed."""
        return ranker_folder(self.folder) in (self.folder, self.folder / "best")

    def encoder_at(self, seed: int | None) -> Path | None:
        """The folder of the encoder that was tuned along with this seed's head (None: that of the
        first seed), if it was."""
        if self.trainable == "none":
            return None
        found = ranker_folder(self.folder, seed) / ENCODER
        if not found.is_dir():
            raise stale(found, "the encoder that was tuned along is not there")
        return found


def trained(folder: Path, seed: int | None = None) -> Trained:
    """What is in ``folder``; `DataError` without a ranker, `StaleCacheError` for a damaged one."""
    where = ranker_folder(folder, seed)
    manifest = read_manifest(where)
    if "aspects" in manifest:
        parts = {name: read_manifest(where / name) for name in ("relevance", *manifest["aspects"])}
        manifest = parts["relevance"]
    else:
        parts = {"": manifest}
    try:
        views = dict.fromkeys(view for part in parts.values() for view in part["inputs"]["views"])
        made = manifest["made"]
        spec = manifest["inputs"]["encoder"]
        named = made.get("encoder") or (None if spec is None else {"name": spec["name"]})
        return Trained(folder, manifest["head"], tuple(views), named if views else None,
                       made.get("trainable", "none"))  # fmt: skip
    except (KeyError, TypeError, AttributeError) as error:
        raise stale(where / MANIFEST, f"not a ranker's manifest ({error!r})") from None


def recipe(folder: Path, load: Callable[[Path, int], Any]) -> Recipe:
    """A row like those of `newsrec.rank.table.RANKERS` for the rankers in ``folder``, one a seed,
    which ``load`` opens; ``weights``: of aspects, in place of those of the training."""
    found = trained(folder)

    def opened(seed: int, *, weights: dict[str, float] | None = None) -> Ranker:
        ranker = load(folder, seed)
        if weights is not None:
            if not hasattr(ranker, "weights"):
                raise ConfigError(f"weights: {folder} has no modules of aspects to weigh")
            ranker = replace(ranker, weights={**ranker.weights, **weights})
        found: Ranker = ranker
        return found

    about = f"trained head {found.head!r}"
    return Recipe(about, opened, ("seed",), vectors=bool(found.views), views=found.views,
                  stored=True)  # fmt: skip


def ranker_folder(folder: Path, seed: int | None = None) -> Path:
    """The ranker's own folder in ``folder``: that of ``seed``, or of the first seed for None.

    A ranker that is alone in its folder is that of every seed, and a training's only one is that of
    the whole folder. `DataError` says what is there instead.
    """
    for found in (folder, folder / "best"):
        if (found / MANIFEST).is_file():
            return found
    if not folder.is_dir():
        raise DataError(f"{folder}: no such folder, expected a trained ranker (newsrec train)")
    seeds = sorted(n for path in folder.iterdir() if (n := _seed_of(path)) is not None)
    if seeds and (seed is None or seed in seeds):
        return folder / f"seed{seeds[0] if seed is None else seed}" / "best"
    if seeds:
        raise DataError(
            f"{folder}: no ranker of seed {seed}, but of {', '.join(map(str, seeds))}: --seeds"
        )
    inside = sorted({path.parents[2] for path in folder.glob(f"*/seed*/best/{MANIFEST}")})
    if len(inside) == 1:
        return ranker_folder(inside[0], seed)
    if inside:
        several = ", ".join(path.name for path in inside)
        raise DataError(f"{folder}: several trained rankers, name one: {several}")
    raise DataError(f"{folder}: no {MANIFEST} in it, expected a trained ranker (newsrec train)")


def read_manifest(folder: Path) -> dict[str, Any]:
    """``manifest.json`` of a ranker's own folder, its format checked."""
    path = folder / MANIFEST
    try:
        manifest = json.loads(path.read_bytes())
    except FileNotFoundError:
        raise DataError(f"{folder}: no {MANIFEST} in it, expected a trained ranker") from None
    except (OSError, ValueError) as error:
        raise stale(path, f"not readable as JSON ({error})") from None
    if not isinstance(manifest, dict) or manifest.get("format") != FORMAT:
        raise DataError(f"{path}: format is not {FORMAT!r}, expected a trained ranker")
    if manifest.get("version") != VERSION:
        raise stale(path, f"version {manifest.get('version')}, expected {VERSION}")
    if sealed(manifest)["seal"] != manifest.get("seal"):
        raise stale(path, "it is not as it was written")
    return manifest


def sealed(manifest: Mapping[str, Any]) -> dict[str, Any]:
    """With a checksum of everything else as JSON has it."""
    plain = {key: value for key, value in manifest.items() if key != "seal"}
    text = json.dumps(plain, sort_keys=True, default=str)
    return {**plain, "seal": zlib.crc32(text.encode("utf-8", "surrogatepass"))}


def stale(path: Path, what: str) -> StaleCacheError:
    return StaleCacheError(f"{path}: {what}; train it again")


def _seed_of(path: Path) -> int | None:
    found = re.fullmatch(r"seed(\d+)", path.name)
    return int(found[1]) if found and _is_run(path) else None


def _is_run(path: Path) -> bool:
    return (path / "best" / MANIFEST).is_file()
