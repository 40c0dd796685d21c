"""A language model that summarises clusters, and how its adapter is trained."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from pydantic import Field

from newsrec.config.files import read, validated
from newsrec.config.strict import Strict


class LoraConfig(Strict):
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


class DecodingConfig(Strict):
    """How an answer is generated, never at random."""

    max_new_tokens: Annotated[int, Field(ge=1)] = 300
    num_beams: Annotated[int, Field(ge=1)] = 1
    repetition_penalty: Annotated[float, Field(gt=0)] = 1.0
    no_repeat_ngram_size: Annotated[int, Field(ge=0)] = 0


class SummarizerConfig(Strict):
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
    return validated(SummarizerConfig, read(path), str(path))
