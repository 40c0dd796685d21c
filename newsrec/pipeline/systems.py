"""What an experiment compares: encoders × rankers × re-rankers."""

from __future__ import annotations

from collections.abc import Iterator
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
from newsrec.protocols import Reranker
from newsrec.rank.trained import Trained
from newsrec.spelling import NO_RERANKER

OWN_ORDER = RerankerConfig()


@dataclass(frozen=True)
class System:
    """An encoder (None where neither ranker nor re-ranker uses vectors), a ranker, a re-ranker;
    ``trained``: the ranker's folder, where it has one."""

    encoder: EncoderConfig | None
    ranker: RankerConfig
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


def systems(config: ExperimentConfig) -> Iterator[System]:
    """Each once; one that uses no vectors has no encoder. `ConfigError` for a name, an option or a
    value that rankers and re-rankers do not take, and for two rankers of one name."""
    seen: dict[tuple[str, ...], RankerConfig] = {}
    unused = {encoder.label for encoder in config.encoders} - {EncoderConfig(name=BUILT_IN).label}
    brought: set[str] = set()
    rerankings = [x.with_diversity(config.diversity) for x in config.rerankers]
    for encoder in config.encoders:
        for ranker in config.rankers:
            for reranking in rerankings:
                vectors = build.check(ranker).vectors | build.check_reranker(reranking)
                trained = build.trained_ranker(ranker)
                own = None if trained is None else _encoder_of(trained)
                system = System((own or encoder) if vectors else None, ranker, reranking, trained)
                if own is not None:
                    brought.add(own.label)
                elif vectors:
                    unused.discard(encoder.label)
                key = tuple(system.labels.values())
                if key not in seen:
                    seen[key] = ranker
                    yield system
                elif seen[key] != ranker:
                    raise ConfigError(
                        f"two rankers are called {ranker.label!r}; call one otherwise"
                    )
    if brought and unused and not any(x.partition("+")[0] in unused for x in brought):
        raise ConfigError(
            f"--encoder {min(unused)}: a trained ranker reads the vectors that it was trained on "
            f"({', '.join(sorted(brought))}), and no other ranker is asked for; leave it out"
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
