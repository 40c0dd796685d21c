"""Small models with random weights, saved to disk as real model folders are."""

from __future__ import annotations

from pathlib import Path
from typing import Any

WORDS = [f"w{i}" for i in range(200)]
SPECIAL = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]


def tokenizer(words: list[str] = WORDS, *, marks: bool = True, **options: Any) -> Any:
    """A word-piece tokenizer over ``words``; without ``marks`` an empty text has no token."""
    from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors
    from transformers import PreTrainedTokenizerFast

    vocabulary = {word: i for i, word in enumerate([*SPECIAL, *words])}
    made = Tokenizer(models.WordPiece(vocabulary, unk_token="[UNK]"))
    made.normalizer = normalizers.BertNormalizer(lowercase=False)
    made.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    if marks:
        made.post_processor = processors.TemplateProcessing(
            single="[CLS] $A [SEP]", special_tokens=[("[CLS]", 2), ("[SEP]", 3)]
        )
    return PreTrainedTokenizerFast(
        tokenizer_object=made, unk_token="[UNK]", pad_token="[PAD]", cls_token="[CLS]",
        sep_token="[SEP]", mask_token="[MASK]", **options,
    )  # fmt: skip


def bert(
    folder: Path, *, seed: int = 0, marks: bool = True, words: list[str] = WORDS, **config: Any
) -> Path:
    """A plain transformers folder: BERT, 32 wide, 2 layers unless ``config`` says otherwise."""
    import torch
    from transformers import BertConfig, BertModel

    torch.manual_seed(seed)
    sizes = {
        "vocab_size": len(SPECIAL) + len(words), "hidden_size": 32, "num_hidden_layers": 2,
        "num_attention_heads": 4, "intermediate_size": 64, "max_position_embeddings": 64,
        # Wider than the default 0.02: vectors of different texts must differ.
        "initializer_range": 0.3,
    }  # fmt: skip
    BertModel(BertConfig(**{**sizes, **config})).save_pretrained(folder)
    tokenizer(words, marks=marks).save_pretrained(folder)
    return folder


def xlm_roberta(folder: Path, *, seed: int = 0) -> Path:
    """A plain folder with XLM-R's shape: positions count from the padding index + 1."""
    import torch
    from transformers import XLMRobertaConfig, XLMRobertaModel

    torch.manual_seed(seed)
    config = XLMRobertaConfig(
        vocab_size=len(SPECIAL) + len(WORDS), hidden_size=32, num_hidden_layers=2,
        num_attention_heads=4, intermediate_size=64, max_position_embeddings=34, pad_token_id=0,
        type_vocab_size=1, initializer_range=0.3,
    )  # fmt: skip
    XLMRobertaModel(config).save_pretrained(folder)
    tokenizer().save_pretrained(folder)
    return folder


def mpnet(folder: Path, *, seed: int = 0) -> Path:
    """A plain folder with MPNet's shape: one table of relative positions for all layers."""
    import torch
    from transformers import MPNetConfig, MPNetModel

    torch.manual_seed(seed)
    config = MPNetConfig(
        vocab_size=len(SPECIAL) + len(WORDS), hidden_size=32, num_hidden_layers=5,
        num_attention_heads=4, intermediate_size=64, max_position_embeddings=66, pad_token_id=0,
        initializer_range=0.3,
    )  # fmt: skip
    MPNetModel(config).save_pretrained(folder)
    tokenizer().save_pretrained(folder)
    return folder


def pipeline(folder: Path, *, seed: int = 0, normalize: bool = True) -> Path:
    """A sentence-transformers folder with LaBSE's shape: CLS, dense, normalise."""
    import torch
    from sentence_transformers import SentenceTransformer
    from sentence_transformers.sentence_transformer.modules import (
        Dense,
        Normalize,
        Pooling,
        Transformer,
    )

    plain = bert(folder.with_name(folder.name + "-plain"), seed=seed)
    torch.manual_seed(seed + 1)
    modules = [Transformer(str(plain)), Pooling(32, "cls"), Dense(32, 32)]
    made = SentenceTransformer(modules=[*modules, *[Normalize()] * normalize], device="cpu")
    made.save(str(folder), create_model_card=False)
    return folder


def static_pipeline(folder: Path) -> Path:
    """A sentence-transformers folder without a transformer: a bag of word vectors."""
    import numpy as np
    from sentence_transformers import SentenceTransformer
    from sentence_transformers.sentence_transformer.modules import StaticEmbedding

    table = np.random.default_rng(0).standard_normal((len(SPECIAL) + len(WORDS), 16))
    bag = StaticEmbedding(tokenizer().backend_tokenizer, table.astype(np.float32))
    SentenceTransformer(modules=[bag], device="cpu").save(str(folder), create_model_card=False)
    return folder


def sentences(n: int, seed: int = 0, longest: int = 40) -> list[str]:
    """``n`` texts of 1 to ``longest`` words, lengths mixed."""
    import numpy as np

    rng = np.random.default_rng(seed)
    sizes = rng.integers(1, longest + 1, n)
    return [" ".join(rng.choice(WORDS, size)) for size in sizes]
