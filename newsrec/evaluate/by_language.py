"""The table of languages, and what it says where they do not serve the same lists."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from newsrec.evaluate.contrasts import TESTED
from newsrec.evaluate.parallel import MINIMUM
from newsrec.evaluate.render import Grid, signed
from newsrec.evaluate.report import EvalReport
from newsrec.evaluate.results import SOURCE, Results
from newsrec.evaluate.significance import Interval

HEADINGS = {"auc": "AUC", "mrr": "MRR", "ndcg@5": "nDCG@5", "ndcg@10": "nDCG@10"}


def shown_metrics(results: Results) -> tuple[str, ...]:
    """Metrics of the main tables that the reports have, else their first four."""
    have = [name for name in TESTED if any(name in report.names for report in results.reports)]
    extra = [k for k in ("auc_torchmetrics",) if any(k in r.pooled for r in results.reports)]
    return tuple(have + extra) or (results.reports[0].names[:4] if results.reports else ())


def languages(results: Results, cell: Callable[[Interval, str], str]) -> Grid:
    """A row per system and language, with intervals and Δ% against English.

    Where languages serve different lists also the candidates of a mean list, and the impressions
    that English serves with the same ones.
    """
    metrics = shown_metrics(results)
    by = next((m for m in reversed(TESTED) if m in metrics), "")
    compared = bool(by) and SOURCE in results.languages and len(results.languages) > 1
    differ = _differ(results)
    rows = []
    for system in results.systems:
        for language, (report, means) in results.of_system(system).items():
            cells = [cell(means[m], m) if m in means else "–" for m in metrics]
            if compared:
                here = 100 * results.change(system, language, by)
                cells.append("" if language == SOURCE else signed(here))
            cells.append(str(len(report)))
            if differ:
                pairs = results.parallel(system, language)
                cells += [_candidates(report), "–" if pairs is None else str(len(pairs))]
            rows.append((language, *system, *cells))
    heads = [HEADINGS.get(m, m) for m in metrics]
    change = (f"Δ% {HEADINGS[by]}",) if compared else ()
    extra = ("candidates", f"as in {SOURCE.upper()}") if differ else ()
    notes = ("95 % percentile bootstrap over impressions.", *lists_notes(results))
    columns = ("language", "encoder", "ranker", *heads, *change, "impressions", *extra)
    return Grid("By language", columns, tuple(rows), notes)


def lists_notes(results: Results) -> tuple[str, ...]:
    """What is compared where languages serve different lists, and which are not."""
    if not _differ(results):
        return ()
    few: dict[str, int] = {}
    for system in results.systems:
        for language in results.of_system(system):
            pairs = results.parallel(system, language)
            if pairs is not None and not pairs.enough:
                few[language] = len(pairs)
    said = (
        "Languages serve different lists here: their means are not comparable. Δ% and tests use "
        "only impressions that both serve with the same candidates and clicks."
    )
    if not few:
        return (said,)
    told = ", ".join(f"{language} {n}" for language, n in few.items())
    return said, f"–: fewer than {MINIMUM} such impressions ({told})."


def _differ(results: Results) -> bool:
    """Whether some language serves other lists than English."""
    pairs = (results.parallel(r.system, r.language) for r in results.reports)
    return any(pair is not None and not pair.whole for pair in pairs)


def _candidates(report: EvalReport) -> str:
    """Candidates of a mean list."""
    return "–" if report.sizes is None else f"{float(np.mean(report.sizes)):.1f}"
