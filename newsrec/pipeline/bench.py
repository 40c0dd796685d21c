"""Systems on a corpus: everything that the languages of one experiment share."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from newsrec import build
from newsrec.config import EncoderConfig, ExperimentConfig
from newsrec.corpus import Corpus
from newsrec.errors import DataError, unknown_name
from newsrec.evaluate.metrics import POOLED, TIE_RULE
from newsrec.evaluate.report import EvalReport
from newsrec.evaluate.run import Shown, evaluate, expand
from newsrec.languages import canonical
from newsrec.pipeline.encoders import Encoders, OnProgress
from newsrec.pipeline.features import make_features
from newsrec.pipeline.open import open_corpus
from newsrec.pipeline.origin import provenance
from newsrec.pipeline.pools import reranked
from newsrec.pipeline.scene import OWN, Scene, make_scene
from newsrec.pipeline.systems import System, systems
from newsrec.pipeline.themes import AUTO, Themes, check_cut, choice, themes
from newsrec.pipeline.traits import load_traits
from newsrec.protocols import Encoder
from newsrec.rank.centre import sides
from newsrec.rank.clicks import ClickLog, first_shown
from newsrec.rank.table import Given, Recipe
from newsrec.types import Embeddings, Features, Impressions, Provenance

if TYPE_CHECKING:
    from newsrec.encode import EmbeddingStore

Scores = NDArray[np.float32]
_POOLED_PLACES = "a re-ranked list has places, which are not comparable between lists"


@dataclass
class Bench:
    """What the languages of one experiment share; opened or computed when first used."""

    config: ExperimentConfig
    store: EmbeddingStore | None = None
    on_progress: OnProgress | None = None
    encoders: dict[str, Encoder] = field(default_factory=dict)
    on_measured: OnProgress | None = None

    def __post_init__(self) -> None:
        self.systems = systems(self.config)
        self._encoders = Encoders(
            self.config.trust_remote_code, self.store, self.on_progress, self.encoders
        )
        self.metrics = expand(
            (*self.config.metrics, *(["newsreclib"] * (self.config.protocol == "newsreclib")))
        )

    @cached_property
    def corpus(self) -> Corpus:
        return open_corpus(self.config.corpus)

    @cached_property
    def languages(self) -> tuple[str, ...]:
        """Shelves in ISO 639-3, each once; the corpus's where the config names none."""
        named = self.config.langs or self.corpus.languages
        codes = ["+".join(canonical(part, "--langs") for part in x.split("+")) for x in named]
        return tuple(dict.fromkeys(codes))

    @cached_property
    def traits(self) -> Mapping[str, object]:
        return {} if self.config.traits is None else load_traits(Path(self.config.traits))

    @property
    def baselines(self) -> tuple[str, ...]:
        """Labels of rankers that are references."""
        return tuple(s.labels["ranker"] for s in self.systems if s.is_baseline)

    @cached_property
    def clusters(self) -> str:
        """Whose clusters are looked at; see `newsrec.pipeline.themes.choice`."""
        return choice(self.config.clusters, self.systems, self.corpus)

    @cached_property
    def themes(self) -> Themes:
        """Their classes: one tree for all systems, that of the first encoder."""
        encoder = self._encoders.of(self._first_encoder) if self.clusters == AUTO else None
        return themes(self.corpus, self.clusters, encoder, self.store, self.on_progress)

    @cached_property
    def log(self) -> tuple[ClickLog, NDArray[np.datetime64]]:
        """Clicks that popularity may count, and when each article was first shown."""
        others = [split for split in self.corpus.splits if split != self.config.split]
        splits = [self.corpus.impressions(split) for split in others]
        if self.config.clicks == "before":
            splits.append(self.corpus.impressions(self.config.split))
        first = first_shown(
            len(self.corpus.news), *map(self.corpus.impressions, self.corpus.splits)
        )
        return ClickLog.of(*(part for part in splits if part.clicked is not None)), first

    def check(self) -> None:
        """What is wrong with the request is said before anything slow begins: `ConfigError` for an
        option, `DataError` for a corpus without a log. Rankers, re-rankers and metrics are checked
        when the bench is made."""
        corpus, spoken = self.corpus, self.config.history_lang
        if not corpus.splits:
            raise DataError(f"corpus {corpus.name!r} has news and no clicks: nothing to evaluate")
        corpus.impressions(self.config.split)
        for system in self.systems:
            self._check_files(system)
        # An unknown language of a shelf costs that shelf only, when it is opened.
        if self.languages and spoken is not None and spoken != OWN:
            code = canonical(spoken, "--history-lang")
            if code not in corpus.languages:
                where = f"--history-lang of corpus {corpus.name!r}:"
                raise unknown_name(where, code, corpus.languages)
        _ = self.clusters

    def load(self) -> None:
        """Load every encoder; `ConfigError` for one whose clusters nobody can make."""
        for system in self.systems:
            for seed in self.config.seeds:
                encoder = system.encoder_at(seed)
                if encoder is not None:
                    self._encoders.of(encoder)
        if self.clusters == AUTO:
            check_cut(self.corpus, self._encoders.of(self._first_encoder))

    def evaluate(self, language: str) -> Iterator[list[EvalReport]]:
        """The reports of one system after the other on one shelf, one per seed."""
        scene = make_scene(self.corpus, self.config, language)
        vectors, seeds = self.distance_vectors(scene), self.config.seeds
        runs = sum(len(system.seeds(seeds)) for system in self.systems)
        done = self.languages.index(language) * runs
        known: dict[tuple[object, ...], Scores] = {}
        for system in self.systems:
            found, recipe = [], system.recipe
            for seed in system.seeds(seeds):
                if self.on_measured is not None:
                    self.on_measured(done, runs * len(self.languages))
                done += 1
                # A ranker scores once, however its list is re-ranked.
                key = (
                    system.labels["encoder"] if recipe.vectors else None,
                    system.ranker.label,
                    seed if "seed" in recipe.given else None,
                )
                if key not in known:
                    known[key] = self.score(system, scene, seed)
                scores = self.rerank(system, scene, known[key], seed)
                found.append(self._report(system, scene, seed, scores, vectors))
            yield found

    def rerank(self, system: System, scene: Scene, scores: Scores, seed: int) -> Scores:
        """``(nnz,)``: the scores, or minus the places that the system's re-ranker gives."""
        reranker = system.reranker
        if reranker is None:
            return scores
        return np.asarray(reranked([reranker], scores, self.pooled(system, scene, seed))[0])

    def pooled(self, system: System, scene: Scene, seed: int) -> Shown:
        """What is shown, as the system's re-ranker sees it: vectors as its ranker compares them."""
        encoder = system.encoder_at(seed)
        if encoder is None:
            return self.shown(scene)
        shelf, mixed = scene.shelf, not scene.shelf.whole
        found = shelf.vectors(self._getter(encoder))
        spoken = shelf.of if mixed else None
        side = sides(found, found, history_language=spoken, shelf_language=spoken)[1]
        vectors = np.zeros(found.vectors.shape, np.float32)
        rows = np.unique(scene.impressions.candidates.values)
        vectors[rows] = side.at(rows)
        return self.shown(scene, vectors)

    def score(self, system: System, scene: Scene, seed: int) -> Scores:
        """``(nnz,)`` scores of the system's ranker."""
        recipe = system.recipe
        # An encoder may be there for the re-ranker alone.
        encoder = system.encoder_at(seed) if recipe.vectors else None
        text = build.reads_text(recipe)
        features = self._features(scene, encoder, recipe.views or (self.config.view,), text)
        clicks, first_seen = self.log if text or recipe.given else (None, None)
        given = Given(
            seed=seed,
            clicks=clicks,
            first_seen=first_seen,
            texts=scene.shelf.texts(self.corpus) if "texts" in recipe.needs else None,
            history_texts=scene.history.texts(self.corpus) if "texts" in recipe.needs else None,
            listed=self._listed(recipe),
        )
        whole = {"history_limit": None} if self.config.protocol == "newsreclib" else {}
        ranker = build.ranker(system.ranker, given, {"view": self.config.view, **whole})
        return ranker.score(scene.readable if text else scene.impressions, features)

    def origin(self, encoder: Mapping[str, object], seed: int) -> Provenance:
        """Provenance of one run."""
        return provenance(
            self.config.model_dump(mode="json"),
            self.config.hash,
            self.corpus.fingerprint,
            encoder,
            self.config.protocol,
            seed,
        )

    def provenance(self, status: str) -> dict[str, object]:
        """Provenance of the whole; ``status``: running or finished."""
        return self.origin(self._encoders.specs(), self.config.seeds[0]).to_dict() | {
            "status": status,
            "corpus_name": self.corpus.name,
            "split": self.config.split,
            "seeds": list(self.config.seeds),
            "ties": TIE_RULE,
            **({"clusters": dict(self.themes.origin)} if self.themes.origin else {}),
        }

    @property
    def _first_encoder(self) -> EncoderConfig:
        """The first system's that has one, else the config's."""
        seed = self.config.seeds[0]
        found = (system.encoder_at(seed) for system in self.systems)
        return next((x for x in found if x is not None), self.config.encoders[0])

    def _listed(self, recipe: Recipe) -> Impressions | None:
        """The split, for rankers that need it as a whole."""
        return self.corpus.impressions(self.config.split) if "listed" in recipe.needs else None

    def _check_files(self, system: System) -> None:
        """A ranker that comes from a file is opened once, for every seed."""
        listed = self._listed(system.recipe)
        for seed in self.config.seeds if system.recipe.stored else ():
            build.ranker(system.ranker, Given(seed=seed, listed=listed), {})

    def _getter(self, config: EncoderConfig) -> Callable[[str], Embeddings]:
        return self._encoders.getter(self.corpus, config, self.config.view)

    def _features(
        self, scene: Scene, encoder: EncoderConfig | None, views: Sequence[str], text: bool
    ) -> Features:
        """What a ranker sees of ``scene``; clicks are rows of the news table for one that reads no
        ``text``."""
        get = {}
        if encoder is not None:
            get = {v: self._encoders.getter(self.corpus, encoder, v) for v in views}
        rows = scene.history_rows if text else None
        return make_features(self.corpus.news, scene.shelf, scene.history, rows, get)

    def distance_vectors(self, scene: Scene) -> NDArray[np.floating] | None:
        """Shelf vectors of the first encoder: distances of all systems are in one space."""
        some = any(system.encoder is not None for system in self.systems)
        wanted = any(name.startswith("intra_list_distance") for name in self.metrics)
        return self.shelf_vectors(scene, self._first_encoder) if some and wanted else None

    def shown(self, scene: Scene, vectors: NDArray[np.floating] | None = None) -> Shown:
        """What a scene shows, to be measured; ``vectors (n_news, dim)`` of its shelf."""
        mixed = not scene.shelf.whole
        return Shown(
            impressions=scene.impressions,
            rows=scene.rows,
            news=self.corpus.news,
            vectors=vectors,
            language=scene.shelf.of if mixed else None,
            languages=scene.shelf.languages if mixed else (),
            traits=self.traits,
            groups=scene.groups,
            counts=scene.counts,
            aspects=self.themes.aspects,
        )

    def shelf_vectors(self, scene: Scene, encoder: EncoderConfig) -> NDArray[np.floating]:
        """The shelf as an encoder sees it, ``(n_news, dim)``."""
        return scene.shelf.vectors(self._getter(encoder)).vectors

    def _report(
        self, system: System, scene: Scene, seed: int, scores: Scores,
        vectors: NDArray[np.floating] | None,
    ) -> EvalReport:  # fmt: skip
        shown = self.shown(scene, vectors)
        named = system.encoder_at(seed)
        encoder = {} if named is None else asdict(self._encoders.of(named).spec)
        labels = {
            "language": scene.language,
            **system.labels,
            "split": self.config.split,
            "history_language": scene.history_language,
            **({"clusters": self.clusters} if self.themes.aspects else {}),
        }
        metrics = (*self.metrics, *(["exposure"] if shown.languages else []))
        skipped: dict[str, str] = {}
        if "reranker" in labels:
            skipped = {name: _POOLED_PLACES for name in metrics if name in POOLED}
        rng, origin = np.random.default_rng(seed), self.origin(encoder, seed)
        chosen = [name for name in metrics if name not in skipped]
        report = evaluate(scores, shown, origin, rng, chosen, labels)
        return replace(report, skipped={**report.skipped, **skipped})
