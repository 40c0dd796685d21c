"""Batches, and runs that are averaged."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

from newsrec.adapt import members
from newsrec.adapt.batches import Material, Options, draw
from newsrec.adapt.static import set_threads, shared_parts, shorten, start, train
from newsrec.types import Ragged

N_PIECES, DIM = 40, 8
OPTIONS = Options(
    steps=12, n_groups=20, warm_up=2, levels=(4, 8), average_from=0.5, checkpoint=5, half=False
)


@pytest.fixture(autouse=True)
def _one_thread() -> Iterator[None]:
    """As in a worker: floating-point sums depend on it."""
    before = torch.get_num_threads()
    set_threads(1)
    yield
    torch.set_num_threads(before)


def material(favour: list[float] | None = None) -> Material:
    """Thirty groups of three texts from two sources."""
    rng = np.random.default_rng(0)
    tokens = Ragged.from_lists(rng.integers(1, N_PIECES, 6).tolist() for _ in range(90))
    weights = np.ones(30) if favour is None else np.array(favour)
    return Material(
        tokens=tokens,
        groups=Ragged.from_lengths(np.arange(90, dtype=np.int32), np.full(30, 3)),
        chance=np.ones(90, np.float32),
        favour=np.cumsum(weights),
        source=np.repeat(np.array([0, 3], np.int16), 15),
        share={0: 0.5, 3: 0.5},
        kinds=((0,), (3,)),
        goal=np.arange(30, dtype=np.int32),
        teacher=rng.standard_normal((30, DIM)).astype(np.float32),
    )


def first_table(made: Material) -> np.ndarray:
    return start(made.tokens, made.groups, made.goal, made.teacher, N_PIECES)


def test_groups_are_drawn_by_their_weight_and_from_their_source() -> None:
    made = material([1.0] * 14 + [0.0] + [1.0] * 14 + [0.0])
    seen = np.zeros(30, int)
    for step in range(300):
        texts, group = draw(made, OPTIONS, np.random.default_rng(step))
        assert (texts // 3 == group).all()
        assert (np.bincount(group)[np.unique(group)] >= 2).all()
        seen[np.unique(group)] += 1
    assert (seen[[14, 29]] == 0).all()
    assert seen[np.r_[0:14, 15:29]].min() > 100


def test_members_are_averaged_and_not_trained_again(tmp_path: Path) -> None:
    made, parts = material(), shared_parts([f"▁piece{i}" for i in range(N_PIECES)])
    table = first_table(made)
    runs = [(7, OPTIONS), (8, replace(OPTIONS, temperature=0.2))]
    found = members.train_members(table, parts, made, runs, tmp_path)
    alone = [train(table, parts, made, options, seed) for seed, options in runs]
    assert found == pytest.approx((alone[0] + alone[1]) / 2, abs=1e-6)
    assert not np.allclose(alone[0], alone[1])
    first, _ = sorted(tmp_path.iterdir())
    assert first.name.startswith("member-7-")
    np.save(first, np.zeros_like(table))
    saved_often = [(seed, replace(options, checkpoint=1)) for seed, options in runs]
    again = members.train_members(table, parts, made, saved_often, tmp_path)
    assert again == pytest.approx(alone[1] / 2, abs=1e-6)


def test_a_run_goes_on_from_its_checkpoint(tmp_path: Path) -> None:
    made, parts = material(), shared_parts([f"▁piece{i}" for i in range(N_PIECES)])
    table, state = first_table(made), tmp_path / "state.pt"
    reported: list[int] = []
    whole = train(table, parts, made, OPTIONS, 7, resume=state)
    again = train(
        table, parts, made, OPTIONS, 7, resume=state, report=lambda step, *_: reported.append(step)
    )
    assert reported == []  # step 0 is not taken again: the checkpoint is that of step 10 of 12
    assert again == pytest.approx(whole, abs=1e-6)


def test_long_rows_are_shortened_most_and_keep_their_direction_and_order() -> None:
    rng = np.random.default_rng(1)
    table = (rng.standard_normal((50, 8)) * rng.uniform(0, 9, (50, 1))).astype(np.float32)
    table[7] = 0
    short = shorten(table, 2.0)
    before, after = np.linalg.norm(table, axis=1), np.linalg.norm(short, axis=1)
    assert after == pytest.approx(before / (1 + before / 2), rel=1e-5)
    assert after.max() < 2
    assert (np.argsort(before, kind="stable") == np.argsort(after, kind="stable")).all()
    assert (short * before[:, None]) == pytest.approx(table * after[:, None], rel=1e-4, abs=1e-5)
