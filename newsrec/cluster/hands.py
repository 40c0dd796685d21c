"""Work in pieces, on all cores: each thread multiplies by itself.

A product that the BLAS library cuts up for its own threads ends when the last of them has ended, so
one busy core holds up all others; and what numpy does with the product runs on one core. So each
thread takes whole pieces, and the library's own threads are off meanwhile.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import contextmanager
from typing import Any

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import ThreadpoolController

#: More threads than this gain little: memory is the limit.
_MOST = 16


class Hands:
    """``n`` threads that take pieces of work; numpy lets them run side by side."""

    def __init__(self, n: int) -> None:
        self.n = n
        self._pool = ThreadPoolExecutor(n)

    def each(self, do: Callable[..., object], pieces: Iterable[tuple[Any, ...]]) -> None:
        """Call ``do`` with every piece, in no order; a piece alone is done where we are."""
        todo = list(pieces)
        if self.n == 1 or len(todo) < 2:
            for piece in todo:
                do(*piece)
            return
        waiting = iter(todo)

        def work() -> None:
            # Taking the next of a list's iterator is one step for the interpreter.
            for piece in waiting:
                do(*piece)

        done = [self._pool.submit(work) for _ in range(min(self.n, len(todo)))]
        wait(done)
        for one in done:
            one.result()

    def slices(self, do: Callable[[slice], object], n: int, step: int) -> None:
        """Call ``do`` with slices that cover ``range(n)``, of at most ``step``."""
        self.each(do, ((slice(start, start + step),) for start in range(0, n, step)))

    def close(self) -> None:
        """End the threads."""
        self._pool.shutdown()


@contextmanager
def hands() -> Iterator[Hands]:
    """Threads for as long as a clustering takes, one for each core that we may use."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    both = Hands(min(cores or 1, _MOST))
    try:
        with ThreadpoolController().limit(limits=1, user_api="blas"):
            yield both
    finally:
        both.close()


def dots(
    a: NDArray[np.float32], x: NDArray[np.int64], y: NDArray[np.int64], both: Hands
) -> NDArray[np.float32]:
    """Products of the rows ``x (c,)`` and ``y (c,)`` of ``a (m, dim)``, ``(c,) float32``."""
    out = np.empty(len(x), np.float32)
    step = max(1, (1 << 18) // a.shape[1])

    def some(piece: slice) -> None:
        np.einsum("ij,ij->i", a[x[piece]], a[y[piece]], out=out[piece])

    both.slices(some, len(x), step)
    return out
