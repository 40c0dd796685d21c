"""The store under ``kill -9`` at any moment, and under two processes at once."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from newsrec.encode import EmbeddingStore
from newsrec.errors import StaleCacheError
from tests.encode.made import HashEncoder, encoded_in, shelf

REPOSITORY = Path(__file__).resolve().parents[2]
BATCH = 16

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="kill and fork are POSIX")


def start(root: Path, log: Path, n: int, sleep_s: float) -> subprocess.Popen[bytes]:
    arguments = [str(root), str(log), str(n), str(BATCH), str(sleep_s)]
    command = [sys.executable, "-m", "tests.encode.made", *arguments]
    process = subprocess.Popen(command, cwd=REPOSITORY, stderr=subprocess.PIPE)
    begun = log.with_suffix(f".{process.pid}")
    while not begun.exists():
        assert process.poll() is None, process.stderr and process.stderr.read()
        time.sleep(0.005)
    return process


def check(root: Path, n: int) -> None:
    """Everything is there, as if nothing had happened, and nothing is left behind."""
    encoder, texts = HashEncoder(), shelf(n)
    store = EmbeddingStore(root)
    found = store.fill(encoder, texts, "title", "corpus")
    assert (found.encoded, encoder.seen) == (0, [])
    assert store.open(found.embeddings.spec, verify=True) is not None
    rows = np.stack([encoder.vector(text) for text in texts.view("title")])
    assert np.array_equal(found.embeddings.vectors[texts.rows], rows)
    assert not found.embeddings.vectors[~texts.present].any()


def test_killed_at_random_moments_it_loses_at_most_one_batch_each_time(tmp_path: Path) -> None:
    root, log, n, moments = tmp_path / "store", tmp_path / "log", 400, random.Random(0)
    distinct = len(set(shelf(n).view("title")))
    killed = 0
    for _ in range(8):
        process = start(root, log, n, sleep_s=0.05)
        time.sleep(moments.uniform(0, 0.35))
        process.kill()
        process.wait()
        killed += process.returncode == -signal.SIGKILL
    assert killed >= 4
    process = start(root, log, n, sleep_s=0)
    assert process.wait() == 0, process.stderr and process.stderr.read()
    check(root, n)
    assert distinct <= encoded_in(log) <= distinct + killed * BATCH


def dies_at(call: int, work: Callable[[], None]) -> bool:
    """Run ``work`` in a forked process that is killed at its ``call``-th file operation that can
    be seen from outside; returns whether it got that far."""
    child = os.fork()
    if child == 0:
        seen = 0

        def deadly(real: Callable[..., object]) -> Callable[..., object]:
            def operation(*args: object, **kwargs: object) -> object:
                nonlocal seen
                seen += 1
                if seen == call:
                    os.kill(os.getpid(), signal.SIGKILL)
                return real(*args, **kwargs)

            return operation

        for name in ("replace", "fsync", "unlink", "rmdir", "mkdir", "chmod"):
            setattr(os, name, deadly(getattr(os, name)))
        try:
            work()
            os._exit(0)
        except BaseException:
            os._exit(1)
    _, status = os.waitpid(child, 0)
    assert os.WIFSIGNALED(status) or os.WEXITSTATUS(status) == 0
    return os.WIFSIGNALED(status)


@pytest.mark.parametrize("force", [False, True], ids=["first run", "replacing a matrix"])
def test_killed_before_any_file_operation_it_goes_on_from_there(
    tmp_path: Path, force: bool
) -> None:
    n, call = 40, 0
    texts = shelf(n)
    distinct = len(set(texts.view("title")))
    died = True
    while died:
        call += 1
        root, log = tmp_path / f"store{call}", tmp_path / f"log{call}"

        def fill(again: bool = force, root: Path = root, log: Path = log) -> None:
            store = EmbeddingStore(root, batch_size=BATCH)
            store.fill(HashEncoder(log=log), texts, "title", "corpus", force=again)

        if force:
            fill(again=False)
        died = dies_at(call, fill)
        fill(again=False)
        rounds = 2 if force else 1
        # A run that replaces a matrix may die before its first text or after its last one.
        assert encoded_in(log) <= rounds * distinct + BATCH * died
        assert encoded_in(log) >= distinct
        check(root, n)
        left = [path for path in root.rglob("*") if path.name.startswith(".")]
        assert not left or force
    assert call > 15  # it has died in many places


def test_two_processes_at_once_encode_every_text_once(tmp_path: Path) -> None:
    root, log, n = tmp_path / "store", tmp_path / "log", 200
    both = [start(root, log, n, sleep_s=0.03) for _ in range(2)]
    for process in both:
        assert process.wait() == 0, process.stderr and process.stderr.read()
    check(root, n)
    assert encoded_in(log) == len(set(shelf(n).view("title")))


def test_a_process_that_waits_goes_on_when_the_other_is_killed(tmp_path: Path) -> None:
    root, log, n = tmp_path / "store", tmp_path / "log", 200
    first = start(root, log, n, sleep_s=30)
    while encoded_in(log) == 0:
        time.sleep(0.005)
    second = start(root, log, n, sleep_s=0)
    time.sleep(0.2)
    assert second.poll() is None  # it waits for the lock
    first.kill()
    first.wait()
    assert second.wait() == 0, second.stderr and second.stderr.read()
    check(root, n)
    assert encoded_in(log) == len(set(shelf(n).view("title"))) + BATCH


def test_a_damaged_part_of_a_broken_run_is_told(tmp_path: Path) -> None:
    texts, encoder = shelf(), HashEncoder()
    store = EmbeddingStore(tmp_path, batch_size=BATCH)

    def stop(done: int, total: int) -> None:
        if done:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        store.get(encoder, texts, "title", "corpus", on_progress=stop)
    (part,) = tmp_path.rglob("*.parts/*.npy")
    content = bytearray(part.read_bytes())
    content[-1] ^= 1
    part.write_bytes(content)
    with pytest.raises(StaleCacheError, match=r"damaged.*by force"):
        store.get(encoder, texts, "title", "corpus")
    store.fill(encoder, texts, "title", "corpus", force=True)
    check(tmp_path, 50)
