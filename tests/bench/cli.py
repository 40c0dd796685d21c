"""How long the commands take as whole processes."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from tests.bench import Row

NEWSREC = Path(sys.executable).with_name("newsrec")


def rows(quick: bool) -> Iterator[Row]:
    """`--help` and `recommend` on prepared data, best of several, beside an empty interpreter."""
    times = 3 if quick else 15
    with tempfile.TemporaryDirectory() as folder:
        environment = {**os.environ, "NEWSREC_DATA": folder}
        bare = [sys.executable, "-c", "pass"]
        numpy = [sys.executable, "-c", "import numpy"]
        page = [str(NEWSREC), "recommend", "--user", "U123", "--lang", "fin"]
        first, _ = _best(1, page, environment)
        for name, command, target, beside, reference in (
            ("`newsrec --help`", [str(NEWSREC), "--help"], "< 0.3 s", bare, "python -c pass"),
            ("`newsrec recommend`, prepared", page, "< 0.8 s", numpy, "python -c 'import numpy'"),
        ):
            ours, peak = _best(times, command, environment)
            theirs, _ = _best(times, beside, environment)
            yield Row(
                name, f"{ours:.2f} s", target, f"{reference}: {theirs:.2f} s", ours / theirs, peak
            )
        yield Row("`newsrec recommend`, first run", f"{first:.2f} s", "")


def _best(times: int, command: list[str], environment: dict[str, str]) -> tuple[float, float]:
    """Wall seconds of the fastest run, and peak memory in MB."""
    best, peak = float("inf"), 0.0
    for _ in range(times):
        start = time.perf_counter()
        child = subprocess.Popen(
            command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        _, status, usage = os.wait4(child.pid, 0)
        best = min(best, time.perf_counter() - start)
        child.returncode = os.waitstatus_to_exitcode(status)
        if child.returncode:
            raise RuntimeError(f"{command} ended with {child.returncode}")
        peak = max(peak, usage.ru_maxrss / 1024)
    return best, peak
