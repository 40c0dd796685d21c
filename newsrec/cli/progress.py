"""A progress bar for jobs over two seconds, for people only."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

WAIT_S = 2.0


@contextmanager
def progress(what: str, started: float | None = None) -> Iterator[Callable[[int, int], None]]:
    """Gives ``on_progress(done, total)``: a bar with rate and time left on stderr.

    Nothing is shown before two seconds, when stderr is not a terminal, or after the end; rich is
    loaded when there is something to show. ``started``: `time.monotonic` of the job's beginning,
    now by default.
    """
    bar = _Bar(what, time.monotonic() if started is None else started)
    try:
        yield bar.update if on_terminal() else _silent
    finally:
        bar.close()


def on_terminal() -> bool:
    """Whether people read stderr, which may be closed."""
    return sys.stderr is not None and sys.stderr.isatty()


def _silent(done: int, total: int) -> None:
    pass


class _Bar:
    def __init__(self, what: str, started: float) -> None:
        self._what, self._started = what, started
        self._bar: Any = None
        self._task: Any = None

    def update(self, done: int, total: int) -> None:
        elapsed = time.monotonic() - self._started
        if self._bar is None and elapsed >= WAIT_S and done < total:
            self._open()
        if self._bar is not None:
            rate = f"{done / elapsed:,.0f}/s"
            self._bar.update(self._task, completed=done, total=total, rate=rate)

    def close(self) -> None:
        if self._bar is not None:
            self._bar.stop()

    def _open(self) -> None:
        from rich.console import Console
        from rich.progress import (
            BarColumn,
            MofNCompleteColumn,
            Progress,
            TextColumn,
            TimeRemainingColumn,
        )

        self._bar = Progress(
            TextColumn("{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            TextColumn("{task.fields[rate]}"),
            TimeRemainingColumn(),
            console=Console(stderr=True),
            transient=True,
        )
        self._bar.start()
        self._task = self._bar.add_task(self._what, total=None, rate="")
