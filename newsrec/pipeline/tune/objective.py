"""One trial: train with its values, measure on the validation impressions."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from newsrec.config import EncoderConfig, TrainConfig
from newsrec.errors import DataError
from newsrec.evaluate.report import EvalReport
from newsrec.evaluate.run import Shown, evaluate
from newsrec.pipeline.encoders import Encoders, OnProgress
from newsrec.pipeline.lessons import Lesson, make_lesson
from newsrec.pipeline.origin import provenance
from newsrec.pipeline.runs import Run
from newsrec.pipeline.school import School
from newsrec.pipeline.tune.params import ENCODER, ENTRY, Plan
from newsrec.pipeline.tune.study import OnEpoch, Pruned
from newsrec.pipeline.tune.trials import LOSS
from newsrec.protocols import Encoder, TrainTracker
from newsrec.rank.fit_options import EpochReport
from newsrec.rank.histories import part, readable
from newsrec.rank.trained import ENCODER as TUNED
from newsrec.track import NoTrainTracker
from newsrec.types import Embeddings, Features, Impressions

if TYPE_CHECKING:
    from newsrec.encode import EmbeddingStore


@dataclass
class TrainAndMeasure:
    """A `newsrec.pipeline.tune.study.Objective` over real training.

    ``metric`` is measured on the validation impressions whose readers have a history that can be
    read: the others show what does without a head. ``loaded``: encoders by label.
    """

    plan: Plan
    metric: str
    tracker: TrainTracker = field(default_factory=NoTrainTracker)
    store: EmbeddingStore | None = None
    on_progress: OnProgress | None = None
    loaded: dict[str, Encoder] = field(default_factory=dict)
    _lesson: Lesson | None = None

    def __call__(
        self, number: int, settings: Mapping[str, Any], folder: Path, on_epoch: OnEpoch
    ) -> float | None:
        """The metric; None where the validation loss is what counts."""
        config = self.plan.apply(settings)
        school = self.school(config, folder)
        run = next(school.runs(school.languages[0]))

        def told(_: Run, report: EpochReport) -> None:
            self.tracker.epoch(report)
            on_epoch(report)

        self.tracker.begin(f"trial {number}", settings)
        status = "FAILED"
        try:
            lesson = self._learnt_from(school)
            school.fit(run, lesson, told)
            value = None if self.metric == LOSS else self._value(school, run, lesson)
            status = "FINISHED"
        except Pruned:
            status = "KILLED"
            raise
        finally:
            self.tracker.end(status)
        return value

    def check(self, school: School) -> int:
        """How many validation impressions a trial is measured on; `DataError` for none, or for
        an encoder that cannot be had, before any trial."""
        views = school.config.views if school.recipe.text else ()
        return len(with_history(self._learnt_from(school), views)[0])

    def report(self, settings: Mapping[str, Any], folder: Path) -> EvalReport | None:
        """What the trial with these values, still in its folder, gives; None for a search by
        loss."""
        if self.metric == LOSS:
            return None
        school = self.school(self.plan.apply(settings), folder)
        run = next(school.runs(school.languages[0]))
        return self._measured(school, run, self._learnt_from(school))

    def school(self, config: TrainConfig, folder: Path) -> School:
        """The training of one trial; encoders that a space varies are not kept."""
        varied = any(param.part == ENCODER for param in self.plan.params)
        loaded = dict(self.loaded) if varied else self.loaded
        return School(config, folder, self.store, self.on_progress, loaded)

    def _learnt_from(self, school: School) -> Lesson:
        """The lesson, made once where it is the same for every trial."""
        if any(param.part in (ENCODER, ENTRY) for param in self.plan.params):
            return school.lesson(school.languages[0])
        if self._lesson is None:
            self._lesson = school.lesson(school.languages[0])
        return self._lesson

    def _value(self, school: School, run: Run, lesson: Lesson) -> float:
        report = self._measured(school, run, lesson)
        self.tracker.measured(report)
        value = report.mean().get(self.metric, float("nan"))
        if np.isnan(value):
            why = report.skipped.get(self.metric, f"in none of {len(report)} impressions")
            raise DataError(f"--metric {self.metric}: not defined on validation ({why})")
        return float(value)

    def _measured(self, school: School, run: Run, lesson: Lesson) -> EvalReport:
        from newsrec.rank import load_ranker

        config, where = school.config, run.folder(school.folder) / "best"
        called = config.encoder.label
        if (where / TUNED).is_dir():
            called = f"{called}+{config.trainable}"
            lesson = self._seen_by(EncoderConfig(name=str(where / TUNED)), school, run)
        impressions, features = with_history(lesson, config.views if school.recipe.text else ())
        scores = load_ranker(where).score(impressions, features)
        labels = {"language": run.language, "encoder": called, "ranker": config.head.label,
                  "split": config.valid or "valid"}  # fmt: skip
        specs = {name: asdict(found.spec) for name, found in school.loaded.items()}
        origin = provenance(
            config.model_dump(mode="json"), config.hash, school.corpus.fingerprint, specs,
            config.protocol, run.seed,
        )  # fmt: skip
        shown = Shown(impressions, np.arange(len(impressions)), school.corpus.news)
        rng = np.random.default_rng(run.seed)
        return evaluate(scores, shown, origin, rng, (self.metric,), labels)

    def _seen_by(self, encoder: EncoderConfig, school: School, run: Run) -> Lesson:
        """The lesson in the vectors of an encoder that a trial tuned; nobody needs them again."""
        from newsrec.encode import EmbeddingStore

        place = school.folder / "vectors"
        encoders = Encoders(
            school.config.trust_remote_code, EmbeddingStore(place), self.on_progress
        )  # fmt: skip
        get: dict[str, Callable[[str], Embeddings]] = {}
        get |= {v: encoders.getter(school.corpus, encoder, v) for v in school.config.views}
        try:
            return make_lesson(school.corpus, school.config, run.language, get, school.recipe.text)
        finally:
            shutil.rmtree(place, ignore_errors=True)


def with_history(lesson: Lesson, views: tuple[str, ...]) -> tuple[Impressions, Features]:
    """The validation impressions whose readers have a history that can be read; `DataError` when
    there are none."""
    valid, features = lesson.valid, lesson.valid_features
    if valid is None or features is None:
        raise DataError("no validation impressions: nothing tells one trial from another")
    known = readable(valid, features, next(iter(views), None))[valid.history_of]
    if not known.any():
        raise DataError(
            f"none of {len(valid)} validation impressions has a reader whose history can be read"
        )
    return part(valid, features, np.flatnonzero(known))
