"""A tiny random Llama with a byte-level tokenizer and a chat template, saved as a model folder."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from newsrec.cluster.summarise.frame import SYSTEM, framed
from newsrec.types import Article

VOCABULARY = 700
SPECIAL = ["<pad>", "<|begin|>", "<|role|>", "<|text|>", "<|eot_id|>", "Zorblax"]
TEMPLATE = (
    "<|begin|>{% for m in messages %}<|role|>{{ m['role'] }}<|text|>{{ m['content'] }}<|eot_id|>"
    "{% endfor %}{% if add_generation_prompt %}<|role|>assistant<|text|>{% endif %}"
)
# As Gemma's: a first message of the system is an error.
WITHOUT_SYSTEM = (
    "{% if messages[0]['role'] == 'system' %}{{ raise_exception('no system role') }}{% endif %}"
) + TEMPLATE


def tokenizer(template: str | None = TEMPLATE) -> Any:
    """Bytes, the words of the frame, and `SPECIAL`, of which the last looks like a word."""
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
    from transformers import PreTrainedTokenizerFast

    made = Tokenizer(models.BPE())
    made.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    made.decoder = decoders.ByteLevel()
    frame = framed([Article(0, "eng", "A strike")], "eng").messages
    told = [SYSTEM, *(message["content"] for message in frame)]
    trainer = trainers.BpeTrainer(
        vocab_size=VOCABULARY, min_frequency=1, special_tokens=SPECIAL, show_progress=False,
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
    )  # fmt: skip
    made.train_from_iterator(told * 2, trainer)
    return PreTrainedTokenizerFast(
        tokenizer_object=made, pad_token="<pad>", eos_token="<|eot_id|>", chat_template=template
    )


def llama(
    folder: Path, *, template: str | None = TEMPLATE, seed: int = 0, length: int = 8192
) -> Path:
    """Two layers, 32 wide; greedy answers are bytes at random."""
    import torch
    from transformers import LlamaConfig, LlamaForCausalLM

    config = LlamaConfig(
        vocab_size=VOCABULARY, hidden_size=32, intermediate_size=64, num_hidden_layers=2,
        num_attention_heads=2, num_key_value_heads=2, max_position_embeddings=length,
        eos_token_id=4, pad_token_id=0, bos_token_id=1, initializer_range=0.3,
    )  # fmt: skip
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        model = LlamaForCausalLM(config)
    model.save_pretrained(folder)
    tokenizer(template).save_pretrained(folder)
    return folder
