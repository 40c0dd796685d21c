"""Several runs of one static encoder from the same start, averaged.

The runs differ in what they draw and, a little, in their options, so their tables stay comparable,
and what each has learnt by heart averages out (Wortsman et al. 2022, model soups).
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from hashlib import sha256
from multiprocessing import get_context, parent_process
from pathlib import Path

import numpy as np

from newsrec.adapt.batches import Floats, Material, Options
from newsrec.adapt.static import set_threads, train
from newsrec.files import atomic_file
from newsrec.types import Ragged

log = logging.getLogger("newsrec.adapt")


def train_members(
    table: Floats,
    parts: Ragged,
    material: Material,
    runs: Sequence[tuple[int, Options]],
    folder: Path,
    *,
    n_processes: int = 2,
) -> Floats:
    """The mean of what `train` returns for each seed and options of ``runs``, ``(n_pieces, dim)``.

    Every member runs in a process of its own with one thread, so the result does not depend on
    how many cores there are. Finished members and checkpoints lie in ``folder``, which belongs
    to this material and this start alone, and are not trained again.
    """
    folder.mkdir(parents=True, exist_ok=True)
    paths = [folder / f"member-{seed}-{_digest(options)}.npy" for seed, options in runs]
    todo = [(*run, path) for run, path in zip(runs, paths, strict=True) if not path.exists()]
    if todo:
        shared = folder / "material.npz"
        _save(shared, table, parts, material)
        with ProcessPoolExecutor(n_processes, get_context("spawn")) as pool:
            for made in [pool.submit(_member, shared, *one) for one in todo]:
                made.result()
        shared.unlink()
    total = np.zeros_like(table)
    for path in paths:
        total += np.load(path, allow_pickle=False)
    total /= len(paths)
    return total


def _digest(options: Options) -> str:
    """8 hex digits over everything that changes a run; how often it is saved does not."""
    return sha256(repr(replace(options, checkpoint=0)).encode("utf-8")).hexdigest()[:8]


def _member(shared: Path, seed: int, options: Options, out: Path) -> None:
    """Train one member and write its table; runs in a process of its own."""
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(message)s")
    set_threads(1)
    table, parts, material = _load(shared)
    state, parent = out.with_suffix(".pt"), parent_process()

    def report(step: int, contrast: float, distance: float) -> None:
        if parent is not None and not parent.is_alive():  # killed: nobody waits for this table
            raise SystemExit(1)
        log.info("seed %d, step %d: loss %.3f, teacher %.3f", seed, step, contrast, distance)

    trained = train(table, parts, material, options, seed, resume=state, report=report)
    with atomic_file(out) as file:
        np.save(file, trained, allow_pickle=False)
    state.unlink(missing_ok=True)


def _save(path: Path, table: Floats, parts: Ragged, material: Material) -> None:
    kind = {source: i for i, sources in enumerate(material.kinds) for source in sources}
    shares = [(source, part, kind[source]) for source, part in material.share.items()]
    with atomic_file(path) as file:
        np.savez(
            file,
            table=table,
            parts=parts.values,
            parts_offsets=parts.offsets,
            tokens=material.tokens.values,
            tokens_offsets=material.tokens.offsets,
            groups=material.groups.values,
            groups_offsets=material.groups.offsets,
            chance=material.chance,
            favour=material.favour,
            source=material.source,
            shares=np.array(shares),
            goal=material.goal,
            teacher=material.teacher,
        )


def _load(path: Path) -> tuple[Floats, Ragged, Material]:
    with np.load(path, allow_pickle=False) as stored:
        found = dict(stored)
    shares = [(int(source), float(part), int(kind)) for source, part, kind in found["shares"]]
    n_kinds = 1 + max(kind for _, _, kind in shares)
    material = Material(
        tokens=Ragged(found["tokens"], found["tokens_offsets"]),
        groups=Ragged(found["groups"], found["groups_offsets"]),
        chance=found["chance"],
        favour=found["favour"],
        source=found["source"],
        share={source: part for source, part, _ in shares},
        kinds=tuple(tuple(s for s, _, kind in shares if kind == i) for i in range(n_kinds)),
        goal=found["goal"],
        teacher=found["teacher"],
    )
    return found["table"], Ragged(found["parts"], found["parts_offsets"]), material
