"""A bar for people who wait, and for nobody else."""

from __future__ import annotations

import io
import sys

import pytest

from newsrec.cli import progress as module
from newsrec.cli.progress import WAIT_S, progress


class Terminal(io.StringIO):
    def __init__(self, real: bool) -> None:
        super().__init__()
        self._real = real

    def isatty(self) -> bool:
        return self._real


def shown(monkeypatch: pytest.MonkeyPatch, seconds: float, *, terminal: bool) -> str:
    """What stderr gets from a job of ``seconds`` in ten steps."""
    stream, now = Terminal(terminal), [100.0]
    monkeypatch.setattr(sys, "stderr", stream)
    monkeypatch.setattr(module.time, "monotonic", lambda: now[0])
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "100")
    with progress("encoding fin") as report:
        for step in range(10):
            report(step, 10)
            now[0] += seconds / 10
        report(10, 10)
    return stream.getvalue()


def test_a_long_job_shows_what_how_much_how_fast(monkeypatch: pytest.MonkeyPatch) -> None:
    said = shown(monkeypatch, 5 * WAIT_S, terminal=True)
    for part in ("encoding fin", "/10", "/s"):
        assert part in said


def test_a_short_job_shows_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    assert shown(monkeypatch, 0.9 * WAIT_S, terminal=True) == ""


def test_nothing_is_shown_where_nobody_looks(monkeypatch: pytest.MonkeyPatch) -> None:
    assert shown(monkeypatch, 50 * WAIT_S, terminal=False) == ""


def test_the_terminal_is_given_back_after_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    stream, now = Terminal(True), [0.0]
    monkeypatch.setattr(sys, "stderr", stream)
    monkeypatch.setattr(module.time, "monotonic", lambda: now[0])
    monkeypatch.setenv("TERM", "xterm")

    def fail() -> None:
        with progress("encoding") as report:
            now[0] += 2 * WAIT_S
            report(1, 3)
            raise KeyError

    with pytest.raises(KeyError):
        fail()
    assert "\x1b[?25h" in stream.getvalue()  # the cursor is shown again
