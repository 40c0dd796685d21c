"""The options that a head trains best with: the story of a search, top to bottom."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from newsrec.config import TrainConfig
from newsrec.config.space import Space
from newsrec.errors import ConfigError
from newsrec.evaluate.render import with_interval
from newsrec.evaluate.results import Results
from newsrec.evaluate.run import expand
from newsrec.evaluate.tradeoff import less_is_better
from newsrec.files import held
from newsrec.pipeline.encoders import OnProgress
from newsrec.pipeline.lessons import NOTHING
from newsrec.pipeline.report_files import check_folder
from newsrec.pipeline.school import School
from newsrec.pipeline.tune.files import OURS, write_figure, write_search, write_space
from newsrec.pipeline.tune.objective import TrainAndMeasure
from newsrec.pipeline.tune.params import Plan, plan
from newsrec.pipeline.tune.study import Study, optuna_here
from newsrec.pipeline.tune.trials import LOSS, Search, Trial
from newsrec.protocols import Encoder, TrainTracker
from newsrec.track import NoTrainTracker

if TYPE_CHECKING:
    from newsrec.encode import EmbeddingStore

#: Fields of a training that a search has its own of, or that change no trial.
_NO_MATTER = ("corpus", "head", "encoder", "test", "test_langs", "metrics", "seeds", "langs",
              "trust_remote_code")  # fmt: skip


def tune(
    config: TrainConfig,
    space: Space,
    folder: Path,
    *,
    trials: int = 30,
    metric: str = "ndcg@10",
    seed: int = 42,
    timeout_s: float | None = None,
    store: EmbeddingStore | None = None,
    encoders: Mapping[str, Encoder] | None = None,
    tracker: TrainTracker | None = None,
    on_progress: OnProgress | None = None,
    on_trial: Callable[[Trial, int], None] | None = None,
) -> Search:
    """Train ``config``'s head with values of ``space`` until there are ``trials`` in ``folder``,
    which a search that was cut short goes on in; the test split is never looked at.

    ``metric``: of `newsrec.evaluate.run`, on validation, or ``loss``. The first trial has the
    values that training has by default, as far as the space holds them. Raises `ConfigError` for
    what is wrong with the request, `DataError` for what the corpus lacks and when another process
    is at work in the folder, `StaleCacheError` when the folder holds another search, `MissingExtra`
    without optuna.
    """
    wanted = check_search(config, space, metric, seed)
    tracker = NoTrainTracker() if tracker is None else tracker
    objective = TrainAndMeasure(
        wanted, metric, tracker, store, on_progress, dict(encoders or {})
    )  # fmt: skip
    check_folder(folder, ours=OURS)
    school = objective.school(wanted.example(), folder)
    notes = _notes(wanted, objective.check(school))
    with held(folder, "newsrec tune"):
        study = Study.open(
            folder, wanted.params, metric, maximise=_maximised(metric), seed=seed,
            told=_told(wanted, school, metric, seed),
        )  # fmt: skip
        write_space(wanted.space, folder)

        def ended(trial: Trial, n: int) -> None:
            write_search(study.search(notes), wanted, config, folder)
            if on_trial is not None:
                on_trial(trial, n)

        study.run(
            objective, trials=trials, prune=wanted.comparable_losses, first=wanted.defaults(),
            timeout_s=timeout_s, on_trial=ended,
        )  # fmt: skip
        best = _best_results(study.search(), study, objective)
        found = study.search([*notes, *_noise(best, metric)])
        write_search(found, wanted, config, folder)
        write_figure(found, folder)
        tracker.finish(best, folder)
    return found


def _best_results(found: Search, study: Study, objective: TrainAndMeasure) -> Results:
    """What the best trial's ranker gives, measured again."""
    best = found.best
    if best is None or not study.place(best.number).exists():
        return Results()
    report = objective.report(best.settings, study.place(best.number))
    return Results.of([] if report is None else [report], {})


def _noise(best: Results, metric: str) -> list[str]:
    """How sure the best value is, so that nobody reads more into a table than there is."""
    if not best.reports:
        return []
    interval = with_interval(best.intervals[0][metric], metric)
    return [
        f"The best: {interval}, 95 % bootstrap over impressions; what lies inside is not told "
        "apart by this validation, and the best of many is flattered by being chosen."
    ]


def check_search(config: TrainConfig, space: Space, metric: str, seed: int) -> Plan:
    """What is wrong with the request is said before anything slow begins; errors as `tune`."""
    optuna_here()
    wanted = plan(config.model_copy(update={"seeds": (seed,), "test": None}), space)
    if metric != LOSS and len(expand((metric,))) != 1:
        raise ConfigError(f"--metric: {metric!r} stands for several, name one: ndcg@10")
    if metric == LOSS and not wanted.comparable_losses:
        raise ConfigError(
            "--metric loss: the space changes the loss itself (loss, temperature or negatives), "
            "and such losses cannot be compared; search by a metric: ndcg@10"
        )
    if wanted.config.valid == NOTHING:
        raise ConfigError("--valid none: a search needs validation impressions, name a split or a "
                          "share such as 0.1")  # fmt: skip
    if len(wanted.config.shots) > 1:
        raise ConfigError(f"--shots: {len(wanted.config.shots)} numbers, a search takes one")
    school = School(wanted.example(), Path())
    school.check()
    if len(school.languages) > 1:
        raise ConfigError(f"--lang: {', '.join(school.languages)}: a search takes one language")
    return wanted


def _maximised(metric: str) -> bool:
    return metric != LOSS and not less_is_better(metric)


def _told(
    wanted: Plan, school: School, metric: str, seed: int
) -> dict[str, Any]:  # fmt: skip
    """What search this is: one in the same folder must have the same."""
    config = wanted.config
    # What is as always is not told: a later version may have more to say.
    changed = config.model_dump(mode="json", exclude_defaults=True)
    plain = {k: v for k, v in changed.items() if k not in _NO_MATTER}
    return {
        "head": config.head.label,
        "encoder": config.encoder.label,
        "encoder_revision": [encoder.spec.revision for encoder in school.loaded.values()],
        "corpus": school.corpus.fingerprint,
        "language": school.languages[0],
        "space": wanted.space.to_dict(),
        "metric": metric,
        "seed": seed,
        **plain,
    }


def _notes(wanted: Plan, n_measured: int) -> list[str]:
    notes = [f"Measured on {n_measured} validation impressions of readers with a history."]
    if not wanted.comparable_losses:
        notes.append("No trial was pruned: the space changes what the loss measures.")
    return notes
