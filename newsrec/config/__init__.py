"""What is asked for: frozen, strict models that load YAML and build nothing."""

from __future__ import annotations

from newsrec.config.experiment import ExperimentConfig, load_config, parse_config
from newsrec.config.named import EncoderConfig, HeadConfig, RankerConfig, RerankerConfig
from newsrec.config.summarizer import (
    DecodingConfig,
    LoraConfig,
    SummarizerConfig,
    load_summarizer,
)
from newsrec.config.training import TrainConfig, load_training, parse_training

__all__ = [
    "DecodingConfig",
    "EncoderConfig",
    "ExperimentConfig",
    "HeadConfig",
    "LoraConfig",
    "RankerConfig",
    "RerankerConfig",
    "SummarizerConfig",
    "TrainConfig",
    "load_config",
    "load_summarizer",
    "load_training",
    "parse_config",
    "parse_training",
]
