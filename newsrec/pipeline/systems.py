"""What an experiment compares: encoders × rankers × re-rankers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from newsrec import build
from newsrec.config import (
    EncoderConfig,
    ExperimentConfig,
    RankerConfig,
    RerankerConfig,
)
from newsrec.encode.presets import BUILT_IN
from newsrec.errors import ConfigError
from newsrec.evaluate.contrasts import NO_ENCODER
from newsrec.pipeline.encoders import anywhere
from newsrec.protocols import Reranker
from newsrec.rank.table import Recipe
from newsrec.rank.trained import Trained
from newsrec.spelling import NO_RERANKER

OWN_ORDER = RerankerConfig()


@dataclass(frozen=True)
class System:
    """An encoder (None where neither ranker nor re-ranker uses vectors), a ranker and its
    ``recipe``, a re-ranker; ``trained``: the ranker's folder, where it has one."""

    encoder: EncoderConfig | None
    ranker: RankerConfig
    recipe: Recipe
    reranking: RerankerConfig = OWN_ORDER
    trained: Trained | None = None

    @property
    def labels(self) -> dict[str, str]:
        """``encoder``, ``ranker`` (``fusion+mmr:relevance_weight=0.7``) and, if there is one,
        ``reranker``."""
        name = self.encoder.label if self.encoder is not None else NO_ENCODER
        if self.reranking.name == NO_RERANKER:
            return {"encoder": name, "ranker": self.ranker.label}
        label = self.reranking.label
        return {"encoder": name, "ranker": f"{self.ranker.label}+{label}", "reranker": label}

    def encoder_at(self, seed: int) -> EncoderConfig | None:
        """The encoder; that of the seed where each seed tuned its own."""
        tuned = None if self.trained is None else self.trained.encoder_at(seed)
        return self.encoder if tuned is None else EncoderConfig(name=str(tuned))

    def seeds(self, asked: tuple[int, ...]) -> tuple[int, ...]:
        """Those that make a difference: one for a trained ranker that is alone in its folder."""
        return asked[:1] if self.trained is not None and self.trained.one else asked

    @property
    def is_baseline(self) -> bool:
        """Whether it is a reference for the others."""
        return self.ranker.name in build.BASELINES and self.reranking.name == NO_RERANKER

    @property
    def reranker(self) -> Reranker | None:
        """None for the ranker's own list."""
        return build.reranker(self.reranking)


def systems(config: ExperimentConfig) -> list[System]:
    """Each once; one that uses no vectors has no encoder, and a trained ranker brings its own.

    `ConfigError` for a name, an option or a value that rankers and re-rankers do not take, for two
    rankers of one name, and for an encoder that trained rankers leave unused.
    """
    found: dict[tuple[str, ...], System] = {}
    rerankings = [x.with_diversity(config.diversity) for x in config.rerankers]
    for encoder in config.encoders:
        for ranker in config.rankers:
            for reranking in rerankings:
                system = _system(encoder, ranker, reranking)
                same = found.setdefault(tuple(system.labels.values()), system)
                if same.ranker != ranker:
                    raise ConfigError(
                        f"two rankers are called {ranker.label!r}; call one otherwise"
                    )
    for encoder in config.encoders:
        _check_used(encoder, list(found.values()))
    return list(found.values())


def _system(encoder: EncoderConfig, ranker: RankerConfig, reranking: RerankerConfig) -> System:
    recipe = build.check(ranker)
    vectors = recipe.vectors | build.check_reranker(reranking)
    trained = build.trained_ranker(ranker)
    own = None if trained is None else _encoder_of(trained)
    return System((own or encoder) if vectors else None, ranker, recipe, reranking, trained)


def _check_used(encoder: EncoderConfig, found: Sequence[System]) -> None:
    """A trained ranker reads the vectors that it was trained on, whatever ``--encoder`` says: what
    says so is told, unless it is the default or something else reads it."""
    brought = [x.trained.encoder for x in found if x.trained is not None and x.trained.encoder]
    own = {EncoderConfig.model_validate(named).label for named in brought}
    used = {x.encoder.label for x in found if x.encoder is not None and x.trained is None}
    said = {encoder.label, anywhere(encoder).label}
    if own and encoder.name != BUILT_IN and not said & (own | used):
        raise ConfigError(
            f"--encoder {encoder.label}: a trained ranker reads the vectors that it was trained on "
            f"({', '.join(sorted(own))}), and no other ranker is asked for; leave it out"
        )


def _encoder_of(trained: Trained) -> EncoderConfig | None:
    """The encoder whose vectors a trained ranker reads, as tables call it: ``labse+last4`` for a
    tuned one."""
    if trained.encoder is None:
        return None
    named = EncoderConfig.model_validate(trained.encoder)
    if trained.trainable == "none":
        return named
    return EncoderConfig(name=f"{named.label}+{trained.trainable}")
