"""What an experiment is: frozen, strict models that load YAML and build nothing.

Unknown keys are errors. A file may begin with ``extends: other.yaml`` (relative to itself): its
keys replace those of the other file, key by key.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal

import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from newsrec import spelling
from newsrec.errors import ConfigError, unknown_name
from newsrec.spelling import NO_RERANKER


class _Strict(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)


Scalar = str | int | float | bool | None


class EncoderConfig(_Strict):
    """``name``: preset, model or folder; ``options`` go to `newsrec.encode.load_encoder`."""

    name: str
    options: dict[str, Scalar] = {}

    @property
    def label(self) -> str:
        """Name and options as the command line takes them: ``nase:precision=int8``."""
        return _label(self.name, self.options)


class RankerConfig(_Strict):
    """``name`` and ``options`` as in `newsrec.rank.table.RANKERS`, which checks them.

    ``cold``: what readers without readable history get from rankers that read text: the newest and
    most clicked, spread over categories (``cold-start``), or the ranker's own tie (``none``).
    ``called``: its name in tables; None stands for name and options.
    """

    name: str
    options: dict[str, Scalar | list[int]] = {}
    cold: Literal["cold-start", "none"] = "cold-start"
    called: str | None = None

    @property
    def label(self) -> str:
        """Name and options as the command line takes them (``fusion:centre=none``), or what it is
        called."""
        if self.called is not None:
            return self.called
        changed = {**self.options, **({"cold": "none"} if self.cold == "none" else {})}
        return _label(self.name, changed)


class RerankerConfig(_Strict):
    """``name`` and ``options`` as in `newsrec.rerank.table.RERANKERS`, which checks them; ``none``
    leaves the ranker's list as it is."""

    name: str = NO_RERANKER
    options: dict[str, Scalar | list[str] | dict[str, int | float]] = {}

    @property
    def label(self) -> str:
        """Name and options as the command line takes them: ``mmr:relevance_weight=0.7``."""
        return _label(self.name, self.options)

    def with_diversity(self, diversity: float | None) -> RerankerConfig:
        """With a relevance weight of 1 - ``diversity`` where it says none of its own."""
        weighted = self.name == NO_RERANKER or "relevance_weight" in self.options
        if diversity is None or weighted:
            return self
        weight = {"relevance_weight": round(1 - diversity, 10)}
        return RerankerConfig(name=self.name, options={**self.options, **weight})


def _label(name: str, options: Mapping[str, object]) -> str:
    return ":".join([name, *(f"{key}={_spelled(value)}" for key, value in options.items())])


def _spelled(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value)


class ExperimentConfig(_Strict):
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

    @property
    def hash(self) -> str:
        """16 hex digits over every field."""
        text = json.dumps(self.model_dump(mode="json"), sort_keys=True)
        return hashlib.sha256(text.encode()).hexdigest()[:16]


class LoraConfig(_Strict):
    """How an adapter is trained (LoRA, Hu et al. 2021); `newsrec.adapt.lora` says what each is."""

    rank: Annotated[int, Field(ge=1)] = 16
    alpha: Annotated[float, Field(gt=0, strict=False)] = 32
    dropout: Annotated[float, Field(ge=0, lt=1)] = 0.1
    targets: tuple[str, ...] = Field(
        default=("q_proj", "k_proj", "v_proj", "o_proj"), strict=False, min_length=1
    )
    learning_rate: Annotated[float, Field(gt=0)] = 2e-4
    batch_size: Annotated[int, Field(ge=1)] = 8
    epochs: Annotated[int, Field(ge=1)] = 1
    check_every: Annotated[int, Field(ge=1)] = 1000
    max_tokens: Annotated[int, Field(ge=16)] = 8192


class DecodingConfig(_Strict):
    """How an answer is generated, never at random."""

    max_new_tokens: Annotated[int, Field(ge=1)] = 300
    num_beams: Annotated[int, Field(ge=1)] = 1
    repetition_penalty: Annotated[float, Field(gt=0)] = 1.0
    no_repeat_ngram_size: Annotated[int, Field(ge=0)] = 0


class SummarizerConfig(_Strict):
    """A language model that summarises clusters: which, how it is asked, how it was trained.

    ``base_model``: a folder or a name on the Hugging Face Hub; ``adapter``: the folder of a LoRA
    adapter for it; ``task``: what is to be written, before the fixed rules of
    `newsrec.cluster.summarise.frame`.
    """

    base_model: str
    adapter: str | None = None
    task: str
    lora: LoraConfig = LoraConfig()
    decoding: DecodingConfig = DecodingConfig()


def load_summarizer(path: Path) -> SummarizerConfig:
    """A summarizer's file; `ConfigError` says what is wrong with it."""
    fields = _read(path, ())
    for key in fields:
        if key not in SummarizerConfig.model_fields:
            raise unknown_name(f"key in {path}:", str(key), list(SummarizerConfig.model_fields))
    try:
        return SummarizerConfig.model_validate(fields)
    except ValidationError as error:
        raise ConfigError(f"{path}: {_told(error)}") from None


def load_config(path: Path | None, given: Mapping[str, Any] | None = None) -> ExperimentConfig:
    """The file (None: all defaults) with ``given`` keys on top; `ConfigError` says what is wrong.

    ``given`` holds plain values as YAML would; rankers, re-rankers and encoders may be written
    ``name:key=value``.
    """
    fields = {} if path is None else _read(path, ())
    return parse_config({**fields, **(given or {})}, str(path) if path else "options")


def parse_config(fields: Mapping[str, Any], where: str = "config") -> ExperimentConfig:
    """Plain values to a checked config; errors begin with ``where``."""
    plain = dict(fields)
    if "encoders" in plain:
        plain["encoders"] = [
            spelling.encoder(x, where) for x in spelling.as_list(plain["encoders"])
        ]
    if "rankers" in plain:
        plain["rankers"] = [spelling.ranker(x, where) for x in spelling.as_list(plain["rankers"])]
    if "rerankers" in plain:
        plain["rerankers"] = [
            spelling.reranker(x, where) for x in spelling.as_list(plain["rerankers"])
        ]
    known = list(ExperimentConfig.model_fields)
    for key in plain:
        if key not in known:
            raise unknown_name(f"key in {where}:", str(key), known)
    try:
        return ExperimentConfig.model_validate(plain)
    except ValidationError as error:
        raise ConfigError(f"{where}: {_told(error)}") from None


def _read(path: Path, seen: tuple[Path, ...]) -> dict[str, Any]:
    if path.resolve() in seen:
        raise ConfigError(f"{path}: extends itself")
    try:
        found = yaml.safe_load(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"{path}: cannot be read ({error})") from None
    except yaml.YAMLError as error:
        raise ConfigError(f"{path}: not YAML: {' '.join(str(error).split())}") from None
    fields = {} if found is None else found
    if not isinstance(fields, dict):
        raise ConfigError(f"{path}: {type(fields).__name__}, expected keys and values")
    other = fields.pop("extends", None)
    if other is None:
        return fields
    return _read(path.parent / str(other), (*seen, path.resolve())) | fields


def _told(error: ValidationError) -> str:
    """Every problem as ``key: message, found …``."""
    said = []
    problems = error.errors(include_url=False)
    inside = {problem["loc"][:-1] for problem in problems}
    for problem in problems:
        # pydantic drops a wrong item, and then finds the list too short.
        if problem["type"] == "too_short" and problem["loc"] in inside:
            continue
        where = ".".join(str(part) for part in problem["loc"])
        said.append(f"{where}: {problem['msg']}, found {problem['input']!r}")
    return "; ".join(said)
