"""A process beside this one, asleep, that marks its runs as failed when it is killed."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Mapping
from contextlib import suppress

from newsrec.processes import identity, is_gone

_WELL = b"ended well"
# Between the end of a process's files, which wakes the watch, and that of the process itself.
_DYING_S = 60.0
# How long a server that was away is given to come back.
_AWAY_S = 120.0


class Watch:
    """From now until `end`: should this process be killed, its runs at ``uri`` are marked as failed
    seconds later. A killed watch marks nothing; the next `Runs.connect` does."""

    def __init__(self, uri: str) -> None:
        # A session of its own: what interrupts or hangs up on this process must not end the watch.
        # The address goes through the pipe, for it may hold a password, which a list of processes
        # would show.
        self._process = subprocess.Popen(
            [sys.executable, "-P", "-m", "newsrec.track.watch", identity()],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        assert self._process.stdin is not None  # PIPE
        self._process.stdin.write(uri.encode("utf-8") + b"\n")
        self._process.stdin.flush()

    def end(self, left: Mapping[str, str]) -> None:
        """Nothing is left to be marked but runs that MLflow could not be told the status of: in
        ``left``, by run; for these it is tried again for a while, which is not waited for."""
        if not left:
            self._process.communicate(_WELL)
            return
        assert self._process.stdin is not None  # PIPE
        with suppress(OSError):
            self._process.stdin.write(json.dumps(dict(left)).encode("utf-8"))
            self._process.stdin.close()


def main() -> None:
    """Wait until the pipe's other end is closed, however it came to that."""
    who = sys.argv[1]
    uri = sys.stdin.buffer.readline().decode("utf-8").rstrip("\n")
    told = sys.stdin.buffer.read()
    if told == _WELL:
        return
    if told:
        _tell(uri, json.loads(told))
        return
    until = time.monotonic() + _DYING_S
    while not is_gone(who) and time.monotonic() < until:
        time.sleep(0.1)

    from newsrec.track.runs import Runs

    Runs(uri, warn=lambda _: None).mark_lost()


def _tell(uri: str, left: dict[str, str]) -> None:
    from newsrec.track.runs import client_of

    until = time.monotonic() + _AWAY_S
    while left and time.monotonic() < until:
        try:
            client = client_of(uri)
            for run in list(left):
                client.set_terminated(run, left[run])
                del left[run]
        except Exception:  # whatever MLflow raises: the server may be back in a moment
            time.sleep(1)


if __name__ == "__main__":
    main()
