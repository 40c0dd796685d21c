"""Signals that wait until what is being sent is sent."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

#: What ends a run from outside; Windows has no SIGHUP.
_SIGNALS = [getattr(signal, n) for n in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, n)]


@contextmanager
def undisturbed() -> Iterator[None]:
    """The first signal waits until the block has ended, a second one does not.

    An exception out of a signal's handler can end inside a transaction, whose lock then stays, or
    where the interpreter can only ignore it.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    waiting: list[tuple[Callable[..., object], int]] = []

    def later(handler: Callable[..., object]) -> Callable[..., None]:
        def handle(number: int, frame: object) -> None:
            waiting.append((handler, number))
            if len(waiting) > 1:
                handler(number, frame)

        return handle

    handlers = {sent: signal.getsignal(sent) for sent in _SIGNALS}
    before = {sent: handler for sent, handler in handlers.items() if callable(handler)}
    for sent, handler in before.items():
        signal.signal(sent, later(handler))
    try:
        yield
    finally:
        for sent, handler in before.items():
            signal.signal(sent, handler)
        for handler, number in waiting[:1]:
            handler(number, None)
