"""What was measured: every cell as a JSON file, and rows over their seeds."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from math import isnan, sqrt
from pathlib import Path
from typing import Any

import numpy as np

from newsrec.errors import StaleCacheError
from newsrec.evaluate.report import EvalReport
from newsrec.evaluate.significance import bootstrap_means
from newsrec.files import write_json
from newsrec.pipeline.paper.printed import Row
from newsrec.plain import differences

FORMAT = 1
#: Name of the mean over the languages that are not the one trained in.
AVERAGE = "average"

_NAN = float("nan")


@dataclass(frozen=True, slots=True)
class Measured:
    """One metric of one cell or row, in percent: mean, 95 % bounds (NaN for pooled metrics),
    standard deviation over ``seeds`` (NaN for one)."""

    mean: float
    low: float
    high: float
    std: float = _NAN
    seeds: int = 1

    @property
    def half_width(self) -> float:
        """Half of the interval."""
        return (self.high - self.low) / 2


@dataclass(frozen=True, slots=True)
class Found:
    """One cell: ``values[language, metric]``, also for language `AVERAGE`; ``deltas[metric]``: Δ%
    of the average against ``source``; ``impressions`` by language; ``failed``: languages that could
    not be measured, and why; ``made``: what it was made from, ``provenance`` by what."""

    row: Row
    protocol: str
    seed: int
    source: str
    values: Mapping[tuple[str, str], Measured]
    deltas: Mapping[str, float]
    impressions: Mapping[str, int]
    made: Mapping[str, Any]
    seconds: float = _NAN
    provenance: Mapping[str, object] = field(default_factory=dict)
    failed: tuple[tuple[str, str], ...] = ()


def values_of(
    reports: Sequence[EvalReport], source: str, metrics: Sequence[str], seed: int
) -> dict[tuple[str, str], Measured]:
    """Means and intervals of every language, and of the average over all but ``source``.

    The average's interval draws impressions of the split, the same ones for every language: the
    languages of a parallel shelf do not vary independently.
    """
    found = {}
    for report in reports:
        for metric, x in report.interval(np.random.default_rng(seed)).items():
            if metric in metrics:
                found[report.language, metric] = _percent(x.mean, x.low, x.high)
    others = [r for r in reports if r.language != source and "+" not in r.language]
    for metric in metrics if others else ():
        means = [found[r.language, metric].mean for r in others if (r.language, metric) in found]
        if means:
            low, high = _average_bounds(others, metric, seed)
            mean = float(np.mean(means))
            found[AVERAGE, metric] = Measured(mean, 100 * low, 100 * high)
    return found


def delta(values: Mapping[tuple[str, str], Measured], source: str, metric: str) -> float:
    """(average - source) / source in percent; NaN without one of them."""
    both = values.get((AVERAGE, metric)), values.get((source, metric))
    if both[0] is None or both[1] is None or not both[1].mean:
        return _NAN
    return 100 * (both[0].mean - both[1].mean) / both[1].mean


def over_seeds(found: Sequence[Found], language: str, metric: str) -> Measured | None:
    """The mean over seeds.

    Its interval joins what the impressions and what the seeds leave open: half width = sqrt(mean
    bootstrap half width² + (1.96 · std / sqrt(seeds))²).
    """
    cells = [x.values[language, metric] for x in found if (language, metric) in x.values]
    if not cells:
        return None
    k, mean = len(cells), float(np.mean([x.mean for x in cells]))
    std = float(np.std([x.mean for x in cells], ddof=1)) if k > 1 else _NAN
    half = float(np.mean([x.half_width for x in cells]))
    if k > 1:
        half = sqrt(half**2 + (1.96 * std) ** 2 / k)
    return Measured(mean, mean - half, mean + half, std, k)


def _percent(mean: float, low: float, high: float) -> Measured:
    return Measured(100 * mean, 100 * low, 100 * high)


def _average_bounds(reports: Sequence[EvalReport], metric: str, seed: int) -> tuple[float, float]:
    """95 % percentile bounds of the mean of the languages' means."""
    if any(metric not in report.names for report in reports):
        return _NAN, _NAN
    n = 1 + max(int(report.rows.max(initial=-1)) for report in reports)
    sums, counts = np.zeros((n, len(reports))), np.zeros((n, len(reports)))
    for j, report in enumerate(reports):
        known = ~np.isnan(report[metric])
        sums[report.rows[known], j] = report[metric][known]
        counts[report.rows[known], j] = 1
    shown = np.flatnonzero(counts.any(axis=1))
    drawn = bootstrap_means(sums[shown], counts[shown], np.random.default_rng(seed))
    means = drawn[~np.isnan(drawn).any(axis=1)].mean(axis=1)
    if not len(means):
        return _NAN, _NAN
    low, high = np.quantile(means, [0.025, 0.975])
    return float(low), float(high)


def write(found: Found, path: Path) -> None:
    """As JSON, at once or not at all; None stands for NaN."""
    values: dict[str, dict[str, dict[str, Any]]] = {}
    for (language, metric), x in found.values.items():
        values.setdefault(language, {})[metric] = _plain(
            {"mean": x.mean, "low": x.low, "high": x.high}
        )
    body = {
        "format": FORMAT,
        "row": asdict(found.row),
        "protocol": found.protocol,
        "seed": found.seed,
        "source": found.source,
        "values": values,
        "deltas": _plain(found.deltas),
        "impressions": dict(found.impressions),
        "seconds": _plain({"": found.seconds})[""],
        "failed": [list(pair) for pair in found.failed],
        "made": dict(found.made),
        "provenance": dict(found.provenance),
    }
    write_json(path, body)


def read(path: Path, made: Mapping[str, Any]) -> Found | None:
    """What `write` left, or None; `StaleCacheError` when it is damaged or was not ``made`` from
    what is asked for now."""
    if not path.exists():
        return None
    try:
        body = json.loads(path.read_text("utf-8"))
        if body["format"] != FORMAT:
            raise ValueError(f"format {body['format']}, expected {FORMAT}")
        other = differences(body["made"], made)
        if other:
            raise ValueError(other)
        values = {
            (language, metric): Measured(_number(x["mean"]), _number(x["low"]), _number(x["high"]))
            for language, metrics in body["values"].items()
            for metric, x in metrics.items()
        }
        return Found(
            Row(**body["row"]), body["protocol"], body["seed"], body["source"], values,
            {k: _number(v) for k, v in body["deltas"].items()}, body["impressions"], body["made"],
            _number(body["seconds"]), body["provenance"],
            tuple((a, b) for a, b in body["failed"]),
        )  # fmt: skip
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise StaleCacheError(
            f"{path}: not this cell ({' '.join(str(error).split())}); name another --out, or "
            "remove the file to measure it again"
        ) from error


def _plain(numbers: Mapping[str, float]) -> dict[str, float | None]:
    return {key: None if isnan(value) else value for key, value in numbers.items()}


def _number(value: float | None) -> float:
    return _NAN if value is None else float(value)
