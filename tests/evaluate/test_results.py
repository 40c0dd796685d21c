from __future__ import annotations

import json
import math
import zipfile
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from newsrec.evaluate import Results, write_submission
from newsrec.evaluate.contrasts import TESTED, Contrast, contrasts
from newsrec.evaluate.figures import draw, file_name
from newsrec.evaluate.metrics import TIE_RULE
from newsrec.evaluate.render import Grid, latex, markdown, number, text
from newsrec.evaluate.report import EvalReport
from newsrec.evaluate.significance import holm
from newsrec.evaluate.tables import full, screen
from newsrec.types import Provenance
from tests.evaluate.made import impressions

SYSTEMS = (("mini", "fusion", 0.4), ("none", "tfidf", 0.3), ("none", "random", 0.1))
LANGUAGES = (("fin", 0.0), ("eng", 0.05), ("jpn", -0.05))


def _run(
    language: str, system: tuple[str, str], level: float, seed: int = 42, n: int = 60
) -> EvalReport:
    """A report whose metrics are ``level`` with noise."""
    rng = np.random.default_rng([seed, *map(ord, language + system[1])])
    names = ("auc", "mrr", "ndcg@5", "ndcg@10", "calibration_kl@10")
    values = level + 0.05 * rng.standard_normal((5, n))
    return EvalReport(
        names=names,
        values=values,
        rows=np.arange(n),
        ids=np.arange(n).astype(np.str_),
        readers=(np.arange(n) // 2).astype(np.int32),
        counts={"impressions": n + 5, "kept": n, "skipped_without_click": 5},
        provenance=Provenance("", {}, "", "fp", {}, "newsrec", seed),
        pooled={"auc_pooled": level},
        skipped={"story_coverage@10": "no article has a story"},
        groups={"readers": np.where(np.arange(n) < 5, "cold (no history)", "with history")},
        labels={"language": language, "encoder": system[0], "ranker": system[1], "split": "test"},
    )


def results(
    systems: Sequence[tuple[str, str, float]] = SYSTEMS,
    languages: Sequence[tuple[str, float]] = LANGUAGES,
    seeds: Sequence[int] = (42,),
) -> Results:
    runs = [
        _run(language, (encoder, ranker), level + shift, seed)
        for encoder, ranker, level in systems
        for language, shift in languages
        for seed in seeds
    ]
    found = Results.of(runs, {"ties": TIE_RULE}, [("tha", "no article has text in tha")])
    tests = contrasts(found.reports, baselines=("tfidf", "random"))
    return Results(
        found.reports, found.intervals, tuple(tests), found.provenance, found.failed, found.by_seed
    )


def test_the_summary_is_that_of_the_paper() -> None:
    found = results()
    mean = {r.language: r.mean()["mrr"] for r in found.reports if r.system == ("mini", "fusion")}
    summary = found.summary(("mini", "fusion"), "mrr")
    average = (mean["fin"] + mean["jpn"]) / 2
    assert summary["source"] == pytest.approx(mean["eng"])
    assert summary["average"] == pytest.approx(average)
    assert summary["delta"] == pytest.approx((average - mean["eng"]) / mean["eng"])
    assert summary["worst"] == ("jpn", pytest.approx(mean["jpn"]))


def test_without_english_there_is_no_delta() -> None:
    found = results(languages=(("fin", 0.0), ("jpn", 0.0)))
    summary = found.summary(("mini", "fusion"), "mrr")
    assert math.isnan(summary["source"])
    assert math.isnan(summary["delta"])
    assert "Δ%" not in "".join(column for grid in screen(found) for column in grid.columns)


def test_a_mixed_shelf_is_no_part_of_the_average() -> None:
    found = results(languages=(("eng", 0.0), ("fin", 0.0), ("eng+fin", 0.5)))
    mean = {r.language: r.mean()["mrr"] for r in found.reports if r.system == ("mini", "fusion")}
    assert found.summary(("mini", "fusion"), "mrr")["average"] == pytest.approx(mean["fin"])


def test_mixed_shelves_alone_have_an_average() -> None:
    found = results(languages=(("fin+jpn", 0.0), ("eng+fin", 0.5)))
    means = [r.mean()["mrr"] for r in found.reports if r.system == ("mini", "fusion")]
    assert found.summary(("mini", "fusion"), "mrr")["average"] == pytest.approx(np.mean(means))


def test_what_is_no_part_of_the_average_is_told() -> None:
    def notes(*languages: str) -> str:
        found = results(languages=[(language, 0.0) for language in languages])
        return "".join(note for grid in screen(found) for note in grid.notes)

    assert "Mixed shelves (eng+fin) are no part of AVG" in notes("eng", "eng+fin")
    assert "Mixed shelves" not in notes("eng", "fin")
    assert "Mixed shelves" not in notes("eng+fin", "fin+jpn")


def test_every_pair_is_tested_once() -> None:
    tests = results().tests
    pairs = {(t.kind, t.language, t.encoder, t.ranker, t.against) for t in tests}
    assert len(tests) == 4 * len(pairs)
    by_kind = {kind: [p for p in pairs if p[0] == kind] for kind in {p[0] for p in pairs}}
    assert {kind: len(found) for kind, found in by_kind.items()} == {
        "language": 6,  # two languages, three systems
        "first": 6,  # two systems, three languages
        "best baseline": 3,
    }
    assert {p[4] for p in by_kind["best baseline"]} == {
        (language, "none", "tfidf") for language in ("eng", "fin", "jpn")
    }
    assert all(t.against == ("eng", t.encoder, t.ranker) for t in tests if t.kind == "language")


def test_a_pair_is_tested_as_if_it_were_alone() -> None:
    """No p depends on what else was evaluated, and `EvalReport.compare` gives the same."""
    found = {_key(test): test.found for test in results().tests if test.kind == "first"}
    few = results(SYSTEMS[:1] + SYSTEMS[2:]).tests
    alone = {_key(test): test.found for test in few if test.kind == "first"}
    assert alone
    assert all(found[key].p == x.p and found[key].low == x.low for key, x in alone.items())
    reports = {(r.system, r.language): r for r in results().reports}
    for test in results().tests:
        this = reports[(test.encoder, test.ranker), test.language]
        other = reports[test.against[1:], test.against[0]]
        compared = {x.metric: x for x in this.compare(other, metrics=TESTED)}
        assert compared[test.found.metric].p == test.found.p


def _key(test: Contrast) -> tuple[str, ...]:
    return (*test.against, test.language, test.encoder, test.ranker, test.found.metric)


def test_holm_runs_over_the_languages_of_one_system_and_metric() -> None:
    tests = results().tests
    family = [t.found for t in tests
              if (t.kind, t.ranker, t.found.metric) == ("first", "random", "mrr")]  # fmt: skip
    assert len(family) == 3
    np.testing.assert_allclose([x.p_holm for x in family], holm(np.asarray([x.p for x in family])))


def test_seeds_give_a_deviation_of_the_means() -> None:
    found = results(seeds=(42, 43, 44))
    means = [run["means"]["mrr"] for run in found.by_seed
             if run["language"] == "eng" and run["ranker"] == "fusion"]  # fmt: skip
    assert len(means) == 3
    system = ("mini", "fusion")
    assert found.deviation(system, "mrr", ["eng"]) == pytest.approx(np.std(means, ddof=1))
    assert math.isnan(results().deviation(system, "mrr", ["eng"]))
    assert "±" in screen(found)[0].rows[0][3]


def test_json_has_exactly_the_agreed_keys() -> None:
    found = json.loads(json.dumps(results().to_json(), allow_nan=False))
    assert set(found) == {"results", "tests", "provenance"}
    assert len(found["results"]) == 9
    for row in found["results"]:
        assert set(row) == {"language", "encoder", "ranker", "metrics", "counts"}
        for metric in row["metrics"].values():
            assert set(metric) == {"mean", "low", "high", "n"}
    assert found["provenance"]["failed"] == [["tha", "no article has text in tha"]]
    test = found["tests"][0]
    assert test["against"] == {"language": "eng", "encoder": "mini", "ranker": "fusion"}


def test_tables_have_a_cell_for_every_column_and_say_what_matters() -> None:
    for found in (results(), results(SYSTEMS[:1], LANGUAGES[:1]), results(seeds=(1, 2))):
        for grid in [*screen(found), *full(found)]:
            assert all(len(row) == len(grid.columns) for row in grid.rows), grid.title
        shown = "\n".join(text(grid) for grid in screen(found))
        assert TIE_RULE in shown
        assert "story_coverage@10: no article has a story" in shown
        assert "Failed: tha: no article has text in tha" in shown
        assert "skipped without click" in shown
        assert "cold (no history)" in shown


def test_markdown_and_latex_are_whole() -> None:
    for grid in full(results()):
        lines = markdown(grid).splitlines()
        pipes = {line.count("|") - line.count("\\|") for line in lines if line.startswith("|")}
        assert pipes == {len(grid.columns) + 1}
        tex = latex(grid)
        assert tex.count(r"\begin{") == tex.count(r"\end{") == 2
        for line in tex.splitlines():
            if line.endswith(r"\\"):
                assert line.count("&") - line.count(r"\&") == len(grid.columns) - 1
        for special in ("±", "Δ", "–"):
            assert special not in tex


def test_special_signs_are_escaped_in_latex() -> None:
    tex = latex(Grid("50 % of a_b & c", ("x#1",), (("{~^\\}$",),)))
    assert r"50 \% of a\_b \& c" in tex
    assert r"x\#1" in tex
    assert r"\{\textasciitilde{}\textasciicircum{}\textbackslash{}\}\$" in tex


def test_text_columns_line_up_with_wide_characters() -> None:
    shown = text(Grid("t", ("a", "b"), (("日本語", "1"), ("x", "22")))).splitlines()
    assert shown[3:] == ["日本語   1", "x       22"]


@pytest.mark.parametrize(
    ("value", "metric", "shown"),
    [(0.39011, "ndcg@10", "39.01"), (1.2345, "calibration_kl@10", "1.234"),
     (float("nan"), "", "–")],
)  # fmt: skip
def test_numbers_are_percent_but_for_divergences_without_bound(
    value: float, metric: str, shown: str
) -> None:
    assert number(value, metric) == shown


def test_figures_are_pngs_of_a_readable_size(tmp_path: Path) -> None:
    found = results()
    paths = draw(found, tmp_path)
    assert [path.name for path in paths] == [
        "languages_auc.png", "languages_mrr.png", "languages_ndcg_at_5.png",
        "languages_ndcg_at_10.png", "heat_mini_fusion.png", "heat_tfidf.png",
        "heat_random.png",
    ]  # fmt: skip
    for path in paths:
        data = path.read_bytes()
        assert data.startswith(b"\x89PNG")
        width, height = (int.from_bytes(data[i : i + 4], "big") for i in (16, 20))
        assert width > 500
        assert height > 300


def test_figures_of_one_language_and_of_undefined_metrics(tmp_path: Path) -> None:
    one = _run("fin", ("mini", "fusion"), 0.5)
    one.values[:] = np.nan
    assert len(draw(Results.of([one], {}), tmp_path)) == 5
    assert draw(Results.of([], {}), tmp_path) == []


def test_file_names_hold_no_separators() -> None:
    assert file_name("a/b:c=d@10 é") == "a_b_c_d_at_10_é"
    assert file_name("..") == "unnamed"


# --- the leaderboard file


def test_golden_submission_file(tmp_path: Path) -> None:
    # Format of https://msnews.github.io: "ImpressionID [Rank-of-News1,Rank-of-News2,...]".
    made = impressions([[5, 6, 7], [1], [2, 3, 4, 8]], None)
    write_submission(tmp_path / "prediction.zip", np.asarray([0.1, 3, 2, 9, 1, 1, -1, 7]), made)
    with zipfile.ZipFile(tmp_path / "prediction.zip") as archive:
        assert archive.namelist() == ["prediction.txt"]
        assert archive.read("prediction.txt") == b"I0 [3,1,2]\nI1 [1]\nI2 [2,3,4,1]\n"


def test_submissions_of_equal_scores_are_equal_files(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    made = impressions([range(5)] * 50_000, None)
    scores = rng.random(250_000)
    for name in ("a.zip", "b.zip"):
        write_submission(tmp_path / name, scores, made)
    assert (tmp_path / "a.zip").read_bytes() == (tmp_path / "b.zip").read_bytes()
    with zipfile.ZipFile(tmp_path / "a.zip") as archive:
        lines = archive.read("prediction.txt").decode().splitlines()
    assert len(lines) == 50_000
    for i in (0, 19_999, 20_000, 49_999):
        ranks = [int(x) for x in lines[i].split(" ")[1][1:-1].split(",")]
        order = np.argsort(-scores[5 * i : 5 * i + 5])
        assert [ranks[j] for j in order] == [1, 2, 3, 4, 5]


def test_metrics_of_ones_own_choice_are_in_every_table() -> None:
    runs = [
        replace(run, names=("ndcg@7",), values=run.values[:1], pooled={}, skipped={})
        for run in (_run(language, ("mini", "fusion"), 0.4) for language in ("eng", "fin"))
    ]
    grids = {grid.title: grid for grid in screen(Results.of(runs, {}))}
    assert "ndcg@7" in grids["By language"].columns
    assert "ndcg@7" in grids["By readers"].columns
    assert not [title for title in grids if title.startswith("Other metrics")]
