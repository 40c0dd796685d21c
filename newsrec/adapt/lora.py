"""Low-rank adapters of a causal language model (LoRA, Hu et al. 2021), as paper 000 trains them.

Loss on the answer only; the adapter with the lowest validation loss is kept (appendix G).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.nn.utils.rnn import pad_sequence

from newsrec.errors import DataError, MissingExtra
from newsrec.files import atomic_folder

_NO_LOSS = -100


@dataclass(frozen=True, slots=True)
class Lora:
    """``rank`` and ``alpha`` of the adapters of the layers ``targets``; ``check_every``: steps
    between looks at the validation loss; ``max_tokens``: longer examples are left out."""

    rank: int = 16
    alpha: float = 32
    dropout: float = 0.1
    targets: tuple[str, ...] = ("q_proj", "k_proj", "v_proj", "o_proj")
    learning_rate: float = 2e-4
    batch_size: int = 8
    epochs: int = 1
    check_every: int = 1000
    max_tokens: int = 8192


@dataclass(frozen=True, slots=True)
class Turn:
    """Token ids of what a model is asked and of what it should answer, its end token included."""

    prompt: tuple[int, ...]
    answer: tuple[int, ...]


def finetune(
    model: Any,
    train: Sequence[Turn],
    valid: Sequence[Turn],
    recipe: Lora,
    out: Path,
    *,
    base: str,
    seed: int = 0,
    report: Callable[[int, float], None] = lambda step, loss: None,
) -> float:
    """Train an adapter of ``model``, which it changes, and write the best to the folder ``out``.

    ``base``: the name under which the adapter looks for its model; ``report`` gets steps and their
    validation loss. Returns the lowest, in nats a token. Raises `DataError` when no example is
    short enough or the loss is no number, `MissingExtra` without peft.
    """
    train, valid = (_short(turns, recipe.max_tokens) for turns in (train, valid))
    rng, best, step = np.random.default_rng(seed), float("inf"), 0
    last = recipe.epochs * -(-len(train) // recipe.batch_size)
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        tuned = _adapted(model, recipe, base)
        learned = [weight for weight in tuned.parameters() if weight.requires_grad]
        optimizer = torch.optim.AdamW(learned, lr=recipe.learning_rate)
        for _ in range(recipe.epochs):
            for batch in _batches(rng.permutation(len(train)), train, recipe.batch_size):
                tuned.train()
                torch.autograd.backward(loss_of(tuned, batch))
                optimizer.step()
                optimizer.zero_grad()
                step += 1
                if step % recipe.check_every and step < last:
                    continue
                loss = mean_loss(tuned, valid, recipe.batch_size)
                report(step, loss)
                if loss < best:
                    best = loss
                    with atomic_folder(out) as folder:
                        tuned.save_pretrained(str(folder), save_embedding_layers=False)
    if best == float("inf"):
        raise DataError(f"validation loss {loss} after {step} steps; lower learning_rate")
    return best


def _adapted(model: Any, recipe: Lora, base: str) -> Any:
    try:
        from peft import LoraConfig, get_peft_model
    except ImportError:
        raise MissingExtra("training an adapter needs peft: pip install 'newsrec[llm]'") from None
    layers = LoraConfig(
        task_type="CAUSAL_LM", r=recipe.rank, lora_alpha=recipe.alpha,
        lora_dropout=recipe.dropout, target_modules=list(recipe.targets),
    )  # fmt: skip
    tuned = get_peft_model(model, layers)
    tuned.peft_config["default"].base_model_name_or_path = base
    return tuned


def loss_of(model: Any, turns: Sequence[Turn]) -> Tensor:
    """Mean cross-entropy of the answers' tokens."""
    texts = [torch.tensor([*turn.prompt, *turn.answer]) for turn in turns]
    answers = [text.clone() for text in texts]
    for turn, answer in zip(turns, answers, strict=True):
        answer[: len(turn.prompt)] = _NO_LOSS
    ids = pad_sequence(texts, batch_first=True)
    labels = pad_sequence(answers, batch_first=True, padding_value=_NO_LOSS)
    mask = pad_sequence([torch.ones_like(text) for text in texts], batch_first=True)
    where = model.device
    loss: Tensor = model(
        input_ids=ids.to(where), attention_mask=mask.to(where), labels=labels.to(where)
    ).loss
    return loss


def mean_loss(model: Any, turns: Sequence[Turn], batch_size: int) -> float:
    """Loss a token over all of ``turns``, without dropout."""
    model.eval()
    total = 0.0
    with torch.inference_mode():
        for batch in _batches(np.arange(len(turns)), turns, batch_size):
            total += float(loss_of(model, batch)) * sum(len(turn.answer) for turn in batch)
    return total / sum(len(turn.answer) for turn in turns)


def _batches(order: Any, turns: Sequence[Turn], size: int) -> Iterator[list[Turn]]:
    for start in range(0, len(order), size):
        yield [turns[int(i)] for i in order[start : start + size]]


def _short(turns: Sequence[Turn], most: int) -> list[Turn]:
    kept = [turn for turn in turns if len(turn.prompt) + len(turn.answer) <= most]
    if not kept:
        raise DataError(f"none of {len(turns)} examples has at most {most} tokens")
    return kept
