"""What a training is."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Field

from newsrec import spelling
from newsrec.config.experiment import ExperimentConfig
from newsrec.config.files import read, validated
from newsrec.config.named import EncoderConfig, HeadConfig
from newsrec.config.strict import Scalar, Strict

View = Literal["title", "abstract", "body", "title+abstract"]


class TrainConfig(Strict):
    """A head on one encoder's vectors, trained on one corpus: languages × shots × seeds.

    ``langs``: shelves to train on, a run each, empty for English (or what the corpus has);
    ``history_lang`` as in `ExperimentConfig`; ``views``: texts of an article that the head reads;
    ``train``: the split to learn from; ``valid``: the one that says when to stop, a share such as
    ``0.1`` (the last tenth of the training impressions), ``none``, or None: the split ``valid`` if
    there is one, else a tenth; ``test``: the split to measure on (None: measure nothing), on the
    shelves ``test_langs``, empty for all; ``shots``: training impressions, empty for all of them;
    ``protocol``: ``newsreclib`` keeps the oldest 50 clicks and drops readers without history;
    ``trainable``: what of the encoder learns; ``aspects``: for ``manner``, its A-modules and their
    weights, ``category`` or a column of the CSV file ``labels``; ``options``: fields of
    `newsrec.rank.FitOptions`, and of `newsrec.encode.Tuning` where an encoder learns;
    ``metrics`` as in `ExperimentConfig`.
    """

    corpus: str | None = None
    head: HeadConfig
    encoder: EncoderConfig = EncoderConfig(name="mini")
    trust_remote_code: bool = False
    langs: tuple[str, ...] = Field(default=(), strict=False)
    history_lang: str | None = None
    views: tuple[View, ...] = Field(default=("title+abstract",), strict=False, min_length=1)
    train: str = "train"
    valid: str | None = None
    test: str | None = "test"
    test_langs: tuple[str, ...] = Field(default=(), strict=False)
    shots: tuple[Annotated[int, Field(ge=1)], ...] = Field(default=(), strict=False)
    seeds: tuple[Annotated[int, Field(ge=0)], ...] = Field(
        default=(42,), strict=False, min_length=1
    )
    protocol: Literal["newsrec", "newsreclib"] = "newsrec"
    complete_only: bool = False
    trainable: Literal["none", "last4", "last4+embeddings", "all", "lora"] = "none"
    aspects: dict[str, float | int] = Field(default_factory=dict)
    labels: str | None = None
    options: dict[str, Scalar] = Field(default_factory=dict)
    metrics: tuple[str, ...] = Field(default=("accuracy",), strict=False)

    def scene_of(self, split: str, language: str) -> ExperimentConfig:
        """Which impressions of ``split`` shelf ``language`` can serve, as an experiment has it."""
        return ExperimentConfig(
            corpus=self.corpus, langs=(language,), history_lang=self.history_lang, split=split,
            protocol=self.protocol, complete_only=self.complete_only,
        )  # fmt: skip


def load_training(path: Path | None, given: Mapping[str, Any] | None = None) -> TrainConfig:
    """The file (None: all defaults) with ``given`` keys on top, those of ``options`` key by key;
    `ConfigError` says what is wrong."""
    fields = {} if path is None else read(path)
    options = {**fields.get("options", {}), **(given or {}).get("options", {})}
    merged = {**fields, **(given or {}), **({"options": options} if options else {})}
    return parse_training(merged, str(path) if path else "options")


def parse_training(fields: Mapping[str, Any], where: str = "config") -> TrainConfig:
    """Plain values to a checked config; errors begin with ``where``."""
    plain = dict(fields)
    if plain.get("test") == "none":
        plain["test"] = None
    for key, spelled in (("head", spelling.head), ("encoder", spelling.encoder)):
        if key in plain:
            plain[key] = spelled(plain[key], where)
    return validated(TrainConfig, plain, where)
