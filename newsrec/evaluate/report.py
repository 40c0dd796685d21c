"""`EvalReport`: one system on one language, impression by impression."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from newsrec.errors import ConfigError, DataError, unknown_name
from newsrec.evaluate.significance import (
    Comparison,
    Floats,
    Interval,
    bootstrap_p,
    intervals,
    permutation_p,
)
from newsrec.types import Provenance

if TYPE_CHECKING:
    import pandas

TESTS = {"permutation": permutation_p, "bootstrap": bootstrap_p}


@dataclass(frozen=True, slots=True, eq=False)
class EvalReport:
    """``m`` metrics of ``n`` impressions.

    ``names (m,)``; ``values (m, n) float64``, NaN = undefined; ``rows (n,)``: each impression's
    row in its split (reports are paired by it); ``ids (n,) str``; ``readers (n,)``; ``counts``:
    what was kept, dropped and skipped; ``pooled``: metrics of all impressions together;
    ``skipped``: metric to the reason why this corpus cannot have it; ``groups``: name to labels
    ``(n,) str``; ``labels``: language, encoder, ranker, split, history language;
    ``lists (n,)``: a hash of each list's candidates and clicks, and ``sizes (n,)`` their number
    (None: unknown, and the same in all reports).
    """

    names: tuple[str, ...]
    values: Floats
    rows: NDArray[np.int64]
    ids: NDArray[np.str_]
    readers: NDArray[np.int32]
    counts: Mapping[str, int]
    provenance: Provenance
    pooled: Mapping[str, float] = field(default_factory=dict)
    skipped: Mapping[str, str] = field(default_factory=dict)
    groups: Mapping[str, NDArray[np.str_]] = field(default_factory=dict)
    labels: Mapping[str, str] = field(default_factory=dict)
    lists: NDArray[np.uint64] | None = None
    sizes: NDArray[np.int32] | None = None

    def __post_init__(self) -> None:
        n = len(self.rows)
        if self.values.shape != (len(self.names), n):
            raise DataError(f"values: {self.values.shape}, expected ({len(self.names)}, {n})")
        columns = {"ids": self.ids, "readers": self.readers}
        columns |= {f"groups[{name!r}]": labels for name, labels in self.groups.items()}
        for name, column in (columns | {"lists": self.lists, "sizes": self.sizes}).items():
            if column is not None and column.shape != (n,):
                raise DataError(f"EvalReport.{name}: {column.shape}, expected ({n},)")

    def __len__(self) -> int:
        return len(self.rows)

    def __getitem__(self, name: str) -> Floats:
        """The values of one metric, ``(n,)``."""
        if name not in self.names:
            raise unknown_name("metric of this report", name, self.names)
        values: Floats = self.values[self.names.index(name)]
        return values

    @property
    def language(self) -> str:
        return self.labels.get("language", "")

    @property
    def system(self) -> tuple[str, str]:
        """Encoder and ranker."""
        return self.labels.get("encoder", ""), self.labels.get("ranker", "")

    def mean(self) -> dict[str, float]:
        """Mean over the impressions where each metric is defined, and the pooled metrics."""
        defined = (~np.isnan(self.values)).sum(axis=1)
        sums = np.where(np.isnan(self.values), 0.0, self.values).sum(axis=1)
        means = np.divide(sums, defined, where=defined > 0, out=np.full(len(sums), np.nan))
        return dict(zip(self.names, means.tolist(), strict=True)) | dict(self.pooled)

    def undefined(self) -> dict[str, int]:
        """Impressions without a value, by metric."""
        return dict(zip(self.names, np.isnan(self.values).sum(axis=1).tolist(), strict=True))

    def interval(
        self,
        rng: np.random.Generator | None = None,
        level: float = 0.95,
        samples: int = 1000,
        by_reader: bool = False,
    ) -> dict[str, Interval]:
        """Percentile bootstrap of every mean over impressions, or over readers ``by_reader``.

        ``rng``: default seeded by the provenance. Pooled metrics have NaN bounds.
        """
        clusters = self.readers if by_reader else None
        found = intervals(self.values.T, rng or self._rng(), level, samples, clusters)
        nan = float("nan")
        pooled = {name: Interval(x, nan, nan, len(self)) for name, x in self.pooled.items()}
        return dict(zip(self.names, found, strict=True)) | pooled

    def _rng(self) -> np.random.Generator:
        return np.random.default_rng(self.provenance.seed)

    def take(self, at: NDArray[np.integer] | NDArray[np.bool_]) -> EvalReport:
        """The impressions ``at``; pooled metrics and counts, which are of all, are left out."""
        return replace(
            self,
            values=self.values[:, at],
            rows=self.rows[at],
            ids=self.ids[at],
            readers=self.readers[at],
            groups={name: labels[at] for name, labels in self.groups.items()},
            pooled={},
            counts={"impressions": len(self.rows[at])},
            lists=None if self.lists is None else self.lists[at],
            sizes=None if self.sizes is None else self.sizes[at],
        )

    def by(self, groups: str | NDArray[np.str_]) -> dict[str, EvalReport]:
        """One report for each label of a stored group or of ``groups (n,) str``, by label."""
        if isinstance(groups, str):
            if groups not in self.groups:
                raise unknown_name("group", groups, tuple(self.groups))
            groups = self.groups[groups]
        if len(groups) != len(self):
            raise DataError(f"groups: {len(groups)} labels, expected {len(self)}")
        found = sorted({str(label) for label in np.unique(groups)}, key=_number_first)
        return {label: self.take(groups == label) for label in found}

    def compare(
        self,
        other: EvalReport,
        rng: np.random.Generator | None = None,
        metrics: Sequence[str] | None = None,
        test: str = "permutation",
        by_reader: bool = False,
    ) -> list[Comparison]:
        """Paired on the impressions that both have with the same candidates and clicks: this minus
        ``other``, metric by metric.

        ``test``: ``permutation`` (sign flips) or ``bootstrap``. Raises `DataError` when the two
        come from different corpora or splits, or share no impression.
        """
        if test not in TESTS:
            raise unknown_name("test", test, tuple(TESTS))
        mine, theirs = self.common(other)
        if not len(mine):
            raise DataError("compare: the two reports share no impression with the same candidates")
        names = [name for name in metrics or self.names if name in other.names]
        if not names:
            raise ConfigError("compare: the two reports share no metric")
        generator = rng or self._rng()
        differences = np.stack([self[name][mine] - other[name][theirs] for name in names], axis=1)
        clusters = self.readers[mine] if by_reader else None
        p = TESTS[test](differences, generator, clusters=clusters)
        found = intervals(differences, generator, clusters=clusters)
        return [
            Comparison(name, x.mean, x.low, x.high, float(p[j]), x.n)
            for j, (name, x) in enumerate(zip(names, found, strict=True))
        ]

    def common(self, other: EvalReport) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Positions, here and there, of the impressions with the same candidates and clicks.

        `DataError` when the two come from different corpora or splits.
        """
        here = self.provenance.corpus, self.labels.get("split", "")
        there = other.provenance.corpus, other.labels.get("split", "")
        if here != there:
            raise DataError(f"compare: corpus and split {there}, expected the same as {here}")
        _, mine, theirs = np.intersect1d(
            self.rows, other.rows, assume_unique=True, return_indices=True
        )
        if self.lists is None or other.lists is None:
            return mine, theirs
        same = self.lists[mine] == other.lists[theirs]
        return mine[same], theirs[same]

    def to_json(self, found: Mapping[str, Interval] | None = None) -> dict[str, Any]:
        """``{language, encoder, ranker, metrics: {name: {mean, low, high, n}}, counts}``.

        None stands for undefined. ``found``: intervals computed before, to save the bootstrap.
        """
        encoder, ranker = self.system
        shown = self.interval() if found is None else found
        return {
            "language": self.language,
            "encoder": encoder,
            "ranker": ranker,
            "metrics": {name: interval_json(x) for name, x in shown.items()},
            "counts": dict(self.counts) | {"undefined": self.undefined()},
        }

    def to_markdown(self, found: Mapping[str, Interval] | None = None) -> str:
        """One row per metric, in percent with its interval."""
        from newsrec.evaluate.render import markdown, metric_grid

        return markdown(metric_grid(self, found))

    def to_latex(self, found: Mapping[str, Interval] | None = None) -> str:
        """The same table as LaTeX (booktabs)."""
        from newsrec.evaluate.render import latex, metric_grid

        return latex(metric_grid(self, found))

    def to_pandas(self) -> pandas.DataFrame:
        """One row per impression: row, impression, reader, groups, metrics."""
        import pandas

        columns: dict[str, Any] = {"row": self.rows, "impression": self.ids, "reader": self.readers}
        columns |= {f"group:{name}": labels for name, labels in self.groups.items()}
        columns |= dict(zip(self.names, self.values, strict=True))
        return pandas.DataFrame(columns)

    def save(self, path: Path) -> None:
        """Everything as one parquet file, atomically."""
        from newsrec.evaluate.stored import save

        save(self, path)

    @classmethod
    def load(cls, path: Path) -> EvalReport:
        """What `save` wrote; `DataError` for any other file."""
        from newsrec.evaluate.stored import load

        return load(Path(path))


def _number_first(label: str) -> tuple[int, str]:
    """Labels that begin with a number in the order of the numbers, before all others."""
    digits = label[: len(label) - len(label.lstrip("0123456789"))]
    return (int(digits) if digits else 1 << 62), label


def interval_json(x: Interval) -> dict[str, float | int | None]:
    """``{mean, low, high, n}`` with None for NaN."""
    numbers = {"mean": x.mean, "low": x.low, "high": x.high}
    return {k: None if np.isnan(v) else float(v) for k, v in numbers.items()} | {"n": x.n}


def over_seeds(reports: Sequence[EvalReport]) -> EvalReport:
    """One report of the same system, language and impressions: values averaged over seeds."""
    first = reports[0]
    if len(reports) == 1:
        return first
    for report in reports[1:]:
        if report.names != first.names or not np.array_equal(report.rows, first.rows):
            raise DataError("over_seeds: reports of different metrics or impressions")
    stack = np.stack([report.values for report in reports])
    defined = (~np.isnan(stack)).sum(axis=0)
    sums = np.where(np.isnan(stack), 0.0, stack).sum(axis=0)
    pooled = {k: float(np.mean([report.pooled[k] for report in reports])) for k in first.pooled}
    values = np.divide(sums, defined, where=defined > 0, out=np.full(sums.shape, np.nan))
    return replace(first, values=values, pooled=pooled)
