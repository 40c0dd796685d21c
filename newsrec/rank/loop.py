"""The one training loop: what a task asks of a module, until it stops getting better."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Protocol

import torch
from torch import Tensor, nn

from newsrec.errors import ConfigError, one_line
from newsrec.rank.checkpoints import Progress, copied, load_progress, restore, save_progress
from newsrec.rank.fit_options import Diverged, EpochReport, FitOptions
from newsrec.rank.inputs import Ints
from newsrec.rank.peers import Peers

OnEpoch = Callable[[EpochReport], None]


class Task(Protocol):
    """Rows to learn from. What a row is depends on the epoch and the row alone."""

    def batches(self, epoch: int) -> list[Ints]:
        """Row numbers of every step of ``epoch``, from 0."""
        ...

    def valid_batches(self) -> list[Ints]:
        """Row numbers of the validation rows, in blocks; the same in every epoch."""
        ...

    def loss(self, module: nn.Module, rows: Ints, epoch: int | None) -> Tensor:
        """Loss of each row, ``(len(rows),)``; ``epoch`` None: validation rows."""
        ...

    def told(self) -> Mapping[str, Any]:
        """What data this is, in a few values: a run goes on only with the same."""
        ...


def check_device(device: str) -> None:
    """`ConfigError` for a device that torch does not know, or that is not here."""
    try:
        torch.zeros(1, device=device)
    except (RuntimeError, AssertionError) as error:
        raise ConfigError(f"device {device!r} cannot be used: {one_line(error)}") from None


def run(
    module: nn.Module,
    task: Task,
    options: FitOptions,
    *,
    folder: Path | None = None,
    on_epoch: OnEpoch | None = None,
    on_best: Callable[[nn.Module], None] | None = None,
    told: Mapping[str, Any] | None = None,
) -> nn.Module:
    """Train ``module`` in place and give it back with the weights of its best epoch.

    ``folder``: where checkpoints are kept, and where a run that was cut short goes on, exactly;
    ``on_best`` sees the module after each epoch that is the best so far. `Diverged` when a loss
    is not a number: what was saved before stays as it is.
    """
    peers = Peers.here()
    parameters = [p for p in module.parameters() if p.requires_grad]
    optimiser = torch.optim.Adam(parameters, lr=options.learning_rate, fused=True)
    said = {"options": options.lasting, "world": peers.world, **task.told(), **(told or {})}
    progress = Progress()
    if folder is not None:
        progress = load_progress(folder, module, optimiser, said)

    def save() -> None:
        if folder is not None and peers.rank == 0:
            save_progress(folder, module, optimiser, progress, said)
        peers.wait()

    # Dropout draws from torch's own generators: each step seeds them, and they are put back.
    devices = [torch.device(options.device)] if options.device != "cpu" else []
    with torch.random.fork_rng(devices=devices), _threads(progress.threads):
        while not progress.done:
            started = time.perf_counter()
            first = progress.n_rows
            _epoch(module, task, options, optimiser, progress, peers, save)
            trained = time.perf_counter() - started
            report = _judge(module, task, options, progress, peers, trained, first, started)
            if report.best and on_best is not None and peers.rank == 0:
                on_best(module)
            save()
            if on_epoch is not None and peers.rank == 0:
                on_epoch(report)
    restore(module, progress.best)
    return module.eval()


def _epoch(
    module: nn.Module,
    task: Task,
    options: FitOptions,
    optimiser: torch.optim.Optimizer,
    progress: Progress,
    peers: Peers,
    save: Callable[[], None],
) -> None:
    """The steps of the current epoch that are still to do."""
    module.train()
    batches = task.batches(progress.epoch)
    for step in range(progress.step, len(batches)):
        number = progress.epoch * len(batches) + step
        torch.manual_seed((options.seed * 1_000_003 + number) * peers.world + peers.rank)
        for group in optimiser.param_groups:
            group["lr"] = options.rate(number, options.epochs * len(batches))
        loss = train_step(module, task, batches[step], options, optimiser, progress, peers)
        progress.step, progress.loss_sum = step + 1, progress.loss_sum + loss
        progress.n_rows += len(batches[step])
        last = step + 1 == len(batches)
        if options.checkpoint_steps and not last and (step + 1) % options.checkpoint_steps == 0:
            save()


def train_step(
    module: nn.Module,
    task: Task,
    rows: Ints,
    options: FitOptions,
    optimiser: torch.optim.Optimizer,
    progress: Progress,
    peers: Peers,
) -> float:
    """One step of the optimiser; the summed loss of its rows."""
    optimiser.zero_grad(set_to_none=True)
    own = peers.own(rows)
    total = torch.zeros((), dtype=torch.float64, device=options.device)
    for start in range(0, len(own), options.micro_batch):
        part = task.loss(module, own[start : start + options.micro_batch], progress.epoch).sum()
        (part / len(rows)).backward()  # type: ignore[no-untyped-call]
        total += part.detach().double()
    summed = peers.total(total)
    where = f"epoch {progress.epoch + 1}, step {progress.step + 1}"
    _check(summed, where, options)
    parameters = [p for p in module.parameters() if p.requires_grad]
    peers.add_gradients(parameters)
    if options.clip is not None:
        nn.utils.clip_grad_norm_(parameters, options.clip)
    optimiser.step()
    return summed


def _judge(
    module: nn.Module,
    task: Task,
    options: FitOptions,
    progress: Progress,
    peers: Peers,
    trained_s: float,
    first: int,
    started: float,
) -> EpochReport:
    """End the epoch: measure it, keep it if it is the best, decide whether it was the last."""
    epoch, train_loss = progress.epoch, progress.loss_sum / max(progress.n_rows, 1)
    valid_loss = _valid_loss(module, task, options, peers)
    measured = train_loss if valid_loss is None else valid_loss
    _check(measured, f"the end of epoch {epoch + 1}", options)
    for name, parameter in module.named_parameters():
        if parameter.requires_grad and not torch.isfinite(parameter).all():
            _check(float("nan"), f"the end of epoch {epoch + 1} ({name})", options)
    best = valid_loss is None or progress.best_loss is None or valid_loss < progress.best_loss
    if best:
        progress.best, progress.best_epoch, progress.best_loss = copied(module), epoch, measured
    n_trained = progress.n_rows - first
    progress.epoch, progress.step, progress.loss_sum, progress.n_rows = epoch + 1, 0, 0.0, 0
    waited = epoch - progress.best_epoch
    progress.done = epoch + 1 >= options.epochs or waited >= options.patience
    return EpochReport(
        epoch + 1, train_loss, valid_loss, time.perf_counter() - started,
        n_trained / max(trained_s, 1e-9), best,
    )  # fmt: skip


def _valid_loss(module: nn.Module, task: Task, options: FitOptions, peers: Peers) -> float | None:
    blocks = task.valid_batches()
    if not blocks:
        return None
    module.eval()
    total, n = torch.zeros((), dtype=torch.float64, device=options.device), 0
    with torch.inference_mode():
        for rows in blocks:
            n += len(rows)
            own = peers.own(rows)
            if len(own):
                total += task.loss(module, own, None).double().sum()
    return peers.total(total.clone()) / n


@contextmanager
def _threads(n: int) -> Iterator[None]:
    """torch computes with ``n`` threads inside."""
    before = torch.get_num_threads()
    torch.set_num_threads(n)
    try:
        yield
    finally:
        torch.set_num_threads(before)


def _check(loss: float, where: str, options: FitOptions) -> None:
    if not (loss == loss and abs(loss) != float("inf")):
        raise Diverged(
            f"training diverged: loss {loss} at {where}, with a learning rate of "
            f"{options.learning_rate:g}; lower it, or clip gradients. Nothing was saved of this "
            "epoch"
        )
