"""Processes that train together, as `torchrun` starts them; alone when there is no group."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import torch
from torch import Tensor, distributed, nn

from newsrec.rank.inputs import Ints


@dataclass(frozen=True, slots=True)
class Peers:
    """This process is ``rank`` of ``world``. Every step's rows are dealt out, and gradients and
    losses added up, so that what is learnt is that of one process up to rounding."""

    rank: int = 0
    world: int = 1

    @classmethod
    def here(cls) -> Peers:
        """The group that is there; who makes it (``init_process_group``) is the caller."""
        if not (distributed.is_available() and distributed.is_initialized()):
            return cls()
        return cls(distributed.get_rank(), distributed.get_world_size())

    @classmethod
    @contextmanager
    def joined(cls) -> Iterator[Peers]:
        """Joins the group that ``torchrun`` tells of in the environment, and leaves it at the end;
        alone without one."""
        if int(os.environ.get("WORLD_SIZE", "1")) == 1:
            yield cls()
            return
        distributed.init_process_group("nccl" if torch.cuda.is_available() else "gloo")
        try:
            yield cls.here()
        finally:
            distributed.destroy_process_group()

    def own(self, rows: Ints) -> Ints:
        """This process's share of ``rows``."""
        return rows[self.rank :: self.world]

    def add_gradients(self, parameters: Iterable[nn.Parameter]) -> None:
        """Gradients become the sums over all processes."""
        if self.world == 1:
            return
        for parameter in parameters:
            if parameter.grad is None:
                parameter.grad = torch.zeros_like(parameter)
            distributed.all_reduce(parameter.grad)

    def total(self, value: Tensor) -> float:
        """``value ()`` summed over all processes."""
        if self.world > 1:
            distributed.all_reduce(value)
        return float(value)

    def wait(self) -> None:
        """Until every process is here."""
        if self.world > 1:
            distributed.barrier()
