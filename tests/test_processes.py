"""Who is still there."""

from __future__ import annotations

import subprocess
import sys
import time

import pytest

from newsrec.processes import identity, is_gone


def test_this_process_is_there() -> None:
    assert not is_gone(identity())


def test_a_process_that_has_ended_is_gone() -> None:
    process = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    told = identity(process.pid)
    assert not is_gone(told)
    process.communicate(b"\n")
    assert is_gone(told)


def test_a_process_that_nobody_has_asked_how_it_ended_is_gone() -> None:
    if not identity().rpartition(":")[2]:
        pytest.skip("this system does not tell when a process began")
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as process:
        told = identity(process.pid)
        assert process.stdin is not None
        process.stdin.close()
        until = time.monotonic() + 60
        while not is_gone(told) and time.monotonic() < until:
            time.sleep(0.05)
        assert is_gone(told)
        assert process.returncode is None


def test_a_process_of_another_container_is_left_alone() -> None:
    """Of the same name, but with pids of its own."""
    name, pid, start = identity().rsplit(":", 2)
    host, _, space = name.partition("/")
    assert not is_gone(f"{host}/{space}1:{pid}:{start}0")
    assert is_gone(f"{name}:{pid}:{start}0") == bool(start)


def test_a_number_that_was_given_again_is_another_process() -> None:
    host, pid, start = identity().rsplit(":", 2)
    if not start:
        pytest.skip("this system does not tell when a process began")
    assert is_gone(f"{host}:{pid}:{int(start) - 1}")


@pytest.mark.parametrize("told", ["", "x", "elsewhere:1:1", "a:b:c"])
def test_other_machines_and_odd_text_are_left_alone(told: str) -> None:
    assert not is_gone(told)
