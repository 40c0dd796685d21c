"""Vectors of an English teacher, for the start and the distillation of a static encoder."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float32]


def teacher_vectors(
    texts: Sequence[str],
    folder: Path,
    *,
    n_tokens: int = 48,
    batch: int = 128,
    report: Callable[[int], None] = lambda done: None,
) -> Floats:
    """``(n, d)``: mean of the last layer over tokens, length 1, in bfloat16 on the CPU.

    ``folder`` holds a BERT-shaped model of `transformers`; texts are cut at `n_tokens`.
    """
    import torch
    from transformers import AutoModel, AutoTokenizer

    tokenizer = AutoTokenizer.from_pretrained(str(folder))
    model = AutoModel.from_pretrained(str(folder), dtype=torch.bfloat16).eval()
    ids = tokenizer(list(texts), truncation=True, max_length=n_tokens)["input_ids"]
    order = np.argsort([len(one) for one in ids], kind="stable")
    vectors = np.zeros((len(texts), model.config.hidden_size), np.float32)
    for start in range(0, len(texts), batch):
        rows = order[start : start + batch]
        mask = np.zeros((len(rows), max(len(ids[row]) for row in rows)), np.int64)
        padded = np.zeros_like(mask)
        for i, row in enumerate(rows):
            padded[i, : len(ids[row])] = ids[row]
            mask[i, : len(ids[row])] = 1
        with torch.inference_mode():
            hidden = (
                model(input_ids=torch.from_numpy(padded), attention_mask=torch.from_numpy(mask))
                .last_hidden_state.float()
                .numpy()
            )
        mean = (hidden * mask[..., None]).sum(1) / mask.sum(1, keepdims=True)
        vectors[rows] = mean / np.linalg.norm(mean, axis=1, keepdims=True)
        report(start + len(rows))
    return vectors


def principal(vectors: Floats, dim: int) -> Floats:
    """Centred vectors on their first `dim` principal axes, length 1: prefixes carry the most."""
    centred = vectors - vectors.mean(0)
    _, axes = np.linalg.eigh((centred.T @ centred / len(centred)).astype(np.float64))
    axes = axes[:, ::-1][:, :dim]
    axes = axes * np.sign(axes[np.abs(axes).argmax(0), np.arange(axes.shape[1])])
    found = np.asarray(centred @ axes, np.float32)
    if found.shape[1] < dim:  # a teacher narrower than the student
        found = np.pad(found, ((0, 0), (0, dim - found.shape[1])))
    length = np.linalg.norm(found, axis=1, keepdims=True)
    return np.asarray(found / np.where(length > 0, length, 1), np.float32)
