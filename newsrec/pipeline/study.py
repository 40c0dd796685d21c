"""How good are these systems on these languages: the story of an evaluation, top to bottom."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from newsrec.config import ExperimentConfig
from newsrec.errors import DataError, NewsrecError
from newsrec.evaluate.contrasts import contrasts
from newsrec.evaluate.results import Results
from newsrec.pipeline.bench import Bench
from newsrec.pipeline.encoders import OnProgress
from newsrec.pipeline.report_files import write_figures, write_report, write_values
from newsrec.pipeline.scene import labelled
from newsrec.protocols import Encoder, Tracker
from newsrec.track import NoTracker

if TYPE_CHECKING:
    from newsrec.encode import EmbeddingStore


# What a process that is killed without a warning may lose of its report: the tables of hundreds of
# systems take longer to write than the systems to measure.
_EVERY_S = 5.0


def experiment(
    config: ExperimentConfig,
    *,
    folder: Path | None = None,
    tracker: Tracker | None = None,
    store: EmbeddingStore | None = None,
    encoders: Mapping[str, Encoder] | None = None,
    on_progress: OnProgress | None = None,
    on_measured: OnProgress | None = None,
    on_language: Callable[[str, int, int], None] | None = None,
) -> Results:
    """Evaluate every system on every language; files go to ``folder`` (None: nowhere).

    ``encoders``: objects for encoders of the config by name; the others are loaded.

    ``on_progress(done, total)`` is told of texts while they are encoded, ``on_measured`` of runs
    (language × system × seed); ``on_language(code, i, n)`` is told before language ``i`` of ``n``.

    A language that fails is in ``Results.failed`` and costs the others nothing; `DataError` when
    all do. An error or an interrupt leaves the report of what was finished in ``folder``, a kill
    that of a few seconds ago.
    """
    bench = Bench(config, store, on_progress, dict(encoders or {}), on_measured)
    tracker = NoTracker() if tracker is None else tracker
    bench.check()
    labelled(bench.corpus, config.split)
    bench.load()
    results = Results(provenance=bench.provenance("running"))
    written = -_EVERY_S
    try:
        for i, language in enumerate(bench.languages):
            if on_language is not None:
                on_language(language, i + 1, len(bench.languages))
            for found in _with_language(results, bench, language, tracker, folder):
                results = found
                if folder is not None and time.monotonic() - written >= _EVERY_S:
                    write_report(results, config, folder)
                    written = time.monotonic()
        results = _finished(results, bench)
    except BaseException as error:
        # A wrong request leaves nothing; what was ended from outside says so.
        if folder is not None and (results.reports or not isinstance(error, NewsrecError)):
            stopped = bench.provenance(f"stopped by {type(error).__name__}")
            write_report(replace(results, provenance=stopped), config, folder)
        raise
    if folder is not None:
        write_report(results, config, folder)
        write_figures(results, folder)
        tracker.finish(results, folder)
    return results


def _with_language(
    results: Results, bench: Bench, language: str, tracker: Tracker, folder: Path | None
) -> Iterator[Results]:
    """The results with one more system at a time on a language, or with its failure; values are
    written at once."""
    try:
        for runs in bench.evaluate(language):
            for run in runs:
                tracker.log(run)
                if folder is not None:
                    write_values(run, folder)
            results = results.extended(runs, bench.config.by_reader)
            yield results
    except NewsrecError as error:
        if len(bench.languages) == 1:
            raise
        yield replace(results, failed=(*results.failed, (language, str(error))))


def _finished(results: Results, bench: Bench) -> Results:
    """The results with their paired tests; `DataError` when nothing could be evaluated."""
    if not results.reports:
        raise DataError("; ".join(dict.fromkeys(why for _, why in results.failed)))
    config = bench.config
    tests = contrasts(
        results.reports,
        baselines=bench.baselines,
        test=config.test,
        by_reader=config.by_reader,
    )
    return replace(results, tests=tuple(tests), provenance=bench.provenance("finished"))
