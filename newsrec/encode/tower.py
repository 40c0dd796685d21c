"""A sentence encoder that learns: texts by number to vectors, with gradients."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from torch import Tensor, nn

from newsrec.encode.checked import as_texts
from newsrec.encode.load import load_encoder
from newsrec.encode.policies import checkpoint, choose, merged
from newsrec.encode.tuning import Tuning
from newsrec.errors import ConfigError
from newsrec.protocols import Encoder
from newsrec.types import EncoderSpec, Ragged

if TYPE_CHECKING:
    from newsrec.encode.sentence import SentenceEncoder


class TextTower(nn.Module):
    """``encoder`` over ``texts``, tokenized once, with the weights that ``tuning`` trains.

    In evaluation mode and fp32 a text's vector is the one that `Encoder.encode` gives, up to
    rounding. The encoder's own weights are those that change: load it for this alone. ``seed``: of
    the first weights of adapters. Raises `ConfigError` for an encoder that has no transformer
    layers or rounds its weights, `MissingExtra` for adapters without peft.
    """

    def __init__(
        self, encoder: Encoder, texts: Sequence[str], tuning: Tuning | None = None, *, seed: int = 0
    ) -> None:
        super().__init__()
        self.tuning = Tuning() if tuning is None else tuning
        self._encoder = _trainable(encoder)
        self.model: nn.Sequential = self._encoder.model.float()
        first, *after = self.model
        transformer = first.auto_model
        pooler = self._encoder.uses_pooler
        choose(transformer, after, self.tuning, pooler=pooler, seed=seed)
        if self.tuning.checkpointing:
            checkpoint(transformer)
        self._tokens = Ragged.from_lists(self._encoder.tokens(as_texts(texts)) if texts else [])

    @property
    def n_texts(self) -> int:
        """How many texts there are."""
        return len(self._tokens)

    @property
    def spec(self) -> EncoderSpec:
        """What the encoder was before training."""
        return self._encoder.spec

    @property
    def told(self) -> Mapping[str, Any]:
        """What this is, in a few values: a run goes on only with the same."""
        total = hashlib.blake2b(digest_size=8)
        for part in (self._tokens.values, self._tokens.offsets):
            total.update(np.ascontiguousarray(part).tobytes())
        return {"tuning": self.tuning.lasting, "texts": total.hexdigest()}

    def forward(self, which: Tensor) -> Tensor:
        """``(k, dim)`` of the texts ``which (k,)``, in passes of like length."""
        rows = which.cpu().numpy()
        device = next(self.model.parameters()).device
        if not len(rows):
            return torch.zeros((0, self.spec.dim), device=device)
        parts, order = [], []
        for chosen in self._encoder.passes(self._tokens.lengths[rows]):
            tokens = [self._tokens[i].tolist() for i in rows[chosen]]
            parts.append(self._encoder.vectors(tokens, self.tuning.precision))
            order.append(chosen)
        place = torch.from_numpy(np.argsort(np.concatenate(order)))
        return torch.cat(parts)[place.to(device)]

    def save(self, folder: Path) -> EncoderSpec:
        """Write the encoder as it is now, adapters merged, as a model folder; the spec that
        `load_encoder` gives of it, which loads it once to see that it does.

        Its revision is the hash of its files: vectors of another state are not taken for its own.
        Matryoshka sizes are gone, since nothing of what was learnt keeps them.
        """
        with merged(self._encoder.model[0].auto_model):
            self._encoder.save(folder, f"{self.spec.name}-{self.tuning.policy}")
        trusted = self._encoder.trusted
        return load_encoder(
            str(folder), device="cpu", precision="fp32", trust_remote_code=trusted
        ).spec


def _trainable(encoder: Encoder) -> SentenceEncoder:
    """``encoder`` if it is a transformer over tokens with whole weights; `ConfigError` else."""
    from newsrec.encode.sentence import SentenceEncoder

    spec = encoder.spec
    if not isinstance(encoder, SentenceEncoder) or not encoder.takes_tokens:
        raise ConfigError(
            f"encoder {spec.name!r} ({spec.pooling}) has no transformer layers to train; use "
            "trainable: none, which trains a head over its vectors, or another encoder"
        )
    if spec.precision != "fp32":
        raise ConfigError(
            f"encoder {spec.name!r} was loaded in {spec.precision}, whose rounded weights cannot "
            "be trained; load it with precision fp32, and let the training compute in bf16"
        )
    return encoder
