"""What a head is trained with, on the scores of one impression each."""

from __future__ import annotations

import torch
from torch import Tensor


def cross_entropy(
    scores: Tensor, clicked: Tensor, mask: Tensor, temperature: float = 1.0
) -> Tensor:
    """Softmax over one click and its non-clicks: ``(b,)``.

    ``scores``, ``clicked``, ``mask (b, c)``; exactly one is clicked in each row.
    """
    return supervised_contrast(scores, clicked, mask, temperature)


def supervised_contrast(
    scores: Tensor, clicked: Tensor, mask: Tensor, temperature: float = 0.38
) -> Tensor:
    """Supervised contrastive loss over the scores of an impression (Khosla et al. 2020, L_out).

    The mean over clicks p of ``-log(exp(s_p / t) / sum_j exp(s_j / t))``, j over clicks and
    non-clicks: ``(b,)``. With one click it is the cross-entropy. t = 0.38 in paper 004.
    """
    log_share = (scores / temperature).masked_fill(~mask, -torch.inf).log_softmax(-1)
    count = clicked.sum(-1).clamp_min(1)
    return -log_share.masked_fill(~clicked, 0).sum(-1) / count


def label_contrast(vectors: Tensor, label: Tensor, temperature: float = 0.9) -> Tensor:
    """Supervised contrastive loss among articles: those of one label attract each other, ``(n,)``.

    ``vectors (n, width)`` compared by dot product, ``label (n,)``; 0 for an article that is alone
    in its label. MANNeR's A-modules, t = 0.9.
    """
    itself = torch.eye(len(vectors), dtype=torch.bool, device=vectors.device)
    same = (label[:, None] == label[None]) & ~itself
    logits = (vectors @ vectors.T / temperature).masked_fill(itself, -torch.inf)
    share = logits.log_softmax(-1).masked_fill(~same, 0)
    return -share.sum(-1) / same.sum(-1).clamp_min(1)
