"""How a command ends when it is told to."""

from __future__ import annotations

import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager

#: What a system or a closed terminal sends; Windows has no SIGHUP.
_SIGNALS = [getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name)]


@contextmanager
def ended_by_signal() -> Iterator[None]:
    """SIGTERM and SIGHUP end the block like an interrupt, so that the run is marked and the report
    kept; one that was ignored from outside (nohup) stays ignored."""
    before = {sent: signal.getsignal(sent) for sent in _SIGNALS}
    for sent, handler in before.items():
        if handler is not signal.SIG_IGN:
            signal.signal(sent, lambda number, _: sys.exit(128 + number))
    try:
        yield
    finally:
        for sent, handler in before.items():
            signal.signal(sent, handler)
