"""What a run of the `mini` recipe leaves behind to go on from, and how long its stages took."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from newsrec.files import atomic_file


def digest(*parts: object) -> str:
    """12 hex digits over the parts; lists of strings count by their content."""
    found = sha256()
    for part in parts:
        text = "\0".join(part) if isinstance(part, list) else repr(part)
        found.update(text.encode("utf-8", "surrogatepass"))
    return found.hexdigest()[:12]


class Work:
    """Results of stages under one folder, each made once; files are never half-written."""

    def __init__(self, folder: Path, key: str) -> None:
        self.folder, self.key = folder, key
        folder.mkdir(parents=True, exist_ok=True)

    def path(self, name: str, ending: str) -> Path:
        """Where the result ``name`` lies."""
        return self.folder / f"{name}-{self.key}.{ending}"

    def arrays(
        self, name: str, make: Callable[[], dict[str, NDArray[Any]]]
    ) -> dict[str, NDArray[Any]]:
        """Named arrays, from ``make`` the first time."""
        path = self.path(name, "npz")
        if not path.exists():
            with self.timed(name):
                made = make()
            with atomic_file(path) as file:
                np.savez(file, **made)  # type: ignore[arg-type]
        with np.load(path, allow_pickle=False) as stored:
            return dict(stored)

    def rows(
        self, name: str, make: Callable[[], list[tuple[str, float]]]
    ) -> list[tuple[str, float]]:
        """Strings with numbers, from ``make`` the first time."""
        path = self.path(name, "json")
        if not path.exists():
            with self.timed(name):
                made = make()
            with atomic_file(path) as file:
                file.write(json.dumps(made, ensure_ascii=False).encode("utf-8"))
        return [(text, number) for text, number in json.loads(path.read_text("utf-8"))]

    @contextmanager
    def timed(self, stage: str) -> Iterator[None]:
        """Add what the block takes to the stage's minutes, over all starts of the run."""
        began, busy = time.monotonic(), sum(os.times()[:4])
        yield
        spent = self.minutes()
        wall, processor = spent.get(stage, (0.0, 0.0))
        spent[stage] = (
            wall + (time.monotonic() - began) / 60,
            processor + (sum(os.times()[:4]) - busy) / 60,
        )
        with atomic_file(self.path("minutes", "json")) as file:
            file.write(json.dumps(spent, indent=1).encode("utf-8"))

    def minutes(self) -> dict[str, tuple[float, float]]:
        """Stage -> minutes by the clock, minutes of processor time, finished children's with it."""
        path = self.path("minutes", "json")
        found = json.loads(path.read_text("utf-8")) if path.exists() else {}
        return {stage: (float(wall), float(busy)) for stage, (wall, busy) in found.items()}
