"""Clicks to trained heads, and how good they are: the story of a training, top to bottom."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from newsrec.config import TrainConfig
from newsrec.evaluate.results import Results
from newsrec.pipeline.encoders import OnProgress
from newsrec.pipeline.runs import OnEpoch
from newsrec.pipeline.school import School
from newsrec.protocols import Encoder, TrainTracker
from newsrec.rank.peers import Peers
from newsrec.track import NoTrainTracker

if TYPE_CHECKING:
    from newsrec.encode import EmbeddingStore


def train(
    config: TrainConfig,
    folder: Path,
    *,
    store: EmbeddingStore | None = None,
    encoders: Mapping[str, Encoder] | None = None,
    tracker: TrainTracker | None = None,
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
    tracker = NoTrainTracker() if tracker is None else tracker
    school = School(config, folder, store, on_progress, dict(encoders or {}), tracker)
    school.check()
    for language in school.languages:
        lesson = school.lesson(language)
        lesson.usable(max((shots for shots in school.shots if shots is not None), default=0))
        for run in school.runs(language):
            school.fit(run, lesson, on_epoch)
    if Peers.here().rank:  # one process measures
        return None
    return school.measure(on_measured)


def check(config: TrainConfig, folder: Path) -> None:
    """Raises what `train` would for a request that is wrong in itself."""
    School(config, folder).check()
