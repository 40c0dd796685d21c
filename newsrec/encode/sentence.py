"""Sentence encoders over transformers; the only import of sentence_transformers.

Texts are tokenized once, identical ones encoded once, and batches hold texts of similar length up
to a budget of tokens. Coarser arithmetic on a CPU gets texts of one length at a time: nothing is
padded, and a vector does not depend on its neighbours by a single bit of rounding.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from sentence_transformers import SentenceTransformer
from sentence_transformers.sentence_transformer.modules import Normalize, Pooling, Transformer
from torch import Tensor

from newsrec.encode import precision as numbers
from newsrec.encode.batches import batches, padded
from newsrec.encode.checked import as_texts
from newsrec.encode.folder import call, is_pipeline
from newsrec.encode.loading import loading, quiet
from newsrec.encode.presets import Preset
from newsrec.errors import ConfigError, DataError, one_line
from newsrec.types import EncoderSpec
from newsrec.types.embeddings import unit_rows

_CPU_TOKENS = 512  # per thread and forward pass; more no longer fits the caches
_CPU_SPREAD = 0.2  # of the length; a small model gains more from fewer passes than padding costs
_GPU_TOKENS = 32_768
_OFFSET_POSITIONS = ("roberta", "camembert", "mpnet", "longformer", "xmod", "data2vec-text")


class SentenceEncoder:
    """A transformers or sentence-transformers model in ``folder`` as an `Encoder`.

    ``preset`` is its convention, ``name`` and ``revision`` go into the spec. Raises `DataError`
    when the folder does not load as the model it says it is, `ConfigError` for a device or
    precision that is not there and for code that is not trusted.
    """

    def __init__(
        self,
        folder: Path,
        preset: Preset,
        *,
        name: str,
        revision: str,
        device: str | None = None,
        precision: str = "auto",
        batch_size: int | None = None,
        trust_remote_code: bool = False,
        backend: str = "torch",
    ) -> None:
        self._device = _device(device)
        self._batch_size = batch_size
        #: Whether the model may run code of its folder.
        self.trusted = trust_remote_code
        own = preset.pipeline and is_pipeline(folder)
        with loading(folder) as report:
            self._model = _load(folder, preset, own, self._device, trust_remote_code, backend)
            problem = report.first(pooler=_uses_pooler(self._model))
            if problem:
                raise DataError(f"{folder}: not loadable: {problem}")
            self._model.eval()
            self._prefix = preset.prefix if preset.prefix is not None else _own_prefix(self._model)
            self._max_tokens = _max_tokens(self._model, preset.max_tokens)
            self._plain = _takes_tokens(self._model, self._prefix)
            kind = backend if self._plain else "pipeline"
            self._precision = numbers.choose(precision, self._device, self._model, kind)
            numbers.apply(self._model[0], self._precision)
            # One text through the whole model: what does not fit together shows here.
            dim = int(self._encode(["a"]).shape[1])
        self._spec = EncoderSpec(
            name=name, revision=revision, dim=dim,
            pooling=_described(self._model) if own else preset.pooling,
            levels=_levels(name, preset.levels, dim),
            normalized=isinstance(self._model[-1], Normalize),
            prefix=self._prefix, max_tokens=self._max_tokens,
            precision=self._precision if backend == "torch" else f"{backend}-{self._precision}",
        )  # fmt: skip

    @property
    def spec(self) -> EncoderSpec:
        """What identifies the vectors."""
        return self._spec

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """``(n, dim) float32`` in the order given; an empty text is a text like any other."""
        first: dict[str, int] = {}
        rows = [first.setdefault(text, len(first)) for text in as_texts(texts)]
        if not first:
            return np.zeros((0, self._spec.dim), np.float32)
        vectors = self._encode(list(first))
        if self._spec.normalized:  # rounding has bent the lengths a little
            vectors = unit_rows(vectors)
        return vectors[rows] if len(first) < len(rows) else vectors

    def _encode(self, texts: list[str]) -> NDArray[np.float32]:
        """At least one distinct text, ``(n, dim)``."""
        with torch.inference_mode():
            return self._encode_tokens(texts) if self._plain else self._encode_texts(texts)

    def _encode_texts(self, texts: list[str]) -> NDArray[np.float32]:
        """A pipeline that does not begin with a transformer over tokens encodes in its own way."""
        found = self._model.encode(
            texts, prompt=self._prefix, batch_size=self._batch_size or 32, convert_to_numpy=True,
            show_progress_bar=False,
        )  # fmt: skip
        return np.asarray(found, np.float32)

    def tokens(self, texts: Sequence[str]) -> list[list[int]]:
        """Token ids of every text with prefix and marks, cut to the encoder's limit."""
        found: list[list[int]] = self._model.tokenizer(
            [self._prefix + text for text in texts],
            truncation=self._max_tokens > 0,
            max_length=self._max_tokens or None,
            return_attention_mask=False,
            return_token_type_ids=False,
        )["input_ids"]
        return found

    def passes(self, lengths: NDArray[np.int64]) -> Iterator[NDArray[np.int64]]:
        """Which texts of ``lengths (n,)``, in tokens, go through the model together."""
        budget, spread = _GPU_TOKENS, 1.0
        if self._model.device.type == "cpu":
            budget = _CPU_TOKENS * torch.get_num_threads()
            spread = _CPU_SPREAD if self._precision == "fp32" else 0.0
        return batches(lengths, budget=budget, most=self._batch_size, spread=spread)

    def vectors(self, tokens: Sequence[Sequence[int]], precision: str | None = None) -> Tensor:
        """One pass, ``(n, dim)`` float32; gradients flow where the caller lets them.

        Only the transformer itself runs in ``precision`` (None: the encoder's own). A tokenizer
        that adds no marks leaves nothing of an empty text: its vector is zero.
        """
        left, device = self._model.tokenizer.padding_side == "left", self._model.device
        some = [row if len(row) else [self._pad] for row in tokens]
        ids, mask = (torch.from_numpy(a) for a in padded(some, self._pad, left=left))
        features = {"input_ids": ids.to(device), "attention_mask": mask.to(device)}
        with numbers.arithmetic(precision or self._precision, device):
            features = self._model[0](features)
        for key in ("token_embeddings", "sentence_embedding"):
            if key in features:
                features[key] = features[key].float()
        for module in list(self._model)[1:]:
            features = module(features)
        found: Tensor = features["sentence_embedding"].float()
        if all(map(len, tokens)):
            return found
        full = torch.tensor([len(row) > 0 for row in tokens], device=device)
        return found.masked_fill(~full[:, None], 0)

    @property
    def model(self) -> SentenceTransformer:
        """The modules, from token ids to vectors: what training changes."""
        return self._model

    @property
    def takes_tokens(self) -> bool:
        """Whether the first module is a transformer over the tokens of a text, nothing more."""
        return self._plain

    @property
    def uses_pooler(self) -> bool:
        """Whether a vector comes from the transformer's own pooler."""
        return _uses_pooler(self._model)

    def save(self, folder: Path, name: str) -> None:
        """Write the model as it is now into ``folder``, a sentence-transformers pipeline that has
        this encoder's prefix and limit, and is called ``name``."""
        model = self._model
        model.prompts = {**model.prompts, "newsrec": self._prefix}
        model.default_prompt_name = "newsrec" if self._prefix else None
        if self._max_tokens:
            model.max_seq_length = self._max_tokens
        with quiet():
            model.save(str(folder), create_model_card=False, safe_serialization=True)
        call(folder, name)

    def _encode_tokens(self, texts: list[str]) -> NDArray[np.float32]:
        tokens = self.tokens(texts)
        lengths = np.fromiter(map(len, tokens), np.int64, len(tokens))
        vectors: NDArray[np.float32] | None = None
        for rows in self.passes(lengths):
            found = self.vectors([tokens[i] for i in rows]).cpu().numpy()
            if vectors is None:
                vectors = np.empty((len(texts), found.shape[1]), np.float32)
            vectors[rows] = found
        assert vectors is not None  # there is at least one text
        return vectors

    @property
    def _pad(self) -> int:
        return int(self._model.tokenizer.pad_token_id or 0)


def _load(
    folder: Path, preset: Preset, own: bool, device: torch.device, trusted: bool, backend: str
) -> SentenceTransformer:
    """The folder's own pipeline, or its transformer with the preset's pooling."""
    # Nothing is looked up on the hub for a folder, except code that the user trusts.
    found = {"trust_remote_code": trusted, "local_files_only": not trusted}
    weights = {"use_safetensors": True} if backend == "torch" else {}
    if own:
        model = SentenceTransformer(
            str(folder), device=str(device), backend=backend, model_kwargs=weights, **found
        )
        if preset.normalize and not isinstance(model[-1], Normalize):
            model.append(Normalize())
        return model
    pooled: dict[str, Any] = {}
    if preset.pooling == "pooler":  # the model's own pooler makes the sentence vector
        output = {"method": "forward", "method_output_name": "pooler_output"}
        pooled = {"modality_config": {"text": output}, "module_output_name": "sentence_embedding"}
    transformer = Transformer(
        str(folder), model_kwargs={**found, **weights}, processor_kwargs=dict(found),
        config_kwargs=dict(found), backend=backend, **pooled,
    )  # fmt: skip
    modules: list[Any] = [transformer]
    if preset.pooling != "pooler":
        modules.append(Pooling(transformer.get_embedding_dimension(), preset.pooling))
    if preset.normalize:
        modules.append(Normalize())
    return SentenceTransformer(modules=modules, device=str(device))


def _uses_pooler(model: SentenceTransformer) -> bool:
    """Whether a vector comes from the transformer's own pooler."""
    outputs = getattr(model[0], "modality_config", {}).values()
    return any("pooler_output" in str(output.get("method_output_name")) for output in outputs)


def _device(wanted: str | None) -> torch.device:
    from sentence_transformers.util import get_device_name

    try:
        device = torch.device(wanted or get_device_name())
        torch.zeros(1, device=device)
    except (RuntimeError, AssertionError, NotImplementedError) as error:
        raise ConfigError(f"device {wanted!r}: {one_line(error)}") from None
    return device


def _own_prefix(model: SentenceTransformer) -> str:
    """The prompt that a pipeline puts before every text unless told otherwise."""
    return str(model.prompts.get(model.default_prompt_name or "", "") or "")


def _max_tokens(model: SentenceTransformer, wanted: int) -> int:
    """The smaller of what is wanted and what the model can hold; 0 = no limit."""
    own = model.max_seq_length
    limit = int(own) if own is not None and own < 1_000_000 else 0
    config = getattr(model[0], "config", None)
    positions = int(getattr(config, "max_position_embeddings", None) or 0)
    if positions > 0:
        kind = str(getattr(config, "model_type", ""))
        if any(part in kind for part in _OFFSET_POSITIONS):
            # Their positions count from padding_idx + 1; tokenizers do not always say so.
            positions -= int(getattr(config, "pad_token_id", None) or 0) + 1
        limit = min(limit or positions, positions)
    return min(limit or wanted, wanted or limit)


def _takes_tokens(model: SentenceTransformer, prefix: str) -> bool:
    """Whether the first module is a transformer over the tokens of a text, nothing more."""
    first = model[0]
    if not isinstance(first, Transformer) or "message" in first.modality_config:
        return False
    counts_prefix = any(not getattr(m, "include_prompt", True) for m in model) and prefix
    special = first.processing_kwargs or first.unpad_inputs or counts_prefix
    return bool(getattr(model.tokenizer, "is_fast", False)) and not special


def _described(model: SentenceTransformer) -> str:
    """A pipeline in words: ``cls+dense``, ``mean+normalize``, …"""
    parts = []
    for module in list(model)[1:]:
        mode = getattr(module, "pooling_mode", type(module).__name__.lower())
        parts.append(mode if isinstance(mode, str) else "-".join(mode))
    return "+".join(parts) or type(model[0]).__name__.lower()


def _levels(name: str, levels: Sequence[int], dim: int) -> tuple[int, ...]:
    if any(level > dim for level in levels):
        raise ConfigError(f"{name}: levels {tuple(levels)}, but its vectors have {dim} numbers")
    return (*(level for level in levels if level < dim), dim)
