"""A long job of several kinds of steps has one bar."""

from __future__ import annotations

import sys

import pytest

from newsrec.cli import progress as module
from newsrec.cli.progress import WAIT_S
from newsrec.cli.stages import Stages
from tests.cli.test_progress import Terminal


def test_the_wait_counts_from_the_beginning_of_the_job(monkeypatch: pytest.MonkeyPatch) -> None:
    stream, now = Terminal(True), [100.0]
    monkeypatch.setattr(sys, "stderr", stream)
    monkeypatch.setattr(module.time, "monotonic", lambda: now[0])
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "100")
    with Stages() as stages:
        encoding, measuring = stages.of("encoding"), stages.of("measuring")
        encoding(1, 4)
        assert stream.getvalue() == ""
        now[0] += 0.6 * WAIT_S
        measuring(0, 3)
        assert stream.getvalue() == ""
        now[0] += 0.6 * WAIT_S
        encoding(2, 4)
        measuring(1, 3)
    said = stream.getvalue()
    assert said.index("encoding") < said.index("measuring")
    assert said.count("\x1b[?25l") == said.count("\x1b[?25h") == 2
