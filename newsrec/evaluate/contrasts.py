"""Which pairs are tested: every language against English, every system against a reference."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from newsrec.errors import DataError
from newsrec.evaluate.parallel import Parallel
from newsrec.evaluate.report import EvalReport
from newsrec.evaluate.significance import Comparison, holm

#: Encoder of a system that uses none.
NO_ENCODER = "none"

#: Metrics that are tested, where a report has them.
TESTED = ("auc", "mrr", "ndcg@5", "ndcg@10")

#: The same of a re-ranked list against the ranker's own.
VARIETY = (
    "intra_list_distance@10", "category_coverage@10", "theme_coverage@10", "topic_coverage@10",
)  # fmt: skip

#: The metric by which the best baseline of a language is chosen.
CHOSEN_BY = "ndcg@10"


@dataclass(frozen=True, slots=True)
class Contrast:
    """A paired test: (language, encoder, ranker) minus ``against``, on one metric.

    ``kind``: ``language`` (against English), ``first`` (against the first system), ``own order``
    (a re-ranked list against the same ranker's own) or ``best baseline``; Holm's correction runs
    over the languages of one kind, system and metric.
    """

    kind: str
    language: str
    encoder: str
    ranker: str
    against: tuple[str, str, str]
    test: str
    found: Comparison

    def to_json(self) -> dict[str, Any]:
        """Flat fields; None for NaN."""
        x = self.found
        numbers = {
            "difference": x.difference, "low": x.low, "high": x.high, "p": x.p, "p_holm": x.p_holm,
        }  # fmt: skip
        return {
            "kind": self.kind,
            "language": self.language,
            "encoder": self.encoder,
            "ranker": self.ranker,
            "against": dict(zip(("language", "encoder", "ranker"), self.against, strict=True)),
            "metric": x.metric,
            "test": self.test,
            **{k: None if np.isnan(v) else float(v) for k, v in numbers.items()},
            "n": x.n,
        }


def contrasts(
    reports: Sequence[EvalReport],
    source: str = "eng",
    baselines: Iterable[str] = (),
    test: str = "permutation",
    by_reader: bool = False,
) -> list[Contrast]:
    """All paired tests of one experiment, corrected; what chance plays in each is drawn from the
    seed of its report, so that no pair's p depends on what else was evaluated.

    ``reports``: one per system and language. ``baselines``: names of rankers of which, per
    language, the best by `CHOSEN_BY` is a reference for every other ranker. Pairs without a common
    impression are left out; languages that serve too few alike (`Parallel.enough`) have NaN.
    """
    found: list[Contrast] = []
    for kind, report, other in _pairs(reports, source, frozenset(baselines)):
        wanted = (*TESTED, *VARIETY) if kind == "own order" else TESTED
        names = [name for name in wanted if name in report.names]
        try:
            pairs = Parallel.of(report, other)
            if kind == "language" and not pairs.enough:
                compared = [_untested(name, len(pairs)) for name in names]
            else:
                compared = report.compare(other, metrics=names, test=test, by_reader=by_reader)
        except DataError:
            continue
        against = (other.language, *other.system)
        found += [
            Contrast(kind, report.language, *report.system, against, test, x) for x in compared
        ]
    return _corrected(found)


def _untested(name: str, n: int) -> Comparison:
    nan = float("nan")
    return Comparison(name, nan, nan, nan, nan, n)


def _pairs(
    reports: Sequence[EvalReport], source: str, baselines: frozenset[str]
) -> Iterable[tuple[str, EvalReport, EvalReport]]:
    by_key = {(report.system, report.language): report for report in reports}
    first = reports[0].system if reports else ("", "")
    for (system, language), report in by_key.items():
        if language != source and (system, source) in by_key:
            yield "language", report, by_key[system, source]
    for (system, language), report in by_key.items():
        if system != first and (first, language) in by_key:
            yield "first", report, by_key[first, language]
    for (_, language), report in by_key.items():
        own = _own_order(report, [r for r in reports if r.language == language])
        if own is not None:
            yield "own order", report, own
    for (system, language), report in by_key.items():
        best = _best([r for r in reports if r.language == language and r.system[1] in baselines])
        if best is not None and system[1] not in baselines:
            yield "best baseline", report, best


def _own_order(report: EvalReport, others: Sequence[EvalReport]) -> EvalReport | None:
    """The same ranker's list that was not re-ranked, with the same encoder or with none."""
    reranker = report.labels.get("reranker")
    if reranker is None:
        return None
    encoder, ranker = report.system[0], report.system[1].removesuffix(f"+{reranker}")
    found = [r for r in others if r.system[1] == ranker and r.system[0] in (encoder, NO_ENCODER)]
    return found[0] if found else None


def _best(reports: Sequence[EvalReport]) -> EvalReport | None:
    means = [report.mean().get(CHOSEN_BY, float("nan")) for report in reports]
    known = [i for i, mean in enumerate(means) if not np.isnan(mean)]
    return reports[max(known, key=lambda i: means[i])] if known else None


def _corrected(found: list[Contrast]) -> list[Contrast]:
    """Holm over the languages of each (kind, system, metric)."""
    families: dict[tuple[str, ...], list[int]] = {}
    for i, c in enumerate(found):
        # The best baseline differs between languages, so it is no part of the family's name.
        against = c.against[1:] if c.kind == "first" else ()
        families.setdefault((c.kind, c.encoder, c.ranker, c.found.metric, *against), []).append(i)
    for members in families.values():
        adjusted = holm(np.asarray([found[i].found.p for i in members]))
        for i, p in zip(members, adjusted, strict=True):
            found[i] = replace(found[i], found=replace(found[i].found, p_holm=float(p)))
    return found
