"""Training of a static encoder: a table of piece vectors, a text is the sum of its pieces."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from newsrec.adapt.batches import Floats, Material, Options, bags, draw
from newsrec.adapt.multipositive import nested_loss
from newsrec.files import atomic_file
from newsrec.types import Ragged


class SparseAdam:
    """Adam (Kingma and Ba 2015) that works on touched rows only.

    The correction for the start counts the visits of each row, so that a rare piece moves as far
    per visit as a common one.
    """

    def __init__(self, shape: tuple[int, int], betas: tuple[float, float] = (0.9, 0.98)) -> None:
        self.first, self.second = torch.zeros(shape), torch.zeros(shape)
        self.visits = torch.zeros(shape[0])
        self.betas = betas

    def step(self, table: Tensor, rows: Tensor, gradient: Tensor, rate: Tensor) -> None:
        """Move ``table[rows]`` in place; ``gradient (k, dim)``, ``rate (k,)``."""
        fast, slow = self.betas
        visits = self.visits[rows] + 1
        first = self.first[rows].lerp_(gradient, 1 - fast)
        second = self.second[rows].lerp_(gradient.square(), 1 - slow)
        self.visits[rows], self.first[rows], self.second[rows] = visits, first, second
        root = second.div_((1 - slow**visits)[:, None]).sqrt_().add_(1e-10)
        table.index_add_(0, rows, first.mul_((-rate / (1 - fast**visits))[:, None]).div_(root))


def add_up(ids: NDArray[np.int64], offsets: NDArray[np.int64], rows: Tensor) -> Tensor:
    """Sum of ``rows[ids]`` over each list that starts at ``offsets``, ``(n, dim)``."""
    return torch.nn.functional.embedding_bag(
        torch.from_numpy(ids), rows, torch.from_numpy(offsets), mode="sum"
    )


def loss_of(
    vectors: Tensor, group: NDArray[np.int64], material: Material, options: Options, step: int
) -> tuple[Tensor, Tensor]:
    """Multi-positive loss and distance to the teacher of one batch, ``vectors (n, dim)``.

    The loss is taken over the full width and, in turn, one of the shorter levels: a third cheaper
    than all levels in every step.
    """
    *short, full = options.levels
    levels = (short[step % len(short)], full) if short else (full,)
    _, label = np.unique(group, return_inverse=True)
    contrast = nested_loss(
        vectors, torch.from_numpy(label), levels,
        temperature=options.temperature, half=options.half,
    )  # fmt: skip
    goal = material.goal[group]
    known = np.flatnonzero(goal >= 0)
    if not options.distil or not len(known):
        return contrast, contrast.new_zeros(())
    aim = torch.from_numpy(material.teacher[goal[known]])
    mine = vectors[torch.from_numpy(known)]
    cosines = [
        torch.nn.functional.cosine_similarity(mine[:, :d], aim[:, :d]).mean()
        for d in options.levels
    ]
    return contrast, 1 - torch.stack(cosines).mean()


def set_threads(n: int) -> None:
    """Fix what floating-point sums depend on."""
    torch.set_num_threads(n)


def rate_at(step: int, options: Options) -> float:
    """Linear warm-up, then linear decay to 2 % of the peak."""
    rise = min(1.0, (step + 1) / options.warm_up)
    return options.rate * rise * max(0.02, 1 - step / options.steps)


def train(
    table: Floats,
    parts: Ragged,
    material: Material,
    options: Options,
    seed: int,
    *,
    resume: Path | None = None,
    report: Callable[[int, float, float], None] = lambda step, contrast, distance: None,
) -> Floats:
    """Train a copy of ``table (n_pieces, dim)``; the mean of the last part of the run comes back.

    The vector of piece i is the sum of the rows ``parts[i]``: its own, and rows that it shares
    with pieces of like spelling (`shared_parts`); the sums are what comes back.

    Step i draws from ``default_rng((seed, i))``, so a run resumed from the checkpoint ``resume``
    equals one that was never stopped. ``report(step, loss, distance)`` is called every 100 steps.
    """
    n_shared = int(parts.values.max()) + 1 - len(table)
    rows = torch.cat([torch.from_numpy(table), torch.zeros(n_shared, table.shape[1])])
    optimiser = SparseAdam((len(rows), rows.shape[1]))
    mean, counted, first = torch.zeros_like(rows), 0, 0
    if resume is not None and resume.exists():
        saved = torch.load(resume, weights_only=True)
        rows, mean, counted, first = saved["rows"], saved["mean"], saved["counted"], saved["step"]
        optimiser.first, optimiser.second = saved["first"], saved["second"]
        optimiser.visits = saved["visits"]
    for step in range(first, options.steps):
        rng = np.random.default_rng((seed, step))
        texts, group = draw(material, options, rng)
        bag = bags(material, texts, options, rng)
        full = bag.lengths > 0
        bag, group = bag.take(np.flatnonzero(full)), group[full]
        used, ids = np.unique(bag.values, return_inverse=True)
        made = parts.take(used)
        shares, part_ids = np.unique(made.values, return_inverse=True)
        touched = torch.from_numpy(shares.astype(np.int64))
        local = rows[touched].requires_grad_()
        pieces = add_up(part_ids, made.offsets[:-1], local)
        vectors = add_up(ids, bag.offsets[:-1], pieces)
        contrast, distance = loss_of(vectors, group, material, options, step)
        (gradient,) = torch.autograd.grad(contrast + options.distil * distance, local)
        rate = torch.where(touched < len(table), 1.0, options.shared_rate)
        optimiser.step(rows, touched, gradient, rate * rate_at(step, options))
        if step >= options.average_from * options.steps and step % 20 == 0:
            mean += rows
            counted += 1
        if step % 100 == 0:
            report(step, float(contrast.detach()), float(distance.detach()))
        if resume is not None and (step + 1) % options.checkpoint == 0:
            state = {"rows": rows, "mean": mean, "counted": counted, "step": step + 1,
                     "first": optimiser.first, "second": optimiser.second,
                     "visits": optimiser.visits}  # fmt: skip
            with atomic_file(resume) as file:
                torch.save(state, file)
    final = mean / counted if counted else rows
    return np.asarray(add_up(parts.values.astype(np.int64), parts.offsets[:-1], final).numpy())


def shorten(table: Floats, limit: float) -> Floats:
    """Rows of length l made l / (1 + l / limit) long: order stays, none is longer than ``limit``.

    The loss stretches what tells two texts apart, names and numbers above all, until one of them
    decides where a text lies.
    """
    length = np.linalg.norm(table, axis=1, keepdims=True)
    return np.asarray(table / (1 + length / limit), np.float32)


def shared_parts(pieces: Sequence[str]) -> Ragged:
    """Which rows add up to each piece: its own number, then numbers above for shared spellings.

    Inflected forms share their first 4 and 6 letters, a word the form inside a longer word,
    Han words their characters. It costs nothing later: the sums are the table.
    """
    spellings = []
    for piece in pieces:
        word = piece.lstrip("▁")
        found = [f"{word}|"]
        if any("\u4e00" <= char <= "\u9fff" for char in word):
            found += [f"han {char}" for char in word] if len(word) > 1 else [f"han {word}"]
        else:
            found += [f"{len(piece) > len(word)} {word[:n]}" for n in (4, 6) if len(word) >= n]
        spellings.append(found)
    counts = Counter(one for found in spellings for one in set(found))
    numbers: dict[str, int] = {}
    rows = []
    for i, found in enumerate(spellings):
        shared = [one for one in found if counts[one] > 1]
        rows.append([i, *(numbers.setdefault(one, len(pieces) + len(numbers)) for one in shared)])
    return Ragged.from_lists(rows)


def start(
    tokens: Ragged, groups: Ragged, goal: NDArray[np.int32], teacher: Floats, n_pieces: int
) -> Floats:
    """Piece vectors: the mean of the centred teacher vectors of the groups that hold the piece."""
    from scipy.sparse import csr_matrix

    known = np.flatnonzero(goal >= 0)
    part = groups.take(known)
    bag = tokens.take(part.values)
    column = goal[known][part.owner()[bag.owner()]]
    ones = np.ones(len(column), np.float32)
    counts = csr_matrix((ones, (bag.values, column)), shape=(n_pieces, len(teacher)))
    times = np.asarray(counts.sum(1)).ravel()
    mean = teacher[goal[known]].mean(0, keepdims=True)
    sums = np.asarray(counts @ (teacher - mean), np.float32)
    return np.asarray(sums / (times[:, None] + 0.5), np.float32)
