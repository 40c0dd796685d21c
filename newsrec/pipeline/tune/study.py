"""The search itself, kept in a SQLite file; the only optuna import.

Values are proposed by TPE (Bergstra et al. 2011), trials whose validation loss is worse than the
median of the others' at the same epoch are stopped. What trial ``n`` tries follows from the seed,
``n`` and the trials before it alone, so that a search that was killed goes on as if it had not
been.
"""

from __future__ import annotations

import json
import shutil
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from time import monotonic
from typing import Any, Protocol

import numpy as np

from newsrec.config.space import Choice
from newsrec.errors import MissingExtra, NewsrecError, StaleCacheError, one_line
from newsrec.pipeline.tune.params import Param
from newsrec.pipeline.tune.trials import DONE, FAILED, PRUNED, RUNNING, Search, Trial
from newsrec.plain import differences
from newsrec.rank.fit_options import Diverged, EpochReport

OnEpoch = Callable[[EpochReport], None]

#: Trials that must have come so far before one is stopped against them, and epochs it may have.
_OTHERS, _GRACE = 5, 2
#: Trials that must be done before it is said what mattered.
_ENOUGH = 8
_NAME = "newsrec"


class Objective(Protocol):
    """Trains with ``settings`` in ``folder`` (going on with what is there) and measures; None
    stands for the lowest validation loss."""

    def __call__(
        self, number: int, settings: Mapping[str, Any], folder: Path, on_epoch: OnEpoch
    ) -> float | None: ...


class Pruned(Exception):
    """Others were further after as many epochs."""


class Stopped(Exception):
    """The time is over; the trial goes on when the search does."""


class _Behind(Exception):
    """The trial's checkpoint knows of epochs that the study does not."""


@dataclass(frozen=True, slots=True, eq=False)
class Study:
    """Trials of one search in ``folder``: ``study.db``, and ``trials/007`` for trained rankers, of
    which only the best one's stays."""

    folder: Path
    params: tuple[Param, ...]
    metric: str
    maximise: bool
    seed: int
    optuna: Any
    study: Any

    @classmethod
    def open(
        cls, folder: Path, params: Sequence[Param], metric: str, *, maximise: bool, seed: int,
        told: Mapping[str, Any],
    ) -> Study:  # fmt: skip
        """The search in ``folder``, begun if it is not there.

        ``told``: what search this is, plain values; `StaleCacheError` says what differs when the
        folder holds another one, or when its file is damaged. `MissingExtra` without optuna.
        """
        optuna = optuna_here()
        path = folder / "study.db"
        folder.mkdir(parents=True, exist_ok=True)
        try:
            study = optuna.create_study(
                storage=f"sqlite:///{path.resolve().as_posix()}",
                study_name=_NAME,
                direction="maximize" if maximise else "minimize",
                load_if_exists=True,
            )
            found = study.user_attrs.get("search")
            plain = json.loads(json.dumps(told, default=str))
            if found is None:
                study.set_user_attr("search", plain)
        except Exception as error:  # SQLAlchemy, SQLite and alembic raise whatever they like
            raise StaleCacheError(
                f"{path}: not a search of newsrec tune ({one_line(error)}); remove it to begin "
                "anew, or name another --out"
            ) from error
        _same_search(path, plain if found is None else found, plain)
        return cls(folder, tuple(params), metric, maximise, seed, optuna, study)

    def run(
        self,
        objective: Objective,
        *,
        trials: int,
        prune: bool = True,
        first: Mapping[str, Any] | None = None,
        timeout_s: float | None = None,
        on_trial: Callable[[Trial, int], None] | None = None,
    ) -> None:
        """Try until there are ``trials`` in all, or ``timeout_s`` is over (after the epoch that is
        then trained; the trial goes on next time).

        ``first``: values of trial 0, as far as they are given. ``on_trial`` is told each trial and
        how many there are. A trial that fails is noted and costs the others nothing; the error is
        raised when none before it has worked.
        """
        deadline = None if timeout_s is None else monotonic() + timeout_s
        if first and not self.study.get_trials(deepcopy=False):
            self.study.enqueue_trial({p.name: _stored(first[p.name]) for p in self.params
                                      if p.name in first})  # fmt: skip
        while self._n_ended() < trials and (deadline is None or monotonic() < deadline):
            trial = self._next()
            try:
                self._try(trial, objective, prune, deadline)
            except Stopped:
                return
            self._tidy()
            if on_trial is not None:
                on_trial(self._told(self.study.trials[trial.number]), self._n_ended())

    def search(self, notes: Sequence[str] = ()) -> Search:
        """All trials so far."""
        trials = tuple(
            self._told(found)
            for found in self.study.get_trials(deepcopy=False)
            if found.state.name != "WAITING"
        )
        return Search(self.metric, self.maximise, trials, self._importance(trials), tuple(notes))

    def place(self, number: int) -> Path:
        """Where a trial trains."""
        return self.folder / "trials" / f"{number:03d}"

    def _next(self) -> Any:
        """The trial that a killed process left, or a new one, with its values."""
        running = [t for t in self.study.get_trials(deepcopy=False) if t.state.name == "RUNNING"]
        self.study.pruner = self.optuna.pruners.MedianPruner(_OTHERS, _GRACE)
        trial = (
            self.optuna.trial.Trial(self.study, running[0]._trial_id) if running
            else self.study.ask()
        )  # fmt: skip
        for i, param in enumerate(self.params):
            # Each value is drawn by itself: a kill may have come between two of them.
            seed = np.random.SeedSequence([self.seed, trial.number, i]).generate_state(1)[0]
            self.study.sampler = self.optuna.samplers.TPESampler(seed=int(seed))
            trial._suggest(param.name, self._distribution(param))
        return trial

    def _try(self, trial: Any, objective: Objective, prune: bool, deadline: float | None) -> None:
        """Train, measure, tell."""
        state = self.optuna.trial.TrialState
        place = self.place(trial.number)
        try:
            value = self._trained(trial, objective, prune, deadline)
        except _Behind:
            shutil.rmtree(place)
            self._try(trial, objective, prune, deadline)
        except Pruned:
            self.study.tell(trial, state=state.PRUNED)
        except Diverged as error:
            trial.set_user_attr("note", one_line(error))
            self.study.tell(trial, state=state.PRUNED)
        except NewsrecError as error:
            if not any(t.state in (DONE, PRUNED) for t in self.search().trials):
                raise
            trial.set_user_attr("note", one_line(error))
            self.study.tell(trial, state=state.FAIL)
        else:
            self.study.tell(trial, value)

    def _trained(
        self, trial: Any, objective: Objective, prune: bool, deadline: float | None
    ) -> float:
        frozen = self.study.trials[trial.number]
        reported = dict(frozen.intermediate_values)
        place = self.place(trial.number)
        seconds = frozen.user_attrs.get("seconds", 0.0) if place.exists() else 0.0
        epoch = max(reported, default=0) if place.exists() else 0
        if prune and reported and trial.should_prune():
            raise Pruned

        def told(report: EpochReport) -> None:
            nonlocal seconds, epoch
            if report.epoch > epoch + 1:
                raise _Behind
            epoch, seconds = report.epoch, seconds + report.seconds
            trial.set_user_attr("seconds", seconds)
            if report.valid_loss is not None and report.epoch not in reported:
                sign = -1 if self.maximise else 1
                trial.report(sign * report.valid_loss, report.epoch)
                if prune and trial.should_prune():
                    raise Pruned
            if deadline is not None and monotonic() >= deadline:
                raise Stopped

        settings = self._told(self.study.trials[trial.number]).settings
        value = objective(trial.number, settings, place, told)
        return min(self._told(self.study.trials[trial.number]).losses) if value is None else value

    def _n_ended(self) -> int:
        states = [t.state for t in self.study.get_trials(deepcopy=False)]
        return sum(state.is_finished() for state in states)

    def _tidy(self) -> None:
        """Remove what trials have trained, but the best one's."""
        best = self.search().best
        kept = None if best is None else self.place(best.number)
        for place in (self.folder / "trials").glob("*"):
            if place != kept:
                shutil.rmtree(place)

    def _distribution(self, param: Param) -> Any:
        kinds, over = self.optuna.distributions, param.over
        if isinstance(over, Choice):
            return kinds.CategoricalDistribution([_stored(value) for value in over.values])
        with warnings.catch_warnings():  # a last step that does not reach the end is left out
            warnings.simplefilter("ignore")
            if param.whole:
                return kinds.IntDistribution(over.low, over.high, over.log, over.step or 1)
            return kinds.FloatDistribution(over.low, over.high, over.log, over.step)

    def _told(self, found: Any) -> Trial:
        states = {"COMPLETE": DONE, "PRUNED": PRUNED, "FAIL": FAILED}
        state = states.get(found.state.name, RUNNING)
        sign = -1 if self.maximise else 1
        return Trial(
            number=found.number,
            state=state,
            value=float(found.value) if state == DONE else float("nan"),
            settings={p.name: _read(p, found.params[p.name]) for p in self.params
                      if p.name in found.params},
            losses=tuple(sign * loss for _, loss in sorted(found.intermediate_values.items())),
            seconds=float(found.user_attrs.get("seconds", 0.0)),
            note=str(found.user_attrs.get("note", "")),
        )  # fmt: skip

    def _importance(self, trials: Sequence[Trial]) -> dict[str, float]:
        values = {trial.value for trial in trials if trial.state == DONE}
        if sum(trial.state == DONE for trial in trials) < _ENOUGH or len(values) < 2:
            return {}
        importance = self.optuna.importance
        with warnings.catch_warnings():  # optuna 4 calls this evaluator experimental
            warnings.simplefilter("ignore")
            judge = importance.PedAnovaImportanceEvaluator()
            found = importance.get_param_importances(self.study, evaluator=judge)
        return {name: float(share) for name, share in found.items()}


def optuna_here() -> Any:
    """The library; `MissingExtra` without it."""
    try:
        import optuna
    except ImportError:
        raise MissingExtra("a search needs optuna: pip install 'newsrec[tune]'") from None
    optuna.logging.disable_default_handler()
    return optuna


def _same_search(path: Path, found: Mapping[str, Any], told: Mapping[str, Any]) -> None:
    said = differences(found, told)
    if said:
        raise StaleCacheError(
            f"{path}: another search ({said}); go on with that one, or name another --out"
        )


def _stored(value: Any) -> Any:
    """As optuna keeps it: a scalar as it is, a tuple as JSON."""
    return json.dumps(value) if isinstance(value, tuple) else value


def _read(param: Param, stored: Any) -> Any:
    """The value that `_stored` kept; steps of a fraction without the last bits of its sums."""
    if isinstance(param.over, Choice):
        return next(v for v in param.over.values
                    if _stored(v) == stored and type(_stored(v)) is type(stored))  # fmt: skip
    return float(f"{stored:.12g}") if param.over.step and not param.whole else stored
