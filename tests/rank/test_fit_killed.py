"""A training process that is really killed, and the one that goes on."""

from __future__ import annotations

import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
import torch

from newsrec.rank import EpochReport, FitOptions, Inputs, NeuralRanker, fit, make_head
from tests.synthetic import known_answer

OPTIONS = FitOptions(batch=16, epochs=4, learning_rate=3e-3, seed=5)

_RUN = """
import os, signal, sys, torch
from pathlib import Path
from tests.rank.test_fit_killed import run
def kill(report):
    if report.epoch == 2:
        os.kill(os.getpid(), signal.SIGKILL)
torch.set_num_threads(int(sys.argv[2]))
run(Path(sys.argv[1]), kill)
"""


def run(folder: Path | None, on_epoch: object = None) -> NeuralRanker:
    known = known_answer(np.random.default_rng(0), n_impressions=60)
    head = make_head("mins", Inputs.of(known.features), seed=2)
    return fit(head, known.impressions, known.impressions, known.features, OPTIONS,
               folder=folder, on_epoch=on_epoch)  # type: ignore[arg-type]  # fmt: skip


@pytest.fixture(params=[1, 2], ids=["one thread", "two threads"])
def threads(request: pytest.FixtureRequest) -> Iterator[int]:
    before = torch.get_num_threads()
    yield request.param
    torch.set_num_threads(before)


def test_a_killed_run_goes_on_and_ends_the_same(tmp_path: Path, threads: int) -> None:
    done = subprocess.run([sys.executable, "-c", _RUN, tmp_path, str(threads)], check=False)
    assert done.returncode == -signal.SIGKILL
    reports: list[EpochReport] = []
    torch.set_num_threads(3)  # sums differ in their last bits: the run keeps its own number
    resumed = run(tmp_path, reports.append)
    assert [report.epoch for report in reports] == [3, 4]
    assert torch.get_num_threads() == 3
    torch.set_num_threads(threads)
    straight = run(None).head.state_dict()
    for name, weights in resumed.head.state_dict().items():
        assert torch.equal(weights, straight[name])
