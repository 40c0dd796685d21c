"""One bar for a job of several kinds of steps: encoding texts, then measuring runs, and again."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import ExitStack

from newsrec.cli.progress import progress


class Stages:
    """Shows the stage that was told of last; two bars never share the terminal.

    The wait before a bar counts from the beginning of the whole job.
    """

    def __init__(self) -> None:
        self._started = time.monotonic()
        self._what = ""
        self._open = ExitStack()
        self._update: Callable[[int, int], None] | None = None

    def __enter__(self) -> Stages:
        return self

    def __exit__(self, *_: object) -> None:
        self._open.close()

    def of(self, what: str) -> Callable[[int, int], None]:
        """``on_progress(done, total)`` of one stage."""

        def told(done: int, total: int) -> None:
            if self._what != what or self._update is None:
                self._open.close()
                self._what = what
                self._update = self._open.enter_context(progress(what, self._started))
            self._update(done, total)

        return told
