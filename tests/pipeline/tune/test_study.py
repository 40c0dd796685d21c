"""A search: the same for the same seed, killed or not, and refused where it is another one."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from newsrec.errors import ConfigError, StaleCacheError
from newsrec.pipeline.tune.params import Param
from newsrec.pipeline.tune.study import Study
from newsrec.rank import EpochReport
from newsrec.rank.fit_options import Diverged
from tests.pipeline.tune.searched import Trains, plain, planned, searched, study

_RUN = """
import os, signal, sys
from pathlib import Path
from tests.pipeline.tune.searched import Trains, planned, study
def kill(number, report):
    if (number, report.epoch) == (2, int(sys.argv[2])):
        os.kill(os.getpid(), signal.SIGKILL)
wanted = planned()
study(Path(sys.argv[1]), wanted).run(Trains(wanted, kill), trials=5)
"""


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[tuple[object, ...]]]:
    """Five trials without any interruption."""
    folder = tmp_path_factory.mktemp("whole")
    return folder, plain(searched(folder))


def test_a_seed_gives_the_same_trials_and_another_seed_others(
    whole: tuple[Path, list[tuple[object, ...]]], tmp_path: Path
) -> None:
    assert plain(searched(tmp_path / "again")) == whole[1]
    other = study(tmp_path / "other", planned(), seed=8)
    other.run(Trains(planned()), trials=2)
    assert [row[3] for row in plain(other.search())] != [row[3] for row in whole[1][:2]]


@pytest.mark.parametrize("epoch", [1, 3])
def test_a_killed_search_goes_on_and_ends_the_same(
    whole: tuple[Path, list[tuple[object, ...]]], tmp_path: Path, epoch: int
) -> None:
    done = subprocess.run([sys.executable, "-c", _RUN, tmp_path, str(epoch)], check=False)
    assert done.returncode == -signal.SIGKILL
    cut = study(tmp_path, planned()).search()
    assert [trial.state for trial in cut.trials][2:] == ["unfinished"]
    assert plain(searched(tmp_path)) == whole[1]


@pytest.mark.parametrize("n_drawn", [0, 1, 2])
def test_a_search_killed_between_two_values_of_a_trial_ends_the_same(
    whole: tuple[Path, list[tuple[object, ...]]], tmp_path: Path, n_drawn: int
) -> None:
    class Killed(BaseException):
        pass

    searched(tmp_path, 2)
    cut = study(tmp_path, planned())
    names = [param.name for param in cut.params]
    with pytest.MonkeyPatch.context() as patch:
        known = Study._distribution

        def until(self: Study, param: Param) -> object:
            if names.index(param.name) >= n_drawn:
                raise Killed
            return known(self, param)

        patch.setattr(Study, "_distribution", until)
        with pytest.raises(Killed):
            cut.run(Trains(planned()), trials=5)
    assert [len(trial.settings) for trial in cut.search().trials] == [3, 3, n_drawn]
    assert plain(searched(tmp_path)) == whole[1]


def test_trials_are_counted_over_all_runs(tmp_path: Path) -> None:
    assert len(searched(tmp_path, 2).trials) == 2
    trains = Trains(planned())
    found = study(tmp_path, trains.plan)
    found.run(trains, trials=3)
    assert {number for number, _ in trains.calls} == {2}
    found.run(trains, trials=3)
    assert len(found.search().trials) == 3


def test_only_the_best_trials_ranker_stays(
    whole: tuple[Path, list[tuple[object, ...]]],
) -> None:
    folder, rows = whole
    best = max((row for row in rows if row[1] == "done"), key=lambda row: (row[2], -int(row[0])))  # type: ignore[call-overload]
    assert [path.name for path in (folder / "trials").iterdir()] == [f"{best[0]:03d}"]
    assert (folder / "trials" / f"{best[0]:03d}" / "best" / "weights.safetensors").is_file()


def test_the_first_trial_has_the_values_given(tmp_path: Path) -> None:
    wanted = planned()
    assert wanted.defaults() == {"learning_rate": 1e-3, "dropout": 0.2}
    found = study(tmp_path, wanted)
    found.run(Trains(wanted), trials=1, first=wanted.defaults())
    settings = found.search().trials[0].settings
    assert (settings["learning_rate"], settings["dropout"]) == (1e-3, 0.2)


def test_a_trial_worse_than_the_others_is_stopped(tmp_path: Path) -> None:
    """Losses of six trials are told; the sixth has the highest from its second epoch on."""
    wanted = planned()
    seen: list[tuple[int, int]] = []

    def objective(number: int, settings: object, folder: Path, on_epoch: object) -> float:
        folder.mkdir(parents=True)
        for epoch in range(1, 5):
            seen.append((number, epoch))
            loss = 9.0 if number == 5 else 1 / epoch + number / 100
            on_epoch(EpochReport(epoch, loss, loss, 0.1, 1.0, True))  # type: ignore[operator]
        return number / 10

    found = study(tmp_path / "a", wanted)
    found.run(objective, trials=6)
    assert [t.state for t in found.search().trials] == ["done"] * 5 + ["pruned"]
    assert [epoch for number, epoch in seen if number == 5] == [1, 2]
    assert found.search().best == found.search().trials[4]
    kept = study(tmp_path / "b", wanted)
    kept.run(objective, trials=6, prune=False)
    assert [t.state for t in kept.search().trials] == ["done"] * 6


def test_a_loss_that_is_no_number_ends_its_trial_only(tmp_path: Path) -> None:
    found = searched(tmp_path, 2, "learning_rate=[1e-3, 1e30], clip=[null], epochs=1, query=[4,5]")
    assert len(found.trials) == 2
    wanted = planned("learning_rate=[1e-3, 1e30], epochs=1")

    def diverges(number: int, settings: object, folder: Path, on_epoch: object) -> float:
        raise Diverged("training diverged: loss nan at epoch 1, step 1")

    here = study(tmp_path / "all", wanted)
    here.run(diverges, trials=2)
    assert [(t.state, t.note[:17]) for t in here.search().trials] == [
        ("pruned", "training diverged")
    ] * 2
    assert here.search().best is None


def test_an_error_is_raised_at_first_and_noted_later(tmp_path: Path) -> None:
    wanted = planned()

    def fails_after(n: int) -> object:
        def objective(number: int, settings: object, folder: Path, on_epoch: object) -> float:
            if number >= n:
                raise ConfigError("this head cannot have that")
            return 0.5

        return objective

    with pytest.raises(ConfigError, match="cannot have that"):
        study(tmp_path / "a", wanted).run(fails_after(0), trials=3)  # type: ignore[arg-type]
    found = study(tmp_path / "b", wanted)
    found.run(fails_after(1), trials=3)  # type: ignore[arg-type]
    assert [t.state for t in found.search().trials] == ["done", "failed", "failed"]
    assert found.search().trials[1].note == "this head cannot have that"


def test_time_that_is_over_leaves_the_trial_for_the_next_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = [0.0]
    monkeypatch.setattr("newsrec.pipeline.tune.study.monotonic", lambda: clock[0])

    def late(number: int, report: EpochReport) -> None:
        clock[0] += 20

    wanted = planned()
    trains = Trains(wanted, late)
    found = study(tmp_path, wanted)
    found.run(trains, trials=3, timeout_s=0)
    assert not found.search().trials
    found.run(trains, trials=3, timeout_s=10)
    assert [t.state for t in found.search().trials] == ["unfinished"]
    assert trains.calls == [(0, 1)]
    found.run(trains, trials=1)
    assert trains.calls == [(0, epoch) for epoch in range(1, 5)]
    assert [t.state for t in found.search().trials] == ["done"]
    assert len(found.search().trials[0].losses) == 4


def test_another_search_is_refused_with_what_differs(tmp_path: Path) -> None:
    wanted = planned()
    study(tmp_path, wanted, corpus="one", head="naml")
    study(tmp_path, wanted, corpus="one", head="naml")
    with pytest.raises(StaleCacheError, match=r"another search \(corpus: 'one', now 'two'\)"):
        study(tmp_path, wanted, corpus="two", head="naml")


def test_a_file_that_is_no_study_is_refused_and_left_alone(tmp_path: Path) -> None:
    (tmp_path / "study.db").write_bytes(b"not a database" * 100)
    with pytest.raises(StaleCacheError, match=r"study.db: not a search of newsrec tune"):
        study(tmp_path, planned())
    assert (tmp_path / "study.db").read_bytes() == b"not a database" * 100


def test_importance_is_told_when_trials_suffice(tmp_path: Path) -> None:
    wanted = planned("learning_rate=1e-5..1e-1 log, dropout=0..0.5")

    def objective(number: int, settings: dict[str, float], folder: Path, on_epoch: object) -> float:
        return -abs(np.log10(settings["learning_rate"]) + 3)

    found: Study = study(tmp_path, wanted)
    found.run(objective, trials=7)  # type: ignore[arg-type]
    assert found.search().importance == {}
    found.run(objective, trials=30)  # type: ignore[arg-type]
    shares = found.search().importance
    assert abs(sum(shares.values()) - 1) < 1e-9
    assert shares["learning_rate"] > 0.8
    best = found.search().best
    assert best is not None
    assert abs(np.log10(best.settings["learning_rate"]) + 3) < 0.2
    assert found.search().best_so_far()[-1] == best.value


def test_steps_and_lists_come_back_as_they_were_written(tmp_path: Path) -> None:
    wanted = planned("temperature=0.1..0.5 step 0.02, query=10..50 step 20, clip=[null, 1, 2.5]")
    seen: list[dict[str, object]] = []

    def objective(number: int, settings: dict[str, object], folder: Path, told: object) -> float:
        seen.append(dict(settings))
        return 0.0

    found = study(tmp_path, wanted)
    found.run(objective, trials=12)  # type: ignore[arg-type]
    assert {s["query"] for s in seen} <= {10, 30, 50}
    assert {s["temperature"] for s in seen} <= {round(0.1 + 0.02 * i, 2) for i in range(21)}
    assert {s["clip"] for s in seen} <= {None, 1, 2.5}
    assert [dict(t.settings) for t in found.search().trials] == seen
