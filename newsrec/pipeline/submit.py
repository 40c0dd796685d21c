"""MIND's leaderboard file of one system on one shelf."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from newsrec.config import ExperimentConfig
from newsrec.errors import ConfigError, DataError
from newsrec.evaluate.submission import write_submission
from newsrec.pipeline.bench import Bench
from newsrec.pipeline.encoders import OnProgress
from newsrec.pipeline.scene import whole_scene

if TYPE_CHECKING:
    from newsrec.encode import EmbeddingStore


def submit(
    config: ExperimentConfig,
    path: Path,
    *,
    store: EmbeddingStore | None = None,
    on_progress: OnProgress | None = None,
) -> dict[str, int]:
    """Rank every candidate of every impression of the split and write ``path``.

    Candidates without text on the shelf come last: a leaderboard wants them all. Returns counts.
    `ConfigError` unless there is exactly one system and one language.
    """
    bench = Bench(config, store, on_progress)
    if len(bench.systems) != 1 or len(bench.languages) != 1:
        raise ConfigError(
            f"--submission: {len(bench.systems)} systems on {len(bench.languages)} languages, "
            "expected one of each; name them with --encoder, --ranker, --rerank and --langs"
        )
    bench.check()
    scene = whole_scene(bench.corpus, config, bench.languages[0])
    impressions = scene.impressions
    if not len(impressions):
        raise DataError(f"corpus {bench.corpus.name!r}: split {config.split!r} is empty")
    scores = bench.score(bench.systems[0], scene, config.seeds[0])
    shown = (scene.shelf.of >= 0)[impressions.candidates.values]
    # A re-ranker sees what the reader may see.
    seen = replace(scene, impressions=impressions.keep_candidates(shown))
    scores[shown] = bench.rerank(bench.systems[0], seen, scores[shown], config.seeds[0])
    write_submission(path, np.where(shown, scores, -np.inf), impressions)
    return {
        "impressions": len(impressions),
        "candidates": len(shown),
        "candidates_without_text": int(np.count_nonzero(~shown)),
    }
