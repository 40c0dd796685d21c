"""How much variety a corpus can bear: the story of ``newsrec tune-diversity``."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from newsrec.config import ExperimentConfig, RerankerConfig
from newsrec.errors import ConfigError
from newsrec.evaluate.run import Shown, expand
from newsrec.evaluate.tradeoff import ACCURACY, TradeOff
from newsrec.evaluate.tuning import Tuning
from newsrec.pipeline.bench import Bench
from newsrec.pipeline.encoders import OnProgress
from newsrec.pipeline.scene import Scene, labelled, make_scene
from newsrec.pipeline.systems import System
from newsrec.pipeline.themes import NONE
from newsrec.pipeline.tradeoff import WEIGHTS, check_weights, trade_off
from newsrec.protocols import Encoder
from newsrec.rerank.greedy import Weighted
from newsrec.spelling import NO_RERANKER

if TYPE_CHECKING:
    from newsrec.encode import EmbeddingStore

#: ``--rerank all``.
ALL = "all"


def every(clusters: str | None) -> list[str]:
    """Every re-ranker of the table, over themes and topics, or over categories with ``none``."""
    coarse, fine = ("category", "category") if clusters == NONE else ("theme", "topic")
    return [
        "mmr", "dpp", f"xquad:aspect={fine}", f"pm2:aspect={fine}", f"calibrated:aspect={coarse}",
        f"manner:weights={{{coarse}: -1}}", f"quota:at_most={{{fine}: 1}}",
    ]  # fmt: skip


def tune_diversity(
    config: ExperimentConfig,
    *,
    weights: Sequence[float] = WEIGHTS,
    loss: float = 0.02,
    store: EmbeddingStore | None = None,
    encoders: Mapping[str, Encoder] | None = None,
    on_progress: OnProgress | None = None,
    on_measured: OnProgress | None = None,
    check_places: Callable[[Bench], None] | None = None,
) -> Tuning:
    """Trade-off curves of the config's re-rankers on its languages, with one encoder and ranker.

    ``weights``: relevance weights to try (1 is always tried); ``loss``: the share of nDCG@10 that
    variety may cost; ``check_places`` is told of the opened bench before the work. Raises
    `ConfigError` for several encoders or rankers, a re-ranker with a relevance weight of its own,
    weights or a loss outside [0, 1); `DataError` as `newsrec.pipeline.study.experiment` does.
    """
    if not 0 <= loss < 1:
        raise ConfigError(f"--loss: {loss!r}, expected a share from 0 to below 1, such as 0.02")
    check_weights(weights)
    for reranking in config.rerankers:
        _check_open(reranking)
    bench = Bench(config, store, on_progress, dict(encoders or {}), on_measured)
    if len(config.encoders) > 1 or len(config.rankers) > 1:
        raise ConfigError("tune-diversity: one encoder and one ranker at a time")
    bench.check()
    labelled(bench.corpus, config.split)
    if check_places is not None:
        check_places(bench)
    bench.load()
    grid = tuple(float(weight) for weight in weights)
    curves = {language: dict(_curves(bench, language, grid)) for language in bench.languages}
    provenance = bench.provenance("finished") | {"weights": list(grid), "loss": loss}
    return Tuning(curves, loss, provenance)


def _check_open(reranking: RerankerConfig) -> None:
    if reranking.name == NO_RERANKER:
        raise ConfigError("tune-diversity: 'none' has no diversity to tune; name a re-ranker")
    if "relevance_weight" in reranking.options:
        raise ConfigError(
            f"re-ranker {reranking.label!r}: relevance_weight is what is tuned; leave it out"
        )


def _curves(
    bench: Bench, language: str, weights: Sequence[float]
) -> Iterator[tuple[str, TradeOff]]:
    """Each re-ranker's label and its curve on one shelf."""
    config, seed = bench.config, bench.config.seeds[0]
    scene = make_scene(bench.corpus, config, language)
    shown = bench.shown(scene, bench.distance_vectors(scene))
    scores = bench.score(bench.systems[0], scene, seed)
    done = bench.languages.index(language) * len(bench.systems)
    for i, system in enumerate(bench.systems):
        if bench.on_measured is not None:
            bench.on_measured(done + i, len(bench.languages) * len(bench.systems))
        yield system.reranking.label, _curve(bench, system, scene, shown, scores, weights)


def _curve(
    bench: Bench, system: System, scene: Scene, shown: Shown, scores: Any, weights: Sequence[float]
) -> TradeOff:
    reranker = system.reranker
    if not isinstance(reranker, Weighted):
        raise ConfigError(f"re-ranker {system.reranking.label!r} has no relevance weight to tune")
    metrics = expand((ACCURACY, *bench.config.metrics))
    return trade_off(
        scores,
        shown,
        lambda weight: replace(reranker, relevance_weight=weight),  # type: ignore[type-var]
        bench.origin({}, bench.config.seeds[0]),
        weights=weights,
        metrics=metrics,
        seen=bench.pooled(system, scene, bench.config.seeds[0]),
    )
