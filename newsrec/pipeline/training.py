"""Clicks to trained heads, and how good they are: the story of a training, top to bottom."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from newsrec import build
from newsrec.config import ExperimentConfig, RankerConfig, TrainConfig
from newsrec.corpus import Corpus
from newsrec.errors import ConfigError, DataError, unknown_name
from newsrec.evaluate.results import Results
from newsrec.files import atomic_file
from newsrec.languages import canonical
from newsrec.pipeline.encoders import Encoders, OnProgress
from newsrec.pipeline.lessons import Lesson, check_valid, make_lesson
from newsrec.pipeline.open import open_corpus
from newsrec.pipeline.origin import provenance
from newsrec.pipeline.study import experiment
from newsrec.protocols import Encoder
from newsrec.rank.fit_options import EpochReport
from newsrec.types import Embeddings

if TYPE_CHECKING:
    from newsrec.encode import EmbeddingStore

#: Names of the impressions that a few-shot run learnt from, one a line.
IDS = "impressions.txt"


@dataclass(frozen=True, slots=True)
class Run:
    """One training: a shelf, so many impressions (None: all), a seed."""

    language: str
    shots: int | None
    seed: int

    @property
    def family(self) -> str:
        """What seeds share: ``eng-full``, ``eng-10-shots``."""
        return f"{self.language}-{'full' if self.shots is None else f'{self.shots}-shots'}"

    @property
    def name(self) -> str:
        """``eng-10-shots seed 42``."""
        return f"{self.family} seed {self.seed}"

    def folder(self, root: Path) -> Path:
        """Where its checkpoint and its ranker are."""
        return root / self.family / f"seed{self.seed}"


OnEpoch = Callable[[Run, EpochReport], None]


def train(
    config: TrainConfig,
    folder: Path,
    *,
    store: EmbeddingStore | None = None,
    encoders: Mapping[str, Encoder] | None = None,
    on_progress: OnProgress | None = None,
    on_epoch: OnEpoch | None = None,
    on_measured: OnProgress | None = None,
) -> Results | None:
    """Train every run of ``config`` in its folder under ``folder``, then measure all on the test
    split beside late fusion; the report is in ``folder / "test"`` (None without a test split).

    What was trained before is not trained again, and a run that was cut short goes on. Raises
    `ConfigError` for what is wrong with the request, `DataError` for what the corpus lacks and for
    a loss that is no number, `StaleCacheError` for folders of other runs; none costs a ranker that
    is there.
    """
    from newsrec.rank.peers import Peers

    school = School(config, folder, store, on_progress, dict(encoders or {}))
    school.check()
    for language in school.languages:
        lesson = school.lesson(language)
        for run in school.runs(language):
            school.fit(run, lesson, on_epoch)
    if Peers.here().rank:  # one process measures
        return None
    return school.measure(on_measured)


@dataclass
class School:
    """What the runs of one training share; opened when first used."""

    config: TrainConfig
    folder: Path
    store: EmbeddingStore | None = None
    on_progress: OnProgress | None = None
    loaded: dict[str, Encoder] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.recipe = build.head_recipe(self.config.head)
        self._encoders = Encoders(
            self.config.trust_remote_code, self.store, self.on_progress, self.loaded
        )

    @cached_property
    def corpus(self) -> Corpus:
        return open_corpus(self.config.corpus)

    @cached_property
    def languages(self) -> tuple[str, ...]:
        """Shelves to train on in ISO 639-3."""
        here = self.corpus.languages
        named = self.config.langs or (("eng",) if "eng" in here else here[:1])
        return tuple(dict.fromkeys(canonical(x, "--lang") for x in named))

    @property
    def shots(self) -> tuple[int | None, ...]:
        return tuple(dict.fromkeys(self.config.shots)) or (None,)

    def runs(self, language: str) -> Iterator[Run]:
        """Shots × seeds."""
        for shots in self.shots:
            for seed in dict.fromkeys(self.config.seeds):
                yield Run(language, shots, seed)

    def check(self) -> None:
        """What is wrong with the request is said before anything slow begins."""
        config, corpus = self.config, self.corpus
        if not corpus.splits:
            raise DataError(f"corpus {corpus.name!r} has news and no clicks: nothing to learn from")
        corpus.impressions(config.train)
        check_valid(config.valid, corpus.splits)
        for language in self.languages:
            if language not in corpus.languages:
                where = f"--lang of corpus {corpus.name!r}:"
                raise unknown_name(where, language, corpus.languages)
        for run in self.runs(self.languages[0]):
            build.fit_options(config, run.seed, few=run.shots is not None)
        if config.test is not None:
            corpus.impressions(config.test)
            if config.test in (config.train, config.valid):
                raise ConfigError(
                    f"--test: {config.test!r} is trained on, or decides when to stop; name another "
                    "split, or none"
                )

    def lesson(self, language: str) -> Lesson:
        """What to learn from on one shelf."""
        get: dict[str, Callable[[str], Embeddings]] = {}
        if self.recipe.text:
            for view in self.config.views:
                get[view] = self._encoders.getter(self.corpus, self.config.encoder, view)
        return make_lesson(self.corpus, self.config, language, get, self.recipe.text)

    def fit(self, run: Run, lesson: Lesson, on_epoch: OnEpoch | None) -> None:
        """Train one run in its folder, or go on with it; nothing to do for one that is finished."""
        from newsrec.rank import Inputs
        from newsrec.rank import fit as fit_head

        impressions, features = lesson.sample(run.shots, run.seed)
        views = self.config.views if self.recipe.text else ()
        head = build.head(self.config.head, Inputs.of(features, views), run.seed)
        where = run.folder(self.folder)
        fit_head(
            head,
            impressions,
            lesson.valid,
            features,
            build.fit_options(self.config, run.seed, few=run.shots is not None),
            valid_features=lesson.valid_features,
            folder=where,
            on_epoch=None if on_epoch is None else lambda report: on_epoch(run, report),
            made=self.made(run),
        )
        if run.shots is not None:
            with atomic_file(where / IDS) as file:
                file.write("".join(f"{x}\n" for x in impressions.ids.tolist()).encode())

    def made(self, run: Run) -> dict[str, Any]:
        """Provenance of one ranker."""
        config = self.config
        named = config.encoder.model_dump(mode="json") if self.recipe.text else None
        spec = asdict(self._encoders.of(config.encoder).spec) if self.recipe.text else {}
        origin = provenance(
            config.model_dump(mode="json"), config.hash, self.corpus.fingerprint, spec,
            config.protocol, run.seed,
        )  # fmt: skip
        return {
            "encoder": named,
            "trainable": config.trainable,
            "language": run.language,
            "split": config.train,
            "shots": run.shots,
            "provenance": origin.to_dict(),
        }

    def measure(self, on_measured: OnProgress | None = None) -> Results | None:
        """Every trained ranker on the test split, after one that needs no training: late fusion of
        the same vectors, or the profile of categories for a head that reads none."""
        if self.config.test is None:
            return None
        return experiment(
            self.exam(),
            folder=self.folder / "test",
            store=self.store,
            encoders=self.loaded,
            on_progress=self.on_progress,
            on_measured=on_measured,
        )

    def exam(self) -> ExperimentConfig:
        """The evaluation of all that is trained."""
        config = self.config
        families = [run.family for language in self.languages for run in self.runs(language)]
        trained = tuple(
            RankerConfig(name=str(self.folder / family), called=f"{config.head.label} {family}")
            for family in dict.fromkeys(families)
        )
        assert config.test is not None
        reference = "fusion" if self.recipe.text else "category-profile"
        return ExperimentConfig(
            corpus=config.corpus,
            encoders=(config.encoder,),
            rankers=(RankerConfig(name=reference), *trained),
            trust_remote_code=config.trust_remote_code,
            langs=config.test_langs,
            history_lang=config.history_lang,
            split=config.test,
            protocol=config.protocol,
            complete_only=config.complete_only,
            metrics=config.metrics,
            seeds=tuple(dict.fromkeys(config.seeds)),
        )
