"""Every head by name: how it is made, what it reads, how it is trained."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from inspect import signature
from typing import Any

import torch

from newsrec.errors import HeadError, unknown_name
from newsrec.rank.heads.caum import caum
from newsrec.rank.heads.head import NewsHead
from newsrec.rank.heads.lfrec import lfrec
from newsrec.rank.heads.manner import manner
from newsrec.rank.heads.mins import mins
from newsrec.rank.heads.naml import naml, naml_cat
from newsrec.rank.inputs import Inputs


@dataclass(frozen=True, slots=True)
class HeadRecipe:
    """``loss``: what it is trained with; ``text``: whether it reads an encoder's vectors;
    ``needs``: fields of `Inputs` that must not be empty; ``encoder_only``: nothing but the encoder
    learns."""

    about: str
    make: Callable[..., NewsHead]
    loss: str = "ce"
    text: bool = True
    needs: tuple[str, ...] = ()
    encoder_only: bool = False

    @property
    def options(self) -> tuple[str, ...]:
        """Names of the keyword options."""
        return tuple(signature(self.make).parameters)[1:]


HEADS: dict[str, HeadRecipe] = {
    "naml": HeadRecipe("views and category, attention over clicks", naml),
    "naml-cat": HeadRecipe(
        "categories alone, attention over clicks", naml_cat, text=False, needs=("categories",)
    ),
    "mins": HeadRecipe("self-attention and GRU channels over clicks", mins),
    "caum": HeadRecipe("clicks as each candidate sees them, entities", caum),
    "manner": HeadRecipe("text and entities, mean of clicks", manner, loss="scl"),
    "lfrec": HeadRecipe("late fusion, untrained", lfrec, encoder_only=True),
    "lfrec-ce": HeadRecipe("late fusion, the encoder trained by CE", lfrec, encoder_only=True),
    "lfrec-scl": HeadRecipe(
        "late fusion, the encoder trained by SCL", lfrec, loss="scl", encoder_only=True
    ),
}


def make_head(name: str, inputs: Inputs, seed: int = 0, **options: Any) -> NewsHead:
    """The head ``name`` with its keyword ``options``, random weights from ``seed``.

    Raises `ConfigError` for an unknown name or option, and when ``inputs`` lack what it needs.
    """
    if name not in HEADS:
        raise HeadError(str(unknown_name("head", name, tuple(HEADS))))
    recipe = HEADS[name]
    for option in options:
        if option not in recipe.options:
            raise unknown_name(f"option of head {name!r}", option, recipe.options or ("(none)",))
    for need in recipe.needs:
        if not getattr(inputs, need):
            raise HeadError(f"head {name!r} reads {need}, and the corpus has none")
    if recipe.text and not inputs.views:
        raise HeadError(f"head {name!r} reads an encoder's vectors; name at least one view")
    if not recipe.text:
        inputs = replace(inputs, views=(), dim=0, encoder=None)
    # Layers draw their first weights from torch's own generator: it is put back afterwards.
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        head = recipe.make(inputs, **options)
    head.inputs, head.name, head.options = inputs, name, options
    return head
