"""Two processes that train together learn what one learns."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import torch
from safetensors.torch import load_file

from newsrec.rank import FitOptions, Inputs, fit, make_head
from tests.synthetic import known_answer

OPTIONS = FitOptions(batch=16, epochs=2, learning_rate=3e-3, seed=5)

_PEER = """
import sys
from pathlib import Path
from torch import distributed
from tests.rank.test_peers import trained
folder, rank = Path(sys.argv[1]), int(sys.argv[2])
distributed.init_process_group(
    "gloo", init_method=(folder / "meeting").as_uri(), rank=rank, world_size=2
)
trained(folder / "run")
distributed.destroy_process_group()
"""


def trained(folder: Path | None = None) -> dict[str, torch.Tensor]:
    known = known_answer(np.random.default_rng(0), n_impressions=60)
    head = make_head("naml", Inputs.of(known.features), seed=2, dropout=0.0)
    ranker = fit(head, known.impressions, known.impressions, known.features, OPTIONS,
                 folder=folder)  # fmt: skip
    return ranker.head.state_dict()


@pytest.mark.slow
def test_two_processes_learn_what_one_learns(tmp_path: Path) -> None:
    peers = [
        subprocess.Popen(
            [sys.executable, "-c", _PEER, str(tmp_path), str(rank)],
            env={**os.environ, "OMP_NUM_THREADS": "1"},
        )
        for rank in (0, 1)
    ]
    try:
        assert [peer.wait(300) for peer in peers] == [0, 0]
    finally:
        for peer in peers:
            peer.kill()
    found = load_file(tmp_path / "run" / "best" / "weights.safetensors")
    for name, weights in trained().items():
        torch.testing.assert_close(found[name], weights, rtol=1e-3, atol=1e-4)
