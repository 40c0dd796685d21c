"""Who wrote something, and whether that process is still there."""

from __future__ import annotations

import os
import socket
from pathlib import Path


def identity(pid: int | None = None) -> str:
    """``host:pid:start`` of a process, this one by default; pids are given again, starts are not.

    ``host`` ends with the number of the pid namespace: containers may share a name. ``start`` is in
    ticks since the machine's own start. Both are empty where the system does not tell.
    """
    pid = os.getpid() if pid is None else pid
    return f"{_host()}:{pid}:{_start(pid)}"


def is_gone(told: str) -> bool:
    """Whether the process of an `identity` has ended; False for other machines and odd text."""
    host, _, rest = told.rpartition(":")[0].rpartition(":")
    if host != _host() or not rest.isdigit():
        return False
    try:
        os.kill(int(rest), 0)
    except ProcessLookupError:
        return True
    except OSError:  # there, but not ours
        pass
    return identity(int(rest)) != told


def _host() -> str:
    try:
        space = str(os.stat("/proc/self/ns/pid").st_ino)
    except OSError:
        space = ""
    return f"{socket.gethostname()}/{space}"


def _start(pid: int) -> str:
    try:
        text = Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return ""
    fields = text.rpartition(")")[2].split()  # from field 3 on; the name before may hold anything
    # One that has ended is listed until its parent asks how.
    return "" if fields[0] == "Z" else fields[19]
