"""What an evaluation is."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Field

from newsrec import spelling
from newsrec.config.files import read, validated
from newsrec.config.named import EncoderConfig, RankerConfig, RerankerConfig
from newsrec.config.strict import Strict


class ExperimentConfig(Strict):
    """Systems (encoders × rankers × re-rankers) on languages of one split of one corpus.

    ``corpus``: prepared folder, None for the bundled sample; ``langs``: shelves, empty for all;
    ``history_lang``: None for the shelf's language, ``own`` for that in which each article was
    read, or a code; ``trust_remote_code``: encoders may run Python code of their repositories (an
    encoder's own option wins); ``protocol``: ``newsreclib`` keeps the oldest 50 clicks, drops
    readers without history and shows ``auc_torchmetrics``; ``clicks``: what popularity counts:
    every labelled click ``before`` the impression, or only those of the other splits
    (``training``); ``diversity``: 1 - relevance weight of re-rankers that say none; ``clusters``:
    whose classes re-rankers and metrics see: ``auto`` (those of corpus and first encoder), a file
    of ``newsrec cluster``, ``none``, or None: ``auto`` if a re-ranker needs them; ``metrics``:
    names or sets of `newsrec.evaluate.run`; ``traits``: .npz of article traits for RADio.
    """

    corpus: str | None = None
    encoders: tuple[EncoderConfig, ...] = Field(
        default=(EncoderConfig(name="mini"),), strict=False, min_length=1
    )
    rankers: tuple[RankerConfig, ...] = Field(
        default=(RankerConfig(name="fusion"),), strict=False, min_length=1
    )
    rerankers: tuple[RerankerConfig, ...] = Field(
        default=(RerankerConfig(),), strict=False, min_length=1
    )
    diversity: Annotated[float, Field(ge=0, le=1)] | None = None
    clusters: str | None = None
    trust_remote_code: bool = False
    langs: tuple[str, ...] = Field(default=(), strict=False)
    history_lang: str | None = None
    split: str = "test"
    view: Literal["title", "abstract", "body", "title+abstract"] = "title+abstract"
    protocol: Literal["newsrec", "newsreclib"] = "newsrec"
    complete_only: bool = False
    clicks: Literal["before", "training"] = "before"
    metrics: tuple[str, ...] = Field(default=("accuracy", "diversity", "radio"), strict=False)
    seeds: tuple[Annotated[int, Field(ge=0)], ...] = Field(
        default=(42,), strict=False, min_length=1
    )
    test: Literal["permutation", "bootstrap"] = "permutation"
    by_reader: bool = False
    traits: str | None = None


_SPELLED = {
    "encoders": spelling.encoder,
    "rankers": spelling.ranker,
    "rerankers": spelling.reranker,
}


def load_config(path: Path | None, given: Mapping[str, Any] | None = None) -> ExperimentConfig:
    """The file (None: all defaults) with ``given`` keys on top; `ConfigError` says what is wrong.

    ``given`` holds plain values as YAML would; rankers, re-rankers and encoders may be written
    ``name:key=value``.
    """
    fields = {} if path is None else read(path)
    return parse_config({**fields, **(given or {})}, str(path) if path else "options")


def parse_config(fields: Mapping[str, Any], where: str = "config") -> ExperimentConfig:
    """Plain values to a checked config; errors begin with ``where``."""
    plain = dict(fields)
    for key, spelled in _SPELLED.items():
        if key in plain:
            plain[key] = [spelled(value, where) for value in spelling.as_list(plain[key])]
    return validated(ExperimentConfig, plain, where)
