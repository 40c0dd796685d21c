"""Which weights of a transformer are trained; the only place that knows how models name layers."""

from __future__ import annotations

import copy
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

import torch
from torch import nn

from newsrec.encode.tuning import Tuning
from newsrec.errors import ConfigError, MissingExtra

#: How many layers, from the end, ``last4`` trains.
LAST = 4


def choose(
    transformer: nn.Module, after: Iterable[nn.Module], tuning: Tuning, *, pooler: bool, seed: int
) -> None:
    """Let gradients into what ``tuning`` trains, in place, and into nothing else.

    ``after``: the modules that read the transformer's output; ``pooler``: whether its own pooler is
    used at all; ``seed``: of the first weights of adapters. `ConfigError` for a model without a
    stack of layers, `MissingExtra` for adapters without peft.
    """
    whole = nn.ModuleList([transformer, *after])
    whole.requires_grad_(tuning.policy in ("all", "last4+embeddings"))
    if tuning.policy == "last4":
        layers_of(transformer)[-LAST:].requires_grad_(True)
    elif tuning.policy == "last4+embeddings":
        layers_of(transformer)[:-LAST].requires_grad_(False)
    elif tuning.policy == "lora":
        _adapt(transformer, tuning, seed)
    unused = getattr(transformer, "pooler", None)
    if isinstance(unused, nn.Module) and not pooler:
        unused.requires_grad_(False)


def layers_of(transformer: nn.Module) -> nn.ModuleList:
    """The stack of a transformer's layers, the one nearest to the input first."""
    config = getattr(transformer, "config", None)
    n = getattr(config, "num_hidden_layers", None)
    for module in transformer.modules():
        if isinstance(module, nn.ModuleList) and n and len(module) == n:
            return module
    raise ConfigError(
        f"{type(transformer).__name__} has no stack of {n or 'transformer'} layers of which the "
        "last could be trained; use trainable: none or all"
    )


def checkpoint(transformer: Any) -> None:
    """Keep no activations inside the layers of a transformers model."""
    # transformers 5.20 gave it another name; non-reentrant, since frozen embeddings need no
    # gradient, and what they give to the first layer then has none either.
    said = {"use_reentrant": False}
    if hasattr(transformer, "activation_checkpointing_enable"):
        transformer.activation_checkpointing_enable(activation_checkpointing_kwargs=said)
    else:
        transformer.gradient_checkpointing_enable(gradient_checkpointing_kwargs=said)


def _adapt(transformer: nn.Module, tuning: Tuning, seed: int) -> None:
    """Low-rank adapters beside every linear layer of the stack; they begin as nothing."""
    try:
        from peft import LoraConfig, inject_adapter_in_model
    except ImportError:
        raise MissingExtra("trainable: lora needs peft: pip install 'newsrec[llm]'") from None
    inside = {id(module) for module in layers_of(transformer).modules()}
    names = [
        name
        for name, module in transformer.named_modules()
        if isinstance(module, nn.Linear) and id(module) in inside
    ]
    config = LoraConfig(
        r=tuning.rank, lora_alpha=tuning.alpha, lora_dropout=tuning.dropout, target_modules=names
    )
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        inject_adapter_in_model(config, transformer)


@contextmanager
def merged(transformer: Any) -> Iterator[None]:
    """Inside, adapters are part of the weights, and the model is a plain one; afterwards it is as
    it was, to the last bit."""
    adapted = []
    for parent in list(transformer.modules()):
        for name, layer in list(parent.named_children()):
            if hasattr(layer, "get_delta_weight"):
                plain = copy.deepcopy(layer.get_base_layer())
                plain.weight.data += layer.get_delta_weight("default").detach()
                setattr(parent, name, plain)
                adapted.append((parent, name, layer))
    try:
        yield
    finally:
        for parent, name, layer in adapted:
            setattr(parent, name, layer)
