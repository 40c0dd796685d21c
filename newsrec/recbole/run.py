"""A RecBole model trained beside newsrec, and its scores of the impressions that newsrec measures.

The scores are kept under ``data/recbole/CORPUS-FINGERPRINT/MODEL-KEY-SEED/`` as ``scores.npy`` and
``scores.json`` and read by the ranker ``scores``, which no later shelf or metric trains anew.
"""

from __future__ import annotations

import hashlib
import json
import shutil
import subprocess
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from newsrec.corpus import Corpus
from newsrec.corpus.splits import NEWSRECLIB_HISTORY
from newsrec.errors import ConfigError, DataError
from newsrec.files import atomic_folder, data_root, write_json
from newsrec.plain import digest
from newsrec.rank.stored import describe
from newsrec.recbole import worker
from newsrec.recbole.atomic import tokens
from newsrec.recbole.environment import versions
from newsrec.recbole.events import Events, training_events
from newsrec.recbole.export import write_events

#: Epochs unless told otherwise: RecBole's own 300 expect that it may stop early.
EPOCHS = 10


@dataclass(frozen=True, slots=True)
class Training:
    """What decides the scores, beside corpus and seed: model and its ``options``, ``epochs``, the
    splits ``train`` to learn from (with ``measured_readers`` also what the readers of the measured
    split had read before it), the ``split`` to score, and whose rules for histories hold
    (``protocol``: newsreclib's readers have their oldest 50 clicks)."""

    model: str
    options: Mapping[str, Any]
    epochs: int = EPOCHS
    train: tuple[str, ...] = ("train",)
    split: str = "test"
    protocol: str = "newsrec"
    measured_readers: bool = False

    def __post_init__(self) -> None:
        if self.epochs < 1:
            raise ConfigError(f"--epochs: {self.epochs}, expected at least 1")


@dataclass(frozen=True, slots=True)
class Trained:
    """``pattern``: the scores' path with ``{seed}`` in it, as the ranker ``scores`` takes it;
    ``told``: what ``scores.json`` says; ``reused``: nothing was trained."""

    pattern: str
    told: Mapping[str, Any]
    reused: bool

    def line(self) -> str:
        """What was trained, and how many scores are fallbacks."""
        counts, losses = self.told["counts"], self.told["losses"]
        done = "reused" if self.reused else f"trained in {self.told['train_s']:.1f} s"
        last = f", loss {losses[-1]:.4g}" if losses else ""
        return (
            f"{self.told['model']}, seed {self.told['seed']}: {done} on "
            f"{counts['trained_clicks']:,} clicks of {counts['trained_readers']:,} readers and "
            f"{counts['trained_articles']:,} articles{last}; not trained on: readers of "
            f"{counts['impressions_of_unknown_readers']:,} of {counts['impressions']:,} impressions"
            f" (get popularity), {counts['candidates_not_trained_on']:,} of "
            f"{counts['candidates']:,} candidates (get the reader's mean)"
        )


def as_rankers(
    corpus: Corpus,
    jobs: Sequence[Training],
    seeds: Sequence[int],
    python: Path,
    *,
    force: bool = False,
    say: Callable[[str], object] = lambda line: None,
) -> list[dict[str, Any]]:
    """Every job trained with every seed, as rankers of a config; ``say`` hears a line of each."""
    of, found = versions(python), []
    for job in jobs:
        for seed in seeds:
            done = trained(corpus, job, seed, python, of, force=force)
            say(done.line())
        options = {"file": done.pattern}
        found.append({"name": "scores", "options": options, "called": job.model})
    return found


def trained(
    corpus: Corpus,
    wanted: Training,
    seed: int,
    python: Path,
    of: Mapping[str, str],
    *,
    force: bool = False,
) -> Trained:
    """Train and score, or find what was trained before (``force``: not); ``of``: the `versions`
    of ``python``.

    Raises `DataError` with the path of the log when the training fails; scores that were there
    before stay.
    """
    place = data_root() / "recbole" / f"{corpus.name}-{corpus.fingerprint}"
    name = f"{wanted.model}-{_key(wanted, of)}"
    folder, pattern = place / f"{name}-{seed}", str(place / f"{name}-{{seed}}" / "scores.npy")
    aligned = describe(corpus.impressions(wanted.split))
    told = None if force else _told(folder, aligned)
    if told is not None:
        return Trained(pattern, told, True)
    found = training_events(
        corpus, wanted.train, wanted.split, measured_readers=wanted.measured_readers
    )
    log = place / f"{name}-{seed}.log"
    with atomic_folder(folder) as made:
        work = made / "work"
        write_job(work, corpus, wanted, seed, found)
        _run(python, work, log, f"RecBole {wanted.model}, seed {seed}")
        scores = _scores(work / "scores.npy", aligned["candidates"], log)
        result = json.loads((work / "result.json").read_text("utf-8"))
        shutil.rmtree(work)
        np.save(made / "scores.npy", scores, allow_pickle=False)
        decided = {**asdict(wanted), "train": list(wanted.train), "seed": seed}
        told = {**aligned, **decided, "corpus": corpus.fingerprint, "versions": dict(of), **result}
        write_json(made / "scores.json", told)
    return Trained(pattern, told, False)


def _key(wanted: Training, of: Mapping[str, str]) -> str:
    """12 hex digits over everything that changes scores, but for corpus and seed."""
    return digest([asdict(wanted), dict(of), _digest()])[:12]


def _digest() -> str:
    """Of the worker: scores of an older one are not reused."""
    return hashlib.sha256(Path(worker.__file__).read_bytes()).hexdigest()


def _told(folder: Path, aligned: Mapping[str, Any]) -> dict[str, Any] | None:
    """What the scores in ``folder`` say of themselves; None when there are none of these
    impressions."""
    try:
        told = json.loads((folder / "scores.json").read_text("utf-8"))
        scores = np.load(folder / "scores.npy", mmap_mode="r", allow_pickle=False)
    except (OSError, ValueError, EOFError):
        return None
    fits = isinstance(told, dict) and all(told.get(key) == aligned[key] for key in aligned)
    return told if fits and scores.shape == (aligned["candidates"],) else None


def write_job(
    work: Path, corpus: Corpus, wanted: Training, seed: int, found: Events
) -> None:  # fmt: skip
    """The worker's folder: what to train, the clicks as an atomic file, what to score."""
    (work / "clicks").mkdir(parents=True)
    users, items = tokens(corpus.users.tolist()), tokens(corpus.news.ids.tolist())
    write_events(work / "clicks" / "clicks.inter", found, users, items)
    impressions = corpus.impressions(wanted.split)
    history = impressions.history
    if wanted.protocol == "newsreclib":
        history = history.head(NEWSRECLIB_HISTORY)
    np.savez(
        work / "arrays.npz",
        item_tokens=np.array(items),
        user_tokens=np.array(users),
        clicked=found.item,
        user=impressions.user,
        history=history.values,
        history_offsets=history.offsets,
        history_of=impressions.history_of,
        candidates=impressions.candidates.values,
        candidates_offsets=impressions.candidates.offsets,
    )
    job = {"model": wanted.model, "epochs": wanted.epochs, "seed": seed,
           "options": dict(wanted.options)}  # fmt: skip
    write_json(work / "job.json", job)


def _run(python: Path, work: Path, log: Path, what: str) -> None:
    """Run the worker; its words go to ``log``."""
    # -I: neither newsrec's folder nor PYTHONPATH reaches the other environment.
    command = [str(python), "-I", worker.__file__, "job.json"]
    with log.open("wb") as file:
        try:
            done = subprocess.run(command, cwd=work, stdin=subprocess.DEVNULL, stdout=file,
                                  stderr=subprocess.STDOUT, check=False)  # fmt: skip
        except OSError as error:
            raise ConfigError(f"--python: {python} cannot be started ({error})") from None
    if done.returncode < 0:
        raise DataError(f"{what}: ended by signal {-done.returncode}; log: {log}")
    if done.returncode:
        raise DataError(f"{what}: {_last_line(log)}; log: {log}")


def _last_line(log: Path) -> str:
    lines = log.read_text("utf-8", "replace").strip().splitlines()
    return lines[-1].strip() if lines else "no word said"


def _scores(path: Path, n: int, log: Path) -> NDArray[np.float32]:
    scores = np.load(path, allow_pickle=False)
    if scores.shape != (n,) or scores.dtype != np.float32:
        raise DataError(f"RecBole's scores: {scores.dtype} {scores.shape}, expected ({n},) float32")
    strange = int(np.count_nonzero(~np.isfinite(scores)))
    if strange:
        raise DataError(
            f"{strange:,} of {n:,} scores are not finite: the training diverged; try a smaller "
            f"learning rate: --set learning_rate=0.0001; log: {log}"
        )
    return np.asarray(scores, np.float32)
