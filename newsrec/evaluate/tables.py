"""The tables of an experiment, as `Grid`s: paper 004's form first, then the details."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from newsrec.evaluate.by_language import HEADINGS, languages, lists_notes, shown_metrics
from newsrec.evaluate.contrasts import TESTED, Contrast
from newsrec.evaluate.render import Grid, number, signed, ties_note, with_half_width, with_interval
from newsrec.evaluate.results import (
    SOURCE,
    Results,
    System,
    counts_as_other,
    system_name,
)

_ALPHA = 0.05


def screen(results: Results) -> list[Grid]:
    """What fits a terminal; the files say more."""
    found = [short_summary(results), languages(results, with_half_width)]
    found += short_tests(results)
    found += [grid for grid in groups(results) if grid.columns[0] != "category"]
    other = beyond(results)
    return [*found, *([other] if other.rows or other.notes else []), counts(results)]


def full(results: Results) -> list[Grid]:
    """What goes into the files: also every metric of every language."""
    found = [summary(results), languages(results, with_interval), *tests(results)]
    return [*found, *groups(results), *every_metric(results), counts(results)]


def summary(results: Results) -> Grid:
    """Table 2 of paper 004: per system and metric ENG, AVG over the others, Δ%, worst language."""
    parts, metrics = _parts(results), shown_metrics(results)
    columns = [f"{HEADINGS.get(m, m)} {part}" for m in metrics for part in parts]
    rows = [
        (*system, *(c for m in metrics for c in _summary_cells(results, system, m, parts)))
        for system in results.systems
    ]
    return Grid(_SUMMARY, ("encoder", "ranker", *columns), tuple(rows), _summary_notes(results))


def short_summary(results: Results) -> Grid:
    """The same with a row per metric, for narrow screens."""
    parts = _parts(results)
    rows = [
        (HEADINGS.get(m, m), *system, *_summary_cells(results, system, m, parts))
        for m in shown_metrics(results)
        for system in results.systems
    ]
    columns = ("metric", "encoder", "ranker", *parts)
    return Grid(_SUMMARY, columns, tuple(rows), _summary_notes(results))


_SUMMARY = "Recommendation across languages"


def _parts(results: Results) -> list[str]:
    """Columns of a summary: without English there is no Δ%, with one language no average."""
    several, with_source = len(results.languages) > 1, SOURCE in results.languages
    parts = [SOURCE.upper()] * with_source + ["AVG"] * (several or not with_source)
    return parts + ["Δ%"] * (several and with_source) + ["worst"] * several


def _summary_notes(results: Results) -> tuple[str, ...]:
    notes = [ties_note()]
    if len(results.languages) > 1:
        differ = lists_notes(results)
        change = "mean of the languages' own" if differ else "(AVG − ENG) / ENG"
        notes.insert(0, f"AVG: mean over the languages but English; Δ%: {change}.")
        notes += differ
        mixed = [language for language in results.languages if "+" in language]
        if mixed and len(mixed) < len(results.languages):
            notes.append(f"Mixed shelves ({', '.join(mixed)}) are no part of AVG; see by language.")
    seeds = len({run["seed"] for run in results.by_seed})
    if seeds > 1:
        notes.append(f"± is the standard deviation over {seeds} seeds.")
    return tuple(notes)


def _summary_cells(
    results: Results, system: System, metric: str, parts: Sequence[str]
) -> list[str]:
    found = results.summary(system, metric)
    others = [language for language in results.of_system(system) if counts_as_other(language)]
    worst, lowest = found["worst"]
    cells = {
        SOURCE.upper(): number(found["source"], metric)
        + _deviation(results, system, metric, [SOURCE]),
        "AVG": number(found["average"], metric) + _deviation(results, system, metric, others),
        "Δ%": signed(100 * found["delta"]),
        "worst": f"{number(lowest, metric)} {worst}",
    }
    return [cells[part] for part in parts]


def _deviation(results: Results, system: System, metric: str, chosen: Sequence[str]) -> str:
    value = results.deviation(system, metric, chosen)
    return "" if np.isnan(value) else f"±{number(value, metric)}"


_TITLES = {
    "language": "Languages against English (paired)",
    "first": "Systems against the first (paired)",
    "own order": "Re-ranked lists against the ranker's own order (paired)",
    "best baseline": "Systems against the best baseline of each language (paired)",
}


def tests(results: Results) -> list[Grid]:
    """One table per kind of paired test: differences in points, Holm's p."""
    return [
        _test_grid(
            title,
            [test for test in results.tests if test.kind == kind],
            lists_notes(results) if kind == "language" else (),
        )
        for kind, title in _TITLES.items()
        if any(test.kind == kind for test in results.tests)
    ]


def short_tests(results: Results) -> list[Grid]:
    """The same for one metric: languages by pairs of systems."""
    grids = []
    for kind, title in _TITLES.items():
        found = [test for test in results.tests if test.kind == kind]
        chosen = next((m for m in reversed(TESTED) if any(t.found.metric == m for t in found)), "")
        found = [test for test in found if test.found.metric == chosen]
        if not found:
            continue
        cells = {(test.language, _column(test)): _test_cell(test) for test in found}
        rows, columns = (list(dict.fromkeys(key[i] for key in cells)) for i in (0, 1))
        if len(columns) > len(rows):  # the longer side goes down
            cells = {(b, a): cell for (a, b), cell in cells.items()}
            rows, columns = columns, rows
        body = tuple((row, *(cells.get((row, c), "–") for c in columns)) for row in rows)
        heads = (HEADINGS.get(chosen, chosen), *columns)
        notes = (_test_note(found[0]), *(lists_notes(results) if kind == "language" else ()))
        grids.append(Grid(title, heads, body, notes))
    return grids


def _column(test: Contrast) -> str:
    name = system_name((test.encoder, test.ranker))
    return f"{name} − {system_name(test.against[1:])}" if test.kind == "first" else name


def _test_note(test: Contrast) -> str:
    how = "sign-flip permutation" if test.test == "permutation" else "bootstrap"
    return f"Difference in points, p of a paired {how} test, Holm over languages; * p < {_ALPHA}."


def _test_grid(title: str, found: Sequence[Contrast], notes: tuple[str, ...]) -> Grid:
    metrics = list(dict.fromkeys(test.found.metric for test in found))
    rows: dict[tuple[str, ...], dict[str, Contrast]] = {}
    for test in found:
        against = test.against[0] if test.kind == "language" else system_name(test.against[1:])
        key = (test.language, test.encoder, test.ranker, against)
        rows.setdefault(key, {})[test.found.metric] = test
    cells = [
        (*key, *(_test_cell(by_metric.get(m)) for m in metrics), str(_pairs_of(by_metric)))
        for key, by_metric in rows.items()
    ]
    heads = [HEADINGS.get(m, m) for m in metrics]
    columns = ("language", "encoder", "ranker", "against", *heads, "pairs")
    return Grid(title, columns, tuple(cells), (_test_note(found[0]), *notes))


def _pairs_of(by_metric: dict[str, Contrast]) -> int:
    return max(test.found.n for test in by_metric.values())


def _test_cell(test: Contrast | None) -> str:
    if test is None or np.isnan(test.found.difference):
        return "–"
    p = test.found.p_holm
    shown = "p<.001" if p < 0.001 else f"p={p:.3f}".replace("0.", ".")
    return f"{signed(100 * test.found.difference)} {shown}{'*' if p < _ALPHA else ''}"


def groups(results: Results) -> list[Grid]:
    """One table per kind of group: mean over languages of each system's means."""
    names = dict.fromkeys(name for report in results.reports for name in report.groups)
    # Pooled metrics are of all impressions together, never of a group.
    each = {name for report in results.reports for name in report.names}
    metrics = [m for m in shown_metrics(results) if m in each]
    return [_group_grid(results, name, metrics) for name in names] if metrics else []


def _group_grid(results: Results, name: str, metrics: Sequence[str]) -> Grid:
    rows = []
    for system in results.systems:
        collected: dict[str, list[dict[str, float]]] = {}
        sizes: dict[str, int] = {}
        for report, _ in results.of_system(system).values():
            for label, part in report.by(name).items() if name in report.groups else ():
                collected.setdefault(label, []).append(part.mean())
                sizes[label] = sizes.get(label, 0) + len(part)
        for label, means in collected.items():
            values = [_mean([m.get(metric, np.nan) for m in means]) for metric in metrics]
            rows.append((label, *system, *map(number, values), str(sizes[label])))
    heads = [HEADINGS.get(m, m) for m in metrics]
    several = len(results.languages) > 1
    note = ("Mean over languages; impressions are summed over them.",) if several else ()
    columns = (name, "encoder", "ranker", *heads, "impressions")
    return Grid(f"By {name}", columns, tuple(rows), note)


def _mean(values: Sequence[float]) -> float:
    known = [value for value in values if not np.isnan(value)]
    return float(np.mean(known)) if known else float("nan")


def beyond(results: Results) -> Grid:
    """Every other metric: mean over languages, a column per system."""
    main = shown_metrics(results)
    columns: dict[System, dict[str, float]] = {}
    for system in results.systems:
        found = [means for _, means in results.of_system(system).values()]
        names = dict.fromkeys(name for means in found for name in means)
        columns[system] = {m: _mean([x[m].mean for x in found if m in x]) for m in names}
    names = dict.fromkeys(name for means in columns.values() for name in means)
    rows = tuple(
        (name, *(number(means.get(name, np.nan), name) for means in columns.values()))
        for name in names
        if name not in main
    )
    title = "Other metrics" + (", mean over languages" if len(results.languages) > 1 else "")
    return Grid(title, ("metric", *map(system_name, columns)), rows, skipped_notes(results))


def skipped_notes(results: Results) -> tuple[str, ...]:
    """Why a metric is missing, each reason once."""
    reasons: dict[str, list[str]] = {}
    for report in results.reports:
        for name, reason in report.skipped.items():
            names = reasons.setdefault(reason, [])
            if name not in names:
                names.append(name)
    return tuple(f"Left out: {', '.join(names)}: {reason}." for reason, names in reasons.items())


def every_metric(results: Results) -> list[Grid]:
    """Per system: a row per metric, a column per language."""
    grids = []
    for system in results.systems:
        found = results.of_system(system)
        names = dict.fromkeys(name for _, means in found.values() for name in means)
        rows = tuple(
            (m, *(number(x[m].mean, m) if m in x else "–" for _, x in found.values()))
            for m in names
        )
        title = f"All metrics: {system_name(system)}"
        grids.append(Grid(title, ("metric", *found), rows, skipped_notes(results)))
    return grids


def counts(results: Results) -> Grid:
    """What was kept, dropped and skipped in each language, and what failed."""
    first: dict[str, dict[str, int]] = {}
    for report in results.reports:
        first.setdefault(report.language, dict(report.counts))
    keys = dict.fromkeys(key for found in first.values() for key in found)
    used = [key for key in keys if any(found.get(key) for found in first.values())]
    rows = tuple(
        (key.replace("_", " "), *(str(found.get(key, 0)) for found in first.values()))
        for key in used
    )
    failed = tuple(f"Failed: {what}: {why}" for what, why in results.failed)
    return Grid("Kept and dropped", ("count", *first), rows, failed)
