"""Rows and cells: the paper's grid and hyperparameters."""

from __future__ import annotations

from dataclasses import replace

import pytest

from newsrec import build
from newsrec.errors import ConfigError
from newsrec.pipeline.paper.grid import Cell, Setting, cells, rows
from newsrec.pipeline.paper.models import column
from newsrec.pipeline.paper.printed import Row, table
from newsrec.rank import FitOptions

PAPER = tuple(column(word) for word in ("xlm-r", "labse", "nase"))
SETTING = Setting("corpus", "eng", ("eng", "fin"))


def training(row: Row, protocol: str = "newsreclib"):  # type: ignore[no-untyped-def]
    found = {x.label: x for x in PAPER}.get(row.encoder)
    return Cell(row, found, protocol, 43).training(SETTING)


def test_the_papers_encoders_give_the_papers_rows_in_its_order() -> None:
    assert tuple(rows("table2", PAPER)) == table(2).rows
    assert tuple(rows("table3", PAPER[1:])) == table(3).rows


def test_figures_are_lfrec_with_what_they_compare() -> None:
    variants = (*PAPER[1:], column("mini"))
    found = rows("figures", variants)
    assert [(r.model, r.encoder, r.training, r.shots) for r in found if r.shots in (None, 10)] == [
        ("LFRec", "LaBSE", "frozen", None), ("LFRec", "NaSE", "frozen", None),
        ("LFRec", "mini", "frozen", None), ("LFRec-SCL", "LaBSE", "fine-tuned", None),
        ("LFRec-SCL", "NaSE", "fine-tuned", None), ("LFRec-SCL", "LaBSE", "fine-tuned", 10),
        ("LFRec-SCL", "NaSE", "fine-tuned", 10),
    ]  # fmt: skip


def test_an_encoder_without_layers_has_frozen_rows() -> None:
    mini = (column("mini"),)
    assert {row.training for row in rows("table2", mini)} == {"none", "frozen"}
    assert [(r.model, r.training, r.shots) for r in rows("table3", mini)] == [
        ("NAML", "frozen", shots) for shots in (10, 50, 100)
    ]


def test_rows_are_chosen_by_model_and_training() -> None:
    found = rows("table2", PAPER, ["LFRec-SCL", "NAML:frozen"])
    assert {(row.model, row.training) for row in found} == {
        ("LFRec-SCL", "fine-tuned"), ("NAML", "frozen"),
    }  # fmt: skip
    with pytest.raises(ConfigError, match=r"LFRec-SLC.*Did you mean 'LFRec-SCL'"):
        rows("table2", PAPER, ["LFRec-SLC"])
    with pytest.raises(ConfigError, match="MINS"):
        rows("table3", PAPER, ["MINS"])


def test_nothing_to_run_is_said() -> None:
    with pytest.raises(ConfigError, match="no layers to fine-tune"):
        rows("figures", (column("mini"),), ["LFRec-SCL"])


@pytest.mark.parametrize(
    ("row", "head", "views"),
    [
        (Row("NAML", "NaSE", "frozen"), "naml:query=50", ("title", "abstract")),
        (Row("NAML", "XLM-R", "frozen"), "naml:query=200", ("title", "abstract")),
        (Row("MINS", "LaBSE", "fine-tuned"), "mins:heads=16:query=100:one_gru=true",
         ("title", "abstract")),
        (Row("MINS", "XLM-R", "frozen"), "mins:heads=32:query=50:one_gru=true",
         ("title", "abstract")),
        (Row("CAUM", "NaSE", "frozen"), "caum:heads=8", ("title",)),
        (Row("MANNeR", "NaSE", "frozen"), "manner", ("title+abstract",)),
        (Row("LFRec-CE", "NaSE", "fine-tuned"), "lfrec-ce", ("title+abstract",)),
        (Row("NAML_CAT", "", "none"), "naml-cat", ("title+abstract",)),
    ],
    ids=lambda x: x.name if isinstance(x, Row) else None,
)  # fmt: skip
def test_heads_are_those_of_the_appendix(row: Row, head: str, views: tuple[str, ...]) -> None:
    config = training(row)
    assert (config.head.label, config.views) == (head, views)
    build.head_recipe(config.head)


def test_newsrecs_protocol_has_a_gru_for_every_channel() -> None:
    assert (
        training(Row("MINS", "NaSE", "frozen"), "newsrec").head.label == "mins:heads=16:query=100"
    )


@pytest.mark.parametrize("shots", [None, 10])
@pytest.mark.parametrize("encoder", ["NaSE", "XLM-R"])
@pytest.mark.parametrize("protocol", ["newsreclib", "newsrec"])
def test_training_is_the_papers(encoder: str, protocol: str, shots: int | None) -> None:
    config = training(Row("NAML", encoder, "fine-tuned", shots), protocol)
    size = 4 if encoder == "XLM-R" else 8
    newest = protocol == "newsrec"
    expected = FitOptions.paper_004(batch=size, micro_batch=size, seed=43, newest=newest)
    assert build.fit_options(config, 43, few=shots is not None) == expected
    assert config.trainable == "last4+embeddings"
    assert config.shots == (() if shots is None else (shots,))
    assert (config.seeds, config.langs, config.test_langs) == ((43,), ("eng",), ("eng", "fin"))


def test_only_an_encoder_that_learns_is_told_how() -> None:
    given = (("checkpointing", True), ("device", "cuda"), ("epochs", 2))
    setting = replace(SETTING, options=given)
    options = {
        training: Cell(Row("NAML", "NaSE", training), PAPER[2], "newsrec", 42).training(setting)
        .options
        for training in ("frozen", "fine-tuned")
    }  # fmt: skip
    assert {"checkpointing", "precision"}.isdisjoint(options["frozen"])
    assert options["fine-tuned"] == {
        **options["frozen"], "checkpointing": True, "precision": "bf16",
    }  # fmt: skip
    assert (options["frozen"]["epochs"], options["frozen"]["device"]) == (2, "cuda")


def test_frozen_rows_train_no_encoder() -> None:
    assert training(Row("NAML", "NaSE", "frozen")).trainable == "none"


def test_lfrec_is_raw_in_the_papers_protocol_and_newsrecs_own_in_the_other() -> None:
    row = Row("LFRec", "NaSE", "frozen")
    cell = Cell(row, PAPER[2], "newsreclib", 42)
    assert not cell.is_trained
    assert cell.fusion(SETTING).rankers[0].label == "fusion:centre=none:cold=none"
    assert cell.fusion(SETTING).protocol == "newsreclib"
    ours = Cell(row, PAPER[2], "newsrec", 42).fusion(SETTING)
    assert (ours.rankers[0].label, ours.protocol) == ("fusion", "newsrec")


def test_every_seed_is_a_cell_but_for_what_is_not_trained() -> None:
    chosen = rows("table2", PAPER[2:], ["LFRec", "NAML:frozen"])
    found = cells(chosen, PAPER, ("newsreclib", "newsrec"), (42, 43, 44))
    assert [(c.protocol, c.row.model, c.seed) for c in found] == [
        (protocol, *rest)
        for protocol in ("newsreclib", "newsrec")
        for rest in (("LFRec", 42), ("NAML", 42), ("NAML", 43), ("NAML", 44))
    ]
