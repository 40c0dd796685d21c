from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from newsrec.errors import ConfigError, DataError
from newsrec.evaluate import EvalReport, Shown, evaluate
from newsrec.evaluate.groups import COLD, WARM, group_labels
from newsrec.evaluate.metrics import Ranking, measure
from newsrec.evaluate.report import over_seeds
from newsrec.evaluate.run import SETS, expand
from newsrec.types import Ragged
from tests.evaluate.made import PROVENANCE, drawn, impressions, news


def report(
    seed: int = 0, *, n: int = 150, labels: dict[str, str] | None = None, noise: float = 1.0
) -> EvalReport:
    """A report of a system that knows the clicks up to ``noise``."""
    made, _ = drawn(np.random.default_rng(7), n=n, n_news=60)
    assert made.clicked is not None
    rng = np.random.default_rng(seed)
    scores = made.clicked + noise * rng.standard_normal(len(made.clicked))
    table = news(rng.integers(0, 5, 60).tolist())
    shown = Shown(
        made, np.arange(n), table, groups=group_labels(made, table, made.history_lengths),
        counts={"impressions": n + 3, "kept": n},
    )  # fmt: skip
    said = {"language": "fin", "encoder": "mini", "ranker": "fusion", "split": "test"}
    return evaluate(
        scores, shown, PROVENANCE, rng, ("accuracy", "diversity"), said | (labels or {})
    )


def test_values_are_those_of_the_metrics_and_what_is_missing_is_said() -> None:
    made, scores = drawn(np.random.default_rng(0))
    shown = Shown(made, np.arange(len(made)), news([0, 1] * 30))
    found = evaluate(
        scores, shown, PROVENANCE, np.random.default_rng(0), ("accuracy", "diversity", "radio")
    )
    ranking = Ranking.of(scores, made)
    for name in ("auc", "ndcg@10", "recall@10"):
        np.testing.assert_array_equal(found[name], measure(name, ranking))
    assert set(found.pooled) == {"auc_pooled", "gini@10"}
    assert found.skipped["story_coverage@10"] == "no article has a story"
    assert "affect" in found.skipped["radio_activation@10"]
    assert "radio_fragmentation@10" in found.names
    assert found.mean()["auc_pooled"] == found.pooled["auc_pooled"]


def test_means_leave_out_what_is_undefined_and_count_it() -> None:
    made = impressions([[0, 1], [2, 3], [4]], [[1, 0], [0, 0], [1]])
    shown = Shown(made, np.arange(3), news([0] * 5))
    found = evaluate(np.arange(5.0), shown, PROVENANCE, np.random.default_rng(0), ("accuracy",))
    assert found.mean()["auc"] == 0.0
    assert found.undefined()["auc"] == 2
    assert found.mean()["mrr"] == 0.75
    assert found.undefined()["mrr"] == 1
    assert found.interval()["mrr"].n == 2


def test_unlabelled_or_empty_impressions_are_refused() -> None:
    rng = np.random.default_rng(0)
    blind = Shown(impressions([[0]], None), np.arange(1), news([0]))
    with pytest.raises(DataError, match="no labels"):
        evaluate(np.zeros(1), blind, PROVENANCE, rng)
    with pytest.raises(DataError, match="no impression"):
        evaluate(np.zeros(0), Shown(impressions([], []), np.arange(0), news([0])), PROVENANCE, rng)


def test_intervals_are_the_same_again_and_readers_widen_them() -> None:
    found = report()
    assert repr(found.interval()) == repr(found.interval())
    rng = np.random.default_rng(0)
    plain = found.interval(rng)["ndcg@10"]
    by_reader = found.interval(np.random.default_rng(0), by_reader=True)["ndcg@10"]
    assert plain.low < plain.mean < plain.high
    assert plain != by_reader
    assert plain.mean == pytest.approx(by_reader.mean)


def test_groups_are_parts_that_sum_to_the_whole() -> None:
    found = report()
    parts = found.by("readers")
    assert set(parts) == {COLD, WARM}
    assert sum(len(part) for part in parts.values()) == len(found)
    cold = found.groups["readers"] == COLD
    assert parts[COLD].mean()["mrr"] == pytest.approx(float(found["mrr"][cold].mean()))
    assert "auc_pooled" not in parts[COLD].mean()
    with pytest.raises(ConfigError, match=r"unknown group 'reader'.*Did you mean 'readers'"):
        found.by("reader")
    with pytest.raises(DataError, match="1 labels, expected 150"):
        found.by(np.asarray(["a"]))


def test_history_lengths_come_in_the_order_of_numbers() -> None:
    lengths = np.asarray([0, 1, 5, 6, 10, 11, 20, 21, 50, 51, 900])
    made = impressions([[0, 1]] * 11, [[1, 0]] * 11)
    labels = group_labels(made, news([0, 1]), lengths)["history length"]
    assert labels.tolist() == [
        "0", "1–5", "1–5", "6–10", "6–10", "11–20", "11–20", "21–50", "21–50", "51+", "51+",
    ]  # fmt: skip
    base = report(n=11)
    assert list(base.by(labels)) == ["0", "1–5", "6–10", "11–20", "21–50", "51+"]


def test_the_category_of_a_group_is_that_of_the_click() -> None:
    made = impressions([[0, 1], [0, 1], [2, 0], [0, 3]], [[1, 0], [1, 1], [1, 0], [1, 1]])
    labels = group_labels(made, news([0, 1, -1, 0]), np.zeros(4, np.int64))["category"]
    assert labels.tolist() == ["c0", "(several)", "(unknown)", "c0"]
    assert "category" not in group_labels(made, news([-1] * 4), np.zeros(4, np.int64))


def test_a_better_system_is_found_and_an_equal_one_is_not() -> None:
    good, bad, again = report(1, noise=0.3), report(2, noise=3.0), report(1, noise=0.3)
    for test in ("permutation", "bootstrap"):
        better = good.compare(bad, np.random.default_rng(0), ["ndcg@10", "mrr"], test)
        assert [x.metric for x in better] == ["ndcg@10", "mrr"]
        assert all(x.p < 0.01 and x.low > 0 and x.n == 150 for x in better)
        means = good.mean()["mrr"] - bad.mean()["mrr"]
        assert better[1].difference == pytest.approx(means)
        same = good.compare(again, np.random.default_rng(0), ["mrr"], test)[0]
        assert (same.difference, same.p) == (0.0, 1.0)


def test_only_common_impressions_are_compared() -> None:
    one, other = report(1), report(2)
    found = one.take(np.arange(0, 100)).compare(other.take(np.arange(50, 150)), metrics=["mrr"])[0]
    middle = np.arange(50, 100)
    assert found.n == 50
    expected = float((one["mrr"][middle] - other["mrr"][middle]).mean())
    assert found.difference == pytest.approx(expected)


def test_reports_that_do_not_belong_together_are_refused() -> None:
    one = report()
    elsewhere = replace(one, provenance=replace(PROVENANCE, corpus="other"))
    with pytest.raises(DataError, match="expected the same as"):
        one.compare(elsewhere)
    with pytest.raises(DataError, match="split"):
        one.compare(report(labels={"split": "valid"}))
    with pytest.raises(DataError, match="share no impression"):
        one.take(np.arange(5)).compare(one.take(np.arange(5, 9)))
    with pytest.raises(ConfigError, match="share no metric"):
        one.compare(one, metrics=["nothing"])
    with pytest.raises(ConfigError, match="unknown test 'permutations'"):
        one.compare(one, test="permutations")


def test_save_and_load_give_the_same_report(tmp_path: Path) -> None:
    found = replace(report(), pooled={"auc_pooled": 0.5, "gini@10": float("nan")})
    found.save(tmp_path / "report.parquet")
    again = EvalReport.load(tmp_path / "report.parquet")
    for name in ("values", "rows", "ids", "readers"):
        np.testing.assert_array_equal(getattr(again, name), getattr(found, name))
    for name in ("names", "counts", "provenance", "skipped", "labels"):
        assert getattr(again, name) == getattr(found, name)
    assert again.pooled["auc_pooled"] == 0.5
    assert np.isnan(again.pooled["gini@10"])
    for name, labels in found.groups.items():
        np.testing.assert_array_equal(again.groups[name], labels)


def test_a_damaged_report_is_told_or_readable(tmp_path: Path) -> None:
    """Whatever eight bytes are wrong: a `DataError`, or a report."""
    path, found = tmp_path / "x.parquet", []
    report().save(path)
    data = path.read_bytes()
    for start in range(0, len(data) - 8, 61):
        wrong = bytes(byte ^ 0x55 for byte in data[start : start + 8])
        path.write_bytes(data[:start] + wrong + data[start + 8 :])
        try:
            found.append(type(EvalReport.load(path)))
        except DataError as error:
            found.append(type(error))
    assert set(found) == {EvalReport, DataError}


def test_other_files_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "x.parquet"
    path.write_bytes(b"PAR1 nothing")
    with pytest.raises(DataError, match=r"x\.parquet: not a Parquet file of an evaluation"):
        EvalReport.load(path)
    with pytest.raises(DataError, match="cannot be read"):
        EvalReport.load(tmp_path / "absent.parquet")
    report().to_pandas().to_parquet(path)
    with pytest.raises(DataError, match="no newsrec report inside"):
        EvalReport.load(path)


def test_json_has_the_agreed_keys_and_no_nan() -> None:
    found = report().to_json()
    assert set(found) == {"language", "encoder", "ranker", "metrics", "counts"}
    assert set(found["metrics"]["ndcg@10"]) == {"mean", "low", "high", "n"}
    assert found["metrics"]["auc_pooled"]["low"] is None
    assert found["counts"]["kept"] == 150
    json.dumps(found, allow_nan=False)


def test_pandas_has_a_row_per_impression() -> None:
    found = report()
    frame = found.to_pandas()
    assert len(frame) == 150
    assert frame["ndcg@10"].mean() == pytest.approx(found.mean()["ndcg@10"])
    assert {"row", "impression", "reader", "group:readers"} <= set(frame.columns)


def test_markdown_and_latex_say_the_tie_rule() -> None:
    found = report()
    assert "| ndcg@10 |" in found.to_markdown()
    for text in (found.to_markdown(), found.to_latex()):
        assert "equal scores keep the order" in text
        assert "story" in text


def test_seeds_are_averaged_impression_by_impression() -> None:
    one, two = report(1), report(2)
    mean = over_seeds([one, two])
    np.testing.assert_allclose(mean["mrr"], (one["mrr"] + two["mrr"]) / 2)
    assert mean.pooled["auc_pooled"] == pytest.approx(
        (one.pooled["auc_pooled"] + two.pooled["auc_pooled"]) / 2
    )
    with pytest.raises(DataError, match="different"):
        over_seeds([one, two.take(np.arange(5))])


def test_parts_of_another_shape_are_refused() -> None:
    found = report()
    with pytest.raises(DataError, match=r"readers: \(3,\), expected \(150,\)"):
        replace(found, readers=np.zeros(3, np.int32))
    with pytest.raises(DataError, match=r"values: .* expected"):
        replace(found, names=("mrr",))


def test_sets_stand_for_metrics_and_unknown_names_are_refused() -> None:
    assert expand(["accuracy", "auc", "ndcg@3"]) == (*SETS["accuracy"], "ndcg@3")
    with pytest.raises(ConfigError, match=r"unknown metric 'ndgc@10'.*Did you mean 'ndcg@10'"):
        expand(["ndgc@10"])
    with pytest.raises(ConfigError, match="unknown metric 'auc@5'"):
        expand(["ndcg@10", "auc@5"])


def test_a_mixed_shelf_reports_exposure() -> None:
    made, scores = drawn(np.random.default_rng(0))
    shown = Shown(
        made, np.arange(len(made)), news([0] * 60), language=np.arange(60) % 2,
        languages=("eng", "fin"), traits={"viewpoints": Ragged.from_lists([[0]] * 60)},
    )  # fmt: skip
    rng = np.random.default_rng(0)
    found = evaluate(scores, shown, PROVENANCE, rng, ("exposure", "radio_representation@5"))
    shares = found["language_share_eng@10"] + found["language_share_fin@10"]
    np.testing.assert_allclose(shares, 1)
    assert found.mean()["radio_representation@5"] == 0
