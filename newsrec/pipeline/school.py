"""What the runs of one training share: the corpus, vectors, lessons, what MLflow is told."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from newsrec import build
from newsrec.config import ExperimentConfig, RankerConfig, TrainConfig
from newsrec.corpus import Corpus
from newsrec.encode.presets import BUILT_IN
from newsrec.errors import ConfigError, DataError, unknown_name
from newsrec.evaluate.results import Results
from newsrec.files import held, write_text
from newsrec.languages import canonical
from newsrec.pipeline.encoders import Encoders, OnProgress, anywhere
from newsrec.pipeline.examined import Examined
from newsrec.pipeline.labels import labels_of
from newsrec.pipeline.lessons import Lesson, check_valid, make_lesson, valid_of
from newsrec.pipeline.open import open_corpus
from newsrec.pipeline.origin import provenance
from newsrec.pipeline.runs import OnEpoch, Run
from newsrec.pipeline.scene import OWN
from newsrec.pipeline.study import experiment
from newsrec.pipeline.teaching import Job, on_vectors, with_aspects, with_encoder
from newsrec.places import check_writable
from newsrec.protocols import Encoder, TrainTracker
from newsrec.rank.fit_options import EpochReport
from newsrec.rank.loop import check_device
from newsrec.rank.means import LanguageMeans, load_means, save_means
from newsrec.rank.peers import Peers
from newsrec.track import NoTrainTracker
from newsrec.types import Embeddings

if TYPE_CHECKING:
    from newsrec.encode import EmbeddingStore

#: Names of the impressions that a few-shot run learnt from, one a line.
IDS = "impressions.txt"


@dataclass
class School:
    """What the runs of one training share; opened when first used."""

    config: TrainConfig
    folder: Path
    store: EmbeddingStore | None = None
    on_progress: OnProgress | None = None
    loaded: dict[str, Encoder] = field(default_factory=dict)
    tracker: TrainTracker = field(default_factory=NoTrainTracker)

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

    @cached_property
    def test_languages(self) -> tuple[str, ...]:
        """Shelves of the test in ISO 639-3; ``eng+fin`` is a mixed one."""
        named = self.config.test_langs or self.corpus.languages
        codes = ["+".join(canonical(y, "--test-langs") for y in x.split("+")) for x in named]
        return tuple(dict.fromkeys(codes))

    def runs(self, language: str) -> Iterator[Run]:
        """Shots × seeds."""
        for shots in self.shots:
            for seed in dict.fromkeys(self.config.seeds):
                yield Run(language, shots, seed)

    def check(self) -> None:
        """What is wrong with the request is said before anything slow begins."""
        config, corpus = self.config, self.corpus
        check_writable(self.folder, "--out")
        if not corpus.splits:
            raise DataError(f"corpus {corpus.name!r} has news and no clicks: nothing to learn from")
        corpus.impressions(config.train)
        check_valid(config.valid, corpus.splits)
        valid = valid_of(config, corpus.splits)
        if valid == config.train:
            raise ConfigError(
                f"--valid: {valid!r} is what is learnt from; name another split, a share, or none"
            )
        for language in self.languages:
            if language not in corpus.languages:
                where = f"--lang of corpus {corpus.name!r}:"
                raise unknown_name(where, language, corpus.languages)
        for run in self.runs(self.languages[0]):
            check_device(build.fit_options(config, run.seed, few=run.shots is not None).device)
        build.tuning(config)
        self._check_trainable()
        self._check_aspects()
        if config.test is not None:
            corpus.impressions(config.test)
            if config.test in (config.train, valid):
                raise ConfigError(
                    f"--test: {config.test!r} is trained on, or decides when to stop; name another "
                    "split, or none"
                )

    def _check_aspects(self) -> None:
        config = self.config
        if config.aspects and (config.head.name != "manner" or self.tuned):
            raise ConfigError("--aspects: A-modules are those of --head manner on stored vectors")
        labels_of(
            self.corpus, config.aspects, None if config.labels is None else Path(config.labels)
        )

    def _check_trainable(self) -> None:
        head, trainable = self.config.head, self.config.trainable
        if self.tuned and not self.recipe.text:
            raise ConfigError(
                f"--trainable {trainable}: head {head.name!r} reads no text; leave it out"
            )
        if self.recipe.encoder_only and not self.tuned:
            raise ConfigError(
                f"head {head.name!r} has no weights of its own, only its encoder can learn: "
                "--trainable last4, last4+embeddings, all or lora"
            )

    def lesson(self, language: str) -> Lesson:
        """What to learn from on one shelf."""
        get: dict[str, Callable[[str], Embeddings]] = {}
        if self.recipe.text and not self.tuned:
            get = {view: self._getter(view) for view in self.config.views}
        return make_lesson(self.corpus, self.config, language, get, self.recipe.text)

    @property
    def tuned(self) -> bool:
        """Whether the encoder is trained along."""
        return self.config.trainable != "none"

    def _getter(self, view: str) -> Callable[[str], Embeddings]:
        return self._encoders.getter(self.corpus, self.config.encoder, view)

    def fit(self, run: Run, lesson: Lesson, on_epoch: OnEpoch | None) -> None:
        """Train one run in its folder, or go on with it; nothing to do for one that is finished."""
        if Peers.here().rank:
            self._learn(run, lesson, on_epoch)
            return
        with held(run.folder(self.folder), "training"):
            self._learn(run, lesson, on_epoch)

    def _learn(self, run: Run, lesson: Lesson, on_epoch: OnEpoch | None) -> None:
        impressions, features = lesson.sample(run.shots, run.seed)
        where = run.folder(self.folder)

        def told(report: EpochReport) -> None:
            self.tracker.epoch(report)
            if on_epoch is not None:
                on_epoch(run, report)

        self.tracker.begin(run.name, self.params(run))
        few = run.shots is not None
        options = build.fit_options(self.config, run.seed, few=few)
        job = Job(where, lesson, impressions, features, options, told, self.made(run))
        if self.tuned:
            with_encoder(self.config, self.corpus, job)
        elif self.config.aspects:
            with_aspects(self.config, self.corpus, job)
        else:
            on_vectors(self.config, job)
        if Peers.here().rank:
            return
        if run.shots is not None:
            write_text(where / "best" / IDS, "".join(f"{x}\n" for x in impressions.ids.tolist()))
        if self.recipe.text and not self.tuned:
            self._keep_means(where / "best")
        self.tracker.trained(where / "best")
        self.tracker.end()

    def _keep_means(self, best: Path) -> None:
        """Beside a ranker, the means of every language that it was trained or tested on: what
        single articles lose (`newsrec.pipeline.scoring.score_articles`)."""
        known = load_means(best)
        before = () if known is None else known.languages
        tested = [] if self.config.test is None else "+".join(self.test_languages).split("+")
        if self.config.history_lang not in (None, OWN):
            tested.append(canonical(str(self.config.history_lang), "--history-lang"))
        if self.config.encoder.name == BUILT_IN:  # fast enough for all
            tested = list(self.corpus.languages)
        spoken = dict.fromkeys((*before, *self.languages, *tested))
        spoken = {code: None for code in spoken if code in self.corpus.languages}
        if known is None or set(spoken) != set(before):
            get = {view: self._getter(view) for view in self.config.views}
            save_means(
                best, LanguageMeans.of({v: {x: of(x) for x in spoken} for v, of in get.items()})
            )

    def params(self, run: Run) -> dict[str, object]:
        """What MLflow says of a run."""
        config = self.config
        return {
            "head": config.head.label, "encoder": config.encoder.label if self.recipe.text else "",
            "language": run.language, "shots": run.shots or "full", "seed": run.seed,
            "trainable": config.trainable,
        }  # fmt: skip

    def made(self, run: Run) -> dict[str, Any]:
        """Provenance of one ranker."""
        config = self.config
        named = anywhere(config.encoder).model_dump(mode="json") if self.recipe.text else None
        vectors = self.recipe.text and not self.tuned
        spec = asdict(self._encoders.of(config.encoder).spec) if vectors else {}
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
            tracker=Examined(self),
            store=self.store,
            encoders=self.loaded,
            on_progress=self.on_progress,
            on_measured=on_measured,
        )

    def called(self, family: str) -> str:
        """What tables call the rankers of a family: ``naml eng-full``."""
        return f"{self.config.head.label} {family}"

    def exam(self) -> ExperimentConfig:
        """The evaluation of all that is trained."""
        config = self.config
        families = [run.family for language in self.languages for run in self.runs(language)]
        trained = tuple(
            RankerConfig(name=str(self.folder / family), called=self.called(family))
            for family in dict.fromkeys(families)
        )
        assert config.test is not None
        reference = "fusion" if self.recipe.text else "category-profile"
        return ExperimentConfig(
            corpus=config.corpus,
            encoders=(config.encoder,),
            rankers=(RankerConfig(name=reference), *trained),
            trust_remote_code=config.trust_remote_code,
            langs=self.test_languages,
            history_lang=config.history_lang,
            split=config.test,
            view=config.views[0],
            protocol=config.protocol,
            complete_only=config.complete_only,
            metrics=config.metrics,
            seeds=tuple(dict.fromkeys(config.seeds)),
        )
