"""MPCL: contrastive learning with several positives (Zhao et al. 2024, equation 2).

``l_i = -log( sum_k exp(s_ik / t) / sum_{j != i} exp(s_ij / t) )``: the sum over positives is inside
the logarithm and positives stay in the denominator; every text of a group is an anchor, every
other text of the batch, in whatever language, is in the denominator.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

_ROWS = 512  # anchors worked on at a time, so that their similarities stay in cache


def multipositive_loss(
    vectors: Tensor, group: Tensor, *, temperature: float = 0.05, rescale: bool = False
) -> Tensor:
    """Mean of ``l_i`` over the anchors that have a positive, by plain autograd.

    ``vectors (n, dim)`` of any length, ``group (n,)``: texts with the same number are positives of
    each other. ``rescale`` stretches each row's cosines, without the diagonal, to [-1, 1] (the
    paper's min-max scaling; it does not say over what, see protocol §6).
    """
    unit = torch.nn.functional.normalize(vectors, dim=1)
    cosine = unit @ unit.T
    itself = torch.eye(len(unit), dtype=torch.bool, device=unit.device)
    if rescale:
        low = cosine.masked_fill(itself, 2).amin(1, keepdim=True)
        high = cosine.masked_fill(itself, -2).amax(1, keepdim=True)
        cosine = 2 * (cosine - low) / (high - low).clamp_min(1e-6) - 1
    logits = (cosine / temperature).masked_fill(itself, -torch.inf)
    positive = (group[:, None] == group[None, :]) & ~itself
    anchors = positive.any(1)
    found = logits.masked_fill(~positive, -torch.inf)[anchors].logsumexp(1)
    return (logits[anchors].logsumexp(1) - found).mean()


class _Nested(torch.autograd.Function):
    """The loss at every Matryoshka level at once, gradient worked out with the value.

    The similarities of a longer prefix are those of the shorter one plus one more product, so all
    levels together cost one product over the full width; blocks of anchors stay in cache.
    """

    @staticmethod
    def forward(
        ctx: Any,
        vectors: Tensor,
        group: Tensor,
        levels: tuple[int, ...],
        temperature: float,
        half: bool,
    ) -> Tensor:
        kind = torch.bfloat16 if half else vectors.dtype
        starts = (0, *levels[:-1])
        scale = [vectors[:, :d].norm(dim=1).clamp_min(1e-12).reciprocal() for d in levels]
        parts = [vectors[:, a:b].to(kind) for a, b in zip(starts, levels, strict=True)]
        other = torch.bincount(group)[group] > 1
        weight = other.to(vectors.dtype) / (other.sum().clamp_min(1) * len(levels) * temperature)
        gradient = torch.zeros_like(vectors)
        value = vectors.new_zeros(())
        for start in range(0, len(vectors), _ROWS):
            rows = slice(start, start + _ROWS)
            same = group[rows, None] == group[None, :]
            itself = torch.arange(start, start + same.shape[0])
            same[torch.arange(len(itself)), itself] = False
            product: Tensor | float = 0.0
            slopes = []
            for part, size in zip(parts, scale, strict=True):
                product = product + (part[rows] @ part.T).to(vectors.dtype)
                cosine = product * size[rows, None] * size
                each = (cosine / temperature - 1 / temperature).exp_()
                each[torch.arange(len(itself)), itself] = 0
                total = each.sum(1)
                chosen = each * same
                found = chosen.sum(1).clamp_min(1e-30)
                value += ((total.log() - found.log()) * weight[rows]).sum() * temperature
                slope = each.mul_((weight[rows] / total)[:, None])
                slope -= chosen.mul_((weight[rows] / found)[:, None])
                slopes.append((slope, cosine))
            _back(gradient, rows, parts, scale, slopes, vectors, starts, levels)
        ctx.save_for_backward(gradient)
        return value

    @staticmethod
    def backward(ctx: Any, *upstream: Tensor) -> tuple[Tensor | None, ...]:
        (gradient,) = ctx.saved_tensors
        return gradient * upstream[0], None, None, None, None


def _back(
    gradient: Tensor,
    rows: slice,
    parts: list[Tensor],
    scale: list[Tensor],
    slopes: list[tuple[Tensor, Tensor]],
    vectors: Tensor,
    starts: tuple[int, ...],
    levels: tuple[int, ...],
) -> None:
    """Add to ``gradient`` what the anchors ``rows`` hand back; ``slopes`` = d loss / d cosine.

    With ``cos_ij = (x_i . x_j) r_i r_j`` and ``r = 1 / |x|``, ``d cos_ij / d x_i = r_i r_j x_j -
    cos_ij r_i^2 x_i``; the first terms of all levels that cover a part share one product.
    """
    summed: Tensor | float = 0.0
    for i in range(len(levels) - 1, -1, -1):
        slope, cosine = slopes[i]
        size = scale[i]
        turn = slope * cosine
        width = levels[i]
        gradient[rows, :width] -= (turn.sum(1) * size[rows] ** 2)[:, None] * vectors[rows, :width]
        gradient[:, :width] -= (turn.sum(0) * size**2)[:, None] * vectors[:, :width]
        summed = summed + slope * size[rows, None] * size
        pushed = summed.to(parts[i].dtype)
        columns = slice(starts[i], width)
        gradient[rows, columns] += (pushed @ parts[i]).to(gradient.dtype)
        gradient[:, columns] += (pushed.T @ parts[i][rows]).to(gradient.dtype)


def nested_loss(
    vectors: Tensor,
    group: Tensor,
    levels: Sequence[int],
    *,
    temperature: float = 0.05,
    half: bool = False,
) -> Tensor:
    """Mean over Matryoshka levels of `multipositive_loss` on each prefix, without autograd's cost.

    ``vectors (n, dim)``, ``group (n,) int64`` from 0, ``levels`` rising prefixes of dim; ``half``
    does the matrix products in bfloat16.
    """
    apply: Any = _Nested.apply
    loss: Tensor = apply(vectors, group, tuple(levels), temperature, half)
    return loss
