"""The cells of a table or figure: rows × protocols × seeds, each with what is to be run."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields
from typing import Any, Literal

from newsrec.config import ExperimentConfig, RankerConfig, TrainConfig, parse_training
from newsrec.encode.tuning import Tuning
from newsrec.errors import ConfigError, unknown_name
from newsrec.pipeline.paper.models import MODELS, VARIANTS, Column
from newsrec.pipeline.paper.printed import Row, Training
from newsrec.rank.fit_options import FitOptions

What = Literal["table2", "table3", "figures"]
PROTOCOLS = ("newsreclib", "newsrec")
#: The paper's columns and, in newsrec's protocol, the mean of each impression's own AUC.
METRICS = ("auc_torchmetrics", "auc", "mrr", "ndcg@5", "ndcg@10")
SHOTS = (10, 50, 100)
SEEDS = (42, 43, 44)
TRAININGS: tuple[Training, ...] = ("none", "frozen", "fine-tuned")

# Both tables: models and how their encoder is trained, in the paper's order.
_TABLE_2: tuple[tuple[str, Training], ...] = (
    ("NAML_CAT", "none"),
    *((model, "fine-tuned") for model in ("LFRec-CE", "LFRec-SCL", "NAML", "MINS", "CAUM",
                                          "MANNeR")),
    *((model, "frozen") for model in ("LFRec", "NAML", "MINS", "CAUM", "MANNeR")),
)  # fmt: skip
_TABLE_3: tuple[tuple[str, Training], ...] = (
    ("LFRec-SCL", "fine-tuned"), ("NAML", "fine-tuned"),
)  # fmt: skip

# Options that only the tuning of an encoder takes.
_TUNING = tuple(f.name for f in fields(Tuning) if f.name != "policy")


@dataclass(frozen=True, slots=True)
class Setting:
    """What all cells of a run share.

    ``corpus``: prepared folder, None for the bundled sample; ``source``: the language trained in;
    ``langs``: shelves measured; ``tuning``: what of an encoder is fine-tuned (`TrainConfig`);
    ``options``: fields of `FitOptions` and `Tuning` on top of the paper's.
    """

    corpus: str | None
    source: str
    langs: tuple[str, ...]
    train: str = "train"
    valid: str | None = "valid"
    test: str = "test"
    tuning: str = "last4+embeddings"
    options: tuple[tuple[str, Any], ...] = ()
    trust_remote_code: bool = False


@dataclass(frozen=True, slots=True)
class Cell:
    """One run: a row, made with the encoder of ``column`` (None: without one), under a protocol and
    from a seed."""

    row: Row
    column: Column | None
    protocol: str
    seed: int

    @property
    def kind(self) -> tuple[str, str, Training]:
        """What decides the cost of a training impression: model, encoder, what is trained."""
        return self.row.model, self.row.encoder, self.row.training

    @property
    def is_trained(self) -> bool:
        """LFRec with a frozen encoder has nothing to train."""
        return self.row.training == "fine-tuned" or MODELS[self.row.model].trained

    def training(self, setting: Setting) -> TrainConfig:
        """The cell as `newsrec.pipeline.training.train` takes it; `ConfigError` for options that
        there are not."""
        model, column = MODELS[self.row.model], self.column
        large = column is not None and column.large
        options = {**model.options, **(model.large if large else {})}
        options |= model.as_run if self.protocol == "newsreclib" else {}
        fields: dict[str, Any] = {
            "corpus": setting.corpus,
            "head": {"name": model.head, "options": options},
            "langs": [setting.source],
            "views": list(model.views),
            "train": setting.train,
            "valid": setting.valid,
            "test": setting.test,
            "test_langs": list(setting.langs),
            "shots": [] if self.row.shots is None else [self.row.shots],
            "seeds": [self.seed],
            "protocol": self.protocol,
            "trainable": setting.tuning if self.row.training == "fine-tuned" else "none",
            "trust_remote_code": setting.trust_remote_code,
            "options": self._options(setting, large),
            "metrics": list(METRICS),
        }
        if column is not None:
            fields["encoder"] = column.encoder(self.protocol)
        return parse_training(fields, self.row.name)

    def _options(self, setting: Setting, large: bool) -> dict[str, Any]:
        """Those of the head's training and, where the encoder learns too, of its tuning: in half
        precision on a GPU, as the paper's."""
        given = dict(setting.options)
        tuning = {name: given.pop(name) for name in _TUNING if name in given}
        options = fit_options(large, given)
        if self.row.training != "fine-tuned":
            return options
        half = {"precision": "bf16"} if given.get("device", "cpu") != "cpu" else {}
        return {**options, **half, **tuning}

    def fusion(self, setting: Setting) -> ExperimentConfig:
        """LFRec as an experiment: raw dot products in the paper's protocol (configs/fusion_004),
        newsrec's late fusion with its centring and cold start in newsrec's."""
        assert self.column is not None
        ranker = RankerConfig(name="fusion")
        if self.protocol == "newsreclib":
            ranker = RankerConfig(name="fusion", options={"centre": "none"}, cold="none")
        return ExperimentConfig(
            corpus=setting.corpus,
            encoders=(self.column.encoder(self.protocol),),
            rankers=(ranker,),
            langs=setting.langs,
            split=setting.test,
            protocol="newsreclib" if self.protocol == "newsreclib" else "newsrec",
            metrics=METRICS,
            seeds=(self.seed,),
            clusters="none",
            trust_remote_code=setting.trust_remote_code,
        )


def fit_options(large: bool, changed: dict[str, Any]) -> dict[str, Any]:
    """The fields of `FitOptions` that the paper trains with where they are not the defaults;
    batches of 4 beside XLM-R ``large``. Seed and history follow from seed and protocol."""
    paper, usual = FitOptions.paper_004(), FitOptions()
    size = {"batch": 4, "micro_batch": 4} if large else {}
    given = {
        name: value
        for name, value in paper.to_dict().items()
        if name not in ("seed", "newest") and value != getattr(usual, name)
    }
    return {**given, "epochs": paper.epochs, "patience": paper.patience, **size, **changed}


def rows(what: What, columns: Sequence[Column], wanted: Iterable[str] = ()) -> list[Row]:
    """The rows of a table or the bars of figures 2, 4 and 5 for ``columns``, in the paper's order.

    ``wanted``: models, or models and training (``NAML:frozen``); none: all. An encoder without
    layers to tune has only frozen rows, in table 3 too. `ConfigError` when nothing is left.
    """
    words = tuple(wanted)
    _check_words(what, words)
    found = [row for part in (_table_2, _table_3) for row in part(columns, what)]
    chosen = [
        row for row in found if not words or {row.model, f"{row.model}:{row.training}"} & set(words)
    ]
    if not chosen:
        raise ConfigError(
            f"{what}: no row is left for {', '.join(c.label for c in columns)}: the built-in "
            "encoder has no layers to fine-tune; name another with --encoders, or other --rows"
        )
    return chosen


def _check_words(what: What, words: Sequence[str]) -> None:
    """`unknown_name` for a word of ``--rows`` that no row has, whatever the encoder."""
    any_encoder = [Column("LaBSE", "labse"), Column("mini", "mini", tunable=False)]
    there = [row for part in (_table_2, _table_3) for row in part(any_encoder, what)]
    names = {f"{row.model}:{row.training}" for row in there} | {row.model for row in there}
    for word in words:
        if word not in names:
            raise unknown_name(f"row of {what} (--rows):", word, tuple(names))


def _table_2(columns: Sequence[Column], what: What) -> list[Row]:
    if what == "table3":
        return []
    models: tuple[tuple[str, Training], ...] = _TABLE_2
    if what == "figures":
        models = (("LFRec", "frozen"), ("LFRec-SCL", "fine-tuned"))
    return [
        Row(model, "" if training == "none" else column.label, training)
        for model, training in models
        for column in (columns[:1] if training == "none" else columns)
        if training != "fine-tuned" or _is_tuned(column, what)
    ]


def _table_3(columns: Sequence[Column], what: What) -> list[Row]:
    if what == "table2":
        return []
    models = _TABLE_3 if what == "table3" else _TABLE_3[:1]
    found = [
        Row(model, column.label, "fine-tuned", shots)
        for shots in SHOTS
        for model, _ in models
        for column in columns
        if _is_tuned(column, what)
    ]
    if what == "table3":
        found += [
            Row("NAML", column.label, "frozen", shots)
            for shots in SHOTS
            for column in columns
            if not column.tunable
        ]
    return found


def _is_tuned(column: Column, what: What) -> bool:
    """The variants of NaSE are in figure 2 alone, frozen."""
    return column.tunable and (what != "figures" or column.label not in VARIANTS)


def cells(
    chosen: Sequence[Row],
    columns: Sequence[Column],
    protocols: Sequence[str],
    seeds: Sequence[int],
) -> list[Cell]:
    """Every run, protocol by protocol; what is not trained is the same from every seed."""
    by_label = {column.label: column for column in columns}
    found = []
    for protocol in protocols:
        for row in chosen:
            for seed in seeds:
                cell = Cell(row, by_label.get(row.encoder), protocol, seed)
                if cell.is_trained or seed == seeds[0]:
                    found.append(cell)
    return found
