"""Several systems on several languages: what an experiment found."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from newsrec.evaluate.contrasts import NO_ENCODER, Contrast
from newsrec.evaluate.parallel import Parallel
from newsrec.evaluate.report import EvalReport, over_seeds
from newsrec.evaluate.significance import Interval

#: The language that the others are compared with.
SOURCE = "eng"

System = tuple[str, str]


@dataclass(frozen=True, slots=True, eq=False)
class Results:
    """``reports``: one per system and language, averaged over seeds; ``intervals`` of each;
    ``tests``: paired; ``failed``: ``(what, why)`` of languages that could not be evaluated;
    ``by_seed``: means of every single run; ``provenance`` of the whole."""

    reports: tuple[EvalReport, ...] = ()
    intervals: tuple[Mapping[str, Interval], ...] = ()
    tests: tuple[Contrast, ...] = ()
    provenance: Mapping[str, object] = field(default_factory=dict)
    failed: tuple[tuple[str, str], ...] = ()
    by_seed: tuple[Mapping[str, Any], ...] = ()
    _found: dict[tuple[System, str], Parallel] = field(default_factory=dict, init=False, repr=False)

    @classmethod
    def of(
        cls,
        runs: Sequence[EvalReport],
        provenance: Mapping[str, object],
        failed: Sequence[tuple[str, str]] = (),
        by_reader: bool = False,
    ) -> Results:
        """From single runs, one per system, language and seed."""
        empty = cls(provenance=provenance, failed=tuple(failed))
        return empty.extended(runs, by_reader)

    def extended(self, runs: Sequence[EvalReport], by_reader: bool = False) -> Results:
        """With the runs of further languages; only their intervals are computed."""
        grouped: dict[tuple[System, str], list[EvalReport]] = {}
        for run in runs:
            grouped.setdefault((run.system, run.language), []).append(run)
        reports = tuple(over_seeds(same) for same in grouped.values())
        return replace(
            self,
            reports=self.reports + reports,
            intervals=self.intervals + tuple(r.interval(by_reader=by_reader) for r in reports),
            by_seed=self.by_seed + tuple(_means(run) for run in runs),
        )

    @property
    def systems(self) -> tuple[System, ...]:
        return tuple(dict.fromkeys(report.system for report in self.reports))

    @property
    def languages(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(report.language for report in self.reports))

    def of_system(self, system: System) -> dict[str, tuple[EvalReport, Mapping[str, Interval]]]:
        """``{language: (report, intervals)}`` of one system, the source language first."""
        pairs = zip(self.reports, self.intervals, strict=True)
        found = {r.language: (r, x) for r, x in pairs if r.system == system}
        return dict(sorted(found.items(), key=lambda item: item[0] != SOURCE))

    def summary(self, system: System, metric: str) -> dict[str, Any]:
        """``source``; ``average`` over the other languages (`counts_as_other`; over mixed shelves
        where there is nothing else); ``delta``: mean of their `change`, which is (average - source)
        / source where all serve the same lists; ``worst``: the language with the lowest mean, and
        its mean. NaN where unknown."""
        means = {
            language: found[metric].mean
            for language, (_, found) in self.of_system(system).items()
            if metric in found and not np.isnan(found[metric].mean)
        }
        source = means.get(SOURCE, float("nan"))
        others = [value for language, value in means.items() if counts_as_other(language)]
        if not others and SOURCE not in means:  # mixed shelves alone
            others = list(means.values())
        average = float(np.mean(others)) if others else float("nan")
        changes = [self.change(system, x, metric) for x in means if counts_as_other(x)]
        known = [change for change in changes if not np.isnan(change)]
        worst = min(means, key=lambda language: means[language], default="")
        return {
            "source": source,
            "average": average,
            "delta": float(np.mean(known)) if known else float("nan"),
            "worst": (worst, means.get(worst, float("nan"))),
        }

    def parallel(self, system: System, language: str) -> Parallel | None:
        """What the language and the source serve alike; None for the source or without it."""
        key = system, language
        if key not in self._found:
            by_language = self.of_system(system)
            if language == SOURCE or SOURCE not in by_language or language not in by_language:
                return None
            report, source = by_language[language][0], by_language[SOURCE][0]
            self._found[key] = Parallel.of(report, source)
        return self._found[key]

    def change(self, system: System, language: str, metric: str) -> float:
        """(mean - source) / source over the impressions that both serve alike (`Parallel`).

        NaN where these are too few, and for pooled metrics where they are not all.
        """
        pairs = self.parallel(system, language)
        if pairs is None or not pairs.enough:
            return float("nan")
        by_language = self.of_system(system)
        (report, means), (source, sources) = by_language[language], by_language[SOURCE]
        if metric not in means or metric not in sources:
            return float("nan")
        if pairs.whole:
            return delta(means[metric].mean, sources[metric].mean)
        if metric not in report.names or metric not in source.names:
            return float("nan")
        mine, theirs = report[metric][pairs.mine], source[metric][pairs.other]
        both = ~np.isnan(mine) & ~np.isnan(theirs)
        if not both.any():
            return float("nan")
        return delta(float(mine[both].mean()), float(theirs[both].mean()))

    def deviation(self, system: System, metric: str, languages: Iterable[str]) -> float:
        """Standard deviation over seeds of the mean over ``languages``; NaN with one seed."""
        chosen = set(languages)
        by_seed: dict[int, list[float]] = {}
        for run in self.by_seed:
            value = run["means"].get(metric)
            if (run["encoder"], run["ranker"]) == system and run["language"] in chosen:
                by_seed.setdefault(run["seed"], []).append(np.nan if value is None else value)
        means = [float(np.mean(values)) for values in by_seed.values()]
        return float(np.std(means, ddof=1)) if len(means) > 1 else float("nan")

    def to_json(self) -> dict[str, Any]:
        """``{results, tests, provenance}``; None stands for undefined."""
        pairs = zip(self.reports, self.intervals, strict=True)
        provenance = dict(self.provenance) | {"failed": [list(pair) for pair in self.failed]}
        if len({run["seed"] for run in self.by_seed}) > 1:
            provenance["by_seed"] = list(self.by_seed)
        return {
            "results": [report.to_json(found) for report, found in pairs],
            "tests": [test.to_json() for test in self.tests],
            "provenance": provenance,
        }


def system_name(system: Sequence[str]) -> str:
    """``mini fusion``, ``tfidf``."""
    return " ".join(part for part in system if part not in ("", NO_ENCODER))


def _means(run: EvalReport) -> dict[str, Any]:
    """The means of one run, as JSON."""
    return {
        "language": run.language,
        "encoder": run.system[0],
        "ranker": run.system[1],
        "seed": run.provenance.seed,
        "means": {k: _plain(v) for k, v in run.mean().items()},
    }


def counts_as_other(language: str) -> bool:
    """Whether AVG covers it: not the source, and no mixed shelf (``eng+fin``)."""
    return language != SOURCE and "+" not in language


def delta(value: float, source: float) -> float:
    """Relative difference ``(value - source) / source``; NaN where the source is 0 or unknown."""
    return (value - source) / source if source else float("nan")


def _plain(value: float) -> float | None:
    return None if np.isnan(value) else value
