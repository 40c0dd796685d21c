"""A trained ranker as a folder: ``weights.safetensors`` and ``manifest.json``, nothing pickled."""

from __future__ import annotations

import zlib
from pathlib import Path
from typing import Any

from safetensors import SafetensorError
from safetensors.torch import load_file, save_file

from newsrec.errors import ConfigError, StaleCacheError
from newsrec.files import atomic_folder, write_json
from newsrec.rank.ensemble import AspectEnsemble
from newsrec.rank.heads.table import make_head
from newsrec.rank.inputs import Inputs
from newsrec.rank.neural import NeuralRanker
from newsrec.rank.trained import (
    FORMAT,
    MANIFEST,
    VERSION,
    ranker_folder,
    read_manifest,
    sealed,
    stale,
)

_WEIGHTS = "weights.safetensors"


def save_ranker(folder: Path, ranker: NeuralRanker | AspectEnsemble) -> None:
    """Write ``folder`` whole, or not at all; an ensemble's modules are folders inside it."""
    with atomic_folder(folder) as work:
        write_ranker(work, ranker)


def load_ranker(folder: Path, seed: int | None = None) -> NeuralRanker | AspectEnsemble:
    """What `save_ranker` wrote, in ``folder`` itself or, as `fit` leaves it, further inside (see
    `newsrec.rank.trained`; ``seed`` None: the first one). `DataError` without it, `StaleCacheError`
    when it is damaged or of another version."""
    folder = ranker_folder(folder, seed)
    manifest = read_manifest(folder)
    if "aspects" in manifest:
        modules = {name: _loaded(folder / name) for name in ("relevance", *manifest["aspects"])}
        relevance = modules.pop("relevance")
        return AspectEnsemble(relevance, modules, manifest["aspects"])
    return _loaded(folder)


def check_best(folder: Path, run: str) -> None:
    """`StaleCacheError` when ``folder / "best"`` is another run's and its checkpoint, by which it
    would be known, is gone: it would be written over."""
    best = folder / "best"
    if (folder / "last").exists() or not (best / MANIFEST).exists():
        return
    manifest = read_manifest(best)
    if manifest.get("made", {}).get("run") != run:
        raise StaleCacheError(
            f"{best}: a ranker of another run (head {manifest.get('head', 'with aspects')!r}); "
            "remove the folder, or name another"
        )


def write_ranker(work: Path, ranker: NeuralRanker | AspectEnsemble) -> None:
    """Write ``ranker`` into the folder ``work``, which somebody else makes whole or not at all."""
    from newsrec import __version__

    body: dict[str, Any] = {"format": FORMAT, "version": VERSION, "newsrec": __version__}
    if isinstance(ranker, AspectEnsemble):
        for name, module in {"relevance": ranker.relevance, **ranker.modules}.items():
            (work / name).mkdir()
            write_ranker(work / name, module)
        write_json(work / MANIFEST, sealed({**body, "aspects": dict(ranker.weights)}))
        return
    head = ranker.head
    weights = {k: v.detach().cpu().contiguous().clone() for k, v in head.state_dict().items()}
    save_file(weights, work / _WEIGHTS)
    body |= {
        "head": head.name,
        "options": dict(head.options),
        "inputs": head.inputs.to_dict(),
        "history_limit": ranker.history_limit,
        "newest": ranker.newest,
        "made": dict(ranker.made),
        "weights_crc": zlib.crc32((work / _WEIGHTS).read_bytes()),
    }
    write_json(work / MANIFEST, sealed(body))


def _loaded(folder: Path) -> NeuralRanker:
    manifest, path = read_manifest(folder), folder / _WEIGHTS
    try:
        crc = zlib.crc32(path.read_bytes())
        if crc != manifest["weights_crc"]:
            raise stale(path, "its bytes are not those that were written")
        options: dict[str, Any] = {
            k: tuple(v) if isinstance(v, list) else v for k, v in manifest["options"].items()
        }
        head = make_head(manifest["head"], Inputs.from_dict(manifest["inputs"]), 0, **options)
        head.load_state_dict(load_file(path))
        return NeuralRanker(
            head.eval(), manifest["history_limit"], manifest["newest"], manifest["made"]
        )
    except (OSError, KeyError, TypeError, RuntimeError, SafetensorError, ConfigError) as error:
        said = " ".join(str(error).split())[:200]
        raise stale(folder, f"does not hold what its manifest says ({said})") from error
