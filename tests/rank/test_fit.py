"""The one loop: deterministic, resumed exactly, stopped early, refused clearly."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from newsrec.errors import ConfigError, DataError, StaleCacheError
from newsrec.rank import EpochReport, FitOptions, NeuralRanker, fit, load_ranker, make_head
from newsrec.rank.fit_options import Diverged
from newsrec.rank.inputs import Inputs
from tests.contracts.test_rankers import auc
from tests.rank.heads.trained import SMALL
from tests.synthetic import Known, known_answer

OPTIONS = FitOptions(batch=16, micro_batch=8, epochs=4, learning_rate=3e-3, seed=5)


@pytest.fixture
def known() -> Known:
    return known_answer(np.random.default_rng(0), n_impressions=60)


def fitted(known: Known, name: str = "mins", **more: Any) -> NeuralRanker:
    head = make_head(name, Inputs.of(known.features), seed=2, **{**SMALL[name], "dropout": 0.2})
    more = {"options": OPTIONS, "valid": known.impressions, **more}
    options = more.pop("options")
    return fit(head, known.impressions, more.pop("valid"), known.features, options, **more)


def same_weights(a: NeuralRanker, b: NeuralRanker) -> bool:
    mine, theirs = a.head.state_dict(), b.head.state_dict()
    return all(torch.equal(mine[name], theirs[name]) for name in mine)


class Killed(Exception):
    """Stands for a kill: nothing after it runs."""


@pytest.mark.parametrize("name", ["naml", "mins", "caum", "manner"])
def test_a_seed_gives_the_same_weights_and_another_seed_others(known: Known, name: str) -> None:
    short = replace(OPTIONS, epochs=2)
    once, twice = (fitted(known, name, options=short) for _ in range(2))
    assert same_weights(once, twice)
    assert not same_weights(once, fitted(known, name, options=replace(short, seed=6)))


def test_the_head_given_and_torchs_generator_stay_as_they_were(known: Known) -> None:
    head = make_head("naml", Inputs.of(known.features), seed=2)
    before, state = head.state_dict()["user.attention.query"].clone(), torch.get_rng_state()
    ranker = fit(head, known.impressions, None, known.features, OPTIONS)
    assert torch.equal(head.state_dict()["user.attention.query"], before)
    assert not torch.equal(ranker.head.state_dict()["user.attention.query"], before)
    assert torch.equal(torch.get_rng_state(), state)


@pytest.mark.parametrize("name", ["naml", "mins", "caum"])
@pytest.mark.parametrize("after", [1, 3])
def test_a_resumed_run_ends_as_an_uninterrupted_one(
    known: Known, tmp_path: Path, name: str, after: int
) -> None:
    def kill(report: EpochReport) -> None:
        if report.epoch == after:
            raise Killed

    whole: list[EpochReport] = []
    straight = fitted(known, name, on_epoch=whole.append)
    with pytest.raises(Killed):
        fitted(known, name, folder=tmp_path, on_epoch=kill)
    rest: list[EpochReport] = []
    resumed = fitted(known, name, folder=tmp_path, on_epoch=rest.append)
    assert same_weights(straight, resumed)
    assert [r.epoch for r in rest] == list(range(after + 1, 5))
    for mine, theirs in zip(whole[after:], rest, strict=True):
        assert (mine.train_loss, mine.valid_loss) == (theirs.train_loss, theirs.valid_loss)


def test_a_run_killed_inside_an_epoch_goes_on_there(
    known: Known, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from newsrec.rank import loop

    straight = fitted(known)
    often, steps, step = replace(OPTIONS, checkpoint_steps=2), [0], loop.train_step

    def counted(*arguments: Any) -> float:
        steps[0] += 1
        if steps[0] == 8:
            raise Killed
        return step(*arguments)

    monkeypatch.setattr(loop, "train_step", counted)
    with pytest.raises(Killed):
        fitted(known, folder=tmp_path, options=often)
    resumed = fitted(known, folder=tmp_path, options=often)
    assert same_weights(straight, resumed)
    per_epoch = len(range(0, steps_of(known), OPTIONS.batch))
    # 8 begun before the kill, and at most two steps were done twice.
    assert steps[0] - 4 * per_epoch in (1, 2)


def steps_of(known: Known) -> int:
    assert known.impressions.clicked is not None
    return int(known.impressions.clicked.sum())


def test_a_finished_run_is_not_trained_again(known: Known, tmp_path: Path) -> None:
    first = fitted(known, folder=tmp_path)
    reports: list[EpochReport] = []
    assert same_weights(first, fitted(known, folder=tmp_path, on_epoch=reports.append))
    assert not reports
    best = load_ranker(tmp_path / "best")
    assert isinstance(best, NeuralRanker)
    assert same_weights(first, best)


def test_another_run_does_not_go_on_from_a_checkpoint(known: Known, tmp_path: Path) -> None:
    fitted(known, folder=tmp_path)
    with pytest.raises(StaleCacheError, match=r"another run .*learning_rate"):
        fitted(known, folder=tmp_path, options=replace(OPTIONS, learning_rate=1e-4))
    with pytest.raises(StaleCacheError, match=r"another run .*head: 'mins', now 'naml'"):
        fitted(known, "naml", folder=tmp_path)
    (tmp_path / "last" / "state.safetensors").write_bytes(b"not tensors")
    with pytest.raises(StaleCacheError, match="not a checkpoint of this head"):
        fitted(known, folder=tmp_path)


def test_it_stops_when_the_validation_loss_has_not_fallen(known: Known) -> None:
    assert known.impressions.clicked is not None
    upside_down = replace(known.impressions, clicked=~known.impressions.clicked)
    reports: list[EpochReport] = []
    options = replace(OPTIONS, epochs=30, patience=2, learning_rate=1e-2)
    stopped = fitted(known, valid=upside_down, options=options, on_epoch=reports.append)
    losses = [report.valid_loss for report in reports]
    assert len(reports) < 30
    best = int(np.argmin(losses))
    assert len(losses) == best + 1 + 2
    until_best = replace(options, epochs=30)
    assert [r.best for r in reports][best]
    again = fitted(known, valid=upside_down, options=until_best)
    assert same_weights(stopped, again)


def test_training_lowers_both_losses_and_learns(known: Known) -> None:
    reports: list[EpochReport] = []
    options = replace(OPTIONS, epochs=6, learning_rate=1e-2)
    ranker = fitted(known, "naml", options=options, on_epoch=reports.append)
    assert reports[-1].train_loss < 0.7 * reports[0].train_loss
    assert reports[-1].valid_loss is not None
    scores = ranker.score(known.impressions, known.features)
    assert auc(known.impressions, scores).mean() > 0.95


def test_micro_batches_change_nothing_but_rounding(known: Known) -> None:
    def weights(micro: int) -> dict[str, torch.Tensor]:
        options = replace(OPTIONS, epochs=1, micro_batch=micro)
        head = make_head("naml", Inputs.of(known.features), seed=2, dropout=0.0)
        return fit(head, known.impressions, None, known.features, options).head.state_dict()

    for a, b in zip(weights(16).values(), weights(5).values(), strict=True):
        torch.testing.assert_close(a, b, rtol=1e-3, atol=1e-4)


def test_a_loss_that_is_no_number_ends_it_and_overwrites_nothing(
    known: Known, tmp_path: Path
) -> None:
    fitted(known, folder=tmp_path, options=replace(OPTIONS, epochs=4))
    before = {p: p.read_bytes() for p in tmp_path.rglob("*") if p.is_file()}
    wild = replace(OPTIONS, learning_rate=1e30, clip=None, warmup=0.0)
    with pytest.raises(StaleCacheError):
        fitted(known, folder=tmp_path, options=wild)
    with pytest.raises(Diverged, match=r"training diverged: loss .* learning rate of 1e\+30"):
        fitted(known, folder=tmp_path / "other", options=wild)
    assert before == {p: p.read_bytes() for p in tmp_path.rglob("*") if p.is_file()}


@pytest.mark.parametrize("name", ["lfrec", "lfrec-ce", "lfrec-scl"])
def test_late_fusion_has_nothing_to_train_with_a_frozen_encoder(known: Known, name: str) -> None:
    head = make_head(name, Inputs.of(known.features))
    with pytest.raises(ConfigError, match=rf"{name}.*no weights.*frozen.*last4"):
        fit(head, known.impressions, None, known.features)


def test_no_usable_impression_is_an_error(known: Known) -> None:
    cold = known_answer(np.random.default_rng(0), empty=1.0)
    head = make_head("naml", Inputs.of(cold.features))
    with pytest.raises(DataError, match="no usable impression"):
        fit(head, cold.impressions, None, cold.features)


def test_options_outside_their_range_are_told() -> None:
    with pytest.raises(ConfigError, match=r"unknown loss 'hinge'; known: ce, scl"):
        FitOptions(loss="hinge")
    for wrong in ({"batch": 0}, {"learning_rate": -1.0}, {"warmup": 2.0}, {"temperature": 0.0}):
        with pytest.raises(ConfigError, match=next(iter(wrong))):
            FitOptions(**wrong)  # type: ignore[arg-type]


def test_schedules_end_where_they_should() -> None:
    for schedule in ("linear", "cosine"):
        options = FitOptions(schedule=schedule, learning_rate=1.0, warmup=0.1)
        rates = [options.rate(step, 100) for step in range(100)]
        assert rates[0] == pytest.approx(0.1)
        assert max(rates) == rates[9] == rates[10] == 1.0
        assert all(a >= b for a, b in pairwise(rates[10:]))
        assert rates[-1] < 0.02
    paper = FitOptions.paper_004()
    assert {paper.rate(step, 10) for step in range(10)} == {1e-5}
    assert (paper.batch, paper.newest, paper.patience) == (8, False, 3)
