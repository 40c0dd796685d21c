"""LFRec: late fusion of the encoder's own vectors (Iana et al. 2023b; paper 004 §4).

score(candidate) = mean over the history of candidate · history. There is nothing to train but the
encoder itself: table 2 prints 0 trainable parameters for the frozen LFRec, and its LFRec-CE and
LFRec-SCL exist with a fine-tuned encoder only. No adapter is put in between here either.
"""

from __future__ import annotations

from torch import Tensor, nn
from torch.nn import functional

from newsrec.rank.heads.head import NewsHead
from newsrec.rank.inputs import Inputs
from newsrec.rank.layers import dot
from newsrec.rank.news_modules import MeanOfViews


class MeanReader(nn.Module):
    """The mean of the clicked news (MANNeR, LFRec)."""

    one_vector = True

    def read(self, news: Tensor, history: Tensor, mask: Tensor) -> Tensor:
        """``(b, width)``."""
        weights = mask / mask.sum(1, keepdim=True).clamp_min(1)
        return functional.embedding_bag(
            history, news, mode="sum", per_sample_weights=weights.to(news.dtype)
        )

    def score(self, state: Tensor, candidates: Tensor) -> Tensor:
        """``(b, c)``."""
        return dot(state, candidates)


def lfrec(inputs: Inputs) -> NewsHead:
    """Late fusion; ``inputs`` say which vectors."""
    return NewsHead(news=MeanOfViews(), user=MeanReader())
