"""Benchmarks: ours and a reference in the same run, as a ratio, with peak memory.

`python -m tests.bench` (or `scripts/bench`) prints one table. No test asserts a time.
"""

from __future__ import annotations

import json
import resource
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any


@dataclass(frozen=True)
class Row:
    """One line of the table; ``measured`` and ``reference`` carry their units."""

    name: str
    measured: str
    target: str
    reference: str = ""
    ratio: float | None = None
    peak_mb: float | None = None


_CHILD = """
import importlib, json, sys, time
from tests.bench import peak_mb
module, function = sys.argv[1].split(":")
call = getattr(importlib.import_module(module), function)
arguments = json.loads(sys.argv[2])
start = time.perf_counter()
result = call(**arguments)
seconds = time.perf_counter() - start
print("\\n" + json.dumps({"result": result, "seconds": seconds, "peak_mb": peak_mb()}))
"""


def measure(function_path: str, **arguments: Any) -> tuple[Any, float, float]:
    """Run ``module:function`` in a fresh process: (its JSON-able result, seconds, peak MB)."""
    done = subprocess.run(
        [sys.executable, "-c", _CHILD, function_path, json.dumps(arguments)],
        check=False,
        capture_output=True,
        text=True,
    )
    if done.returncode != 0:
        raise RuntimeError(f"{function_path} failed:\n{done.stderr[-2000:]}")
    said = json.loads(done.stdout.strip().splitlines()[-1])
    return said["result"], float(said["seconds"]), float(said["peak_mb"])


def peak_mb() -> float:
    """Peak resident memory of this process. On Linux ``ru_maxrss`` begins at that of the process
    that started it, so the kernel's own count for this program is read."""
    status = Path("/proc/self/status")
    if status.exists():
        line = next(line for line in status.read_text().splitlines() if line.startswith("VmHWM"))
        return int(line.split()[1]) / 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (1024 * 1024)  # macOS: bytes


def best_of(times: int, call: Any) -> float:
    """Seconds of the fastest of ``times`` calls."""
    best = float("inf")
    for _ in range(times):
        start = time.perf_counter()
        call()
        best = min(best, time.perf_counter() - start)
    return best
