"""A training process that is really killed, and the one that goes on."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import torch

from newsrec.rank import EpochReport, FitOptions, Inputs, NeuralRanker, fit, make_head
from tests.synthetic import known_answer

OPTIONS = FitOptions(batch=16, epochs=4, learning_rate=3e-3, seed=5)

_RUN = """
import os, signal, sys
from pathlib import Path
from tests.rank.test_fit_killed import run
def kill(report):
    if report.epoch == 2:
        os.kill(os.getpid(), signal.SIGKILL)
run(Path(sys.argv[1]), kill)
"""


def run(folder: Path | None, on_epoch: object = None) -> NeuralRanker:
    known = known_answer(np.random.default_rng(0), n_impressions=60)
    head = make_head("mins", Inputs.of(known.features), seed=2)
    return fit(head, known.impressions, known.impressions, known.features, OPTIONS,
               folder=folder, on_epoch=on_epoch)  # type: ignore[arg-type]  # fmt: skip


def test_a_killed_run_goes_on_and_ends_the_same(tmp_path: Path) -> None:
    done = subprocess.run([sys.executable, "-c", _RUN, str(tmp_path)], check=False)
    assert done.returncode == -signal.SIGKILL
    reports: list[EpochReport] = []
    resumed = run(tmp_path, reports.append)
    assert [report.epoch for report in reports] == [3, 4]
    straight = run(None).head.state_dict()
    for name, weights in resumed.head.state_dict().items():
        assert torch.equal(weights, straight[name])
