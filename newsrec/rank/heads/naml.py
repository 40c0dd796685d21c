"""NAML: attentive multi-view learning (Wu et al. 2019a), and its category-only form (paper 004).

News: views and category, weighed by additive attention. User: additive attention over the clicked
news. With vectors of 768 numbers, 18 categories and query 50: 19·100 + (100·768 + 768) for the
categories, 2 · (768·50 + 50 + 50) for the two attentions, together 156,468 (table 2: 0.156 M).
"""

from __future__ import annotations

from torch import Tensor, nn
from torch.nn import functional

from newsrec.rank.heads.head import NewsHead
from newsrec.rank.inputs import Inputs
from newsrec.rank.layers import AdditiveAttention, dot, gather, masked_softmax
from newsrec.rank.news_modules import AttendedViews, OnlyCategory


class AttentiveReader(nn.Module):
    """Clicked news, weighed by additive attention; the order of clicks does not matter."""

    one_vector = True

    def __init__(self, width: int, query: int) -> None:
        super().__init__()
        self.attention = AdditiveAttention(width, query)

    def read(self, news: Tensor, history: Tensor, mask: Tensor) -> Tensor:
        """``(b, width)``; what attention thinks of an article is worked out once for a batch."""
        logits = gather(self.attention.logits(news)[:, None], history)[..., 0]
        weights = masked_softmax(logits, mask)
        return functional.embedding_bag(history, news, mode="sum", per_sample_weights=weights)

    def score(self, state: Tensor, candidates: Tensor) -> Tensor:
        """``(b, c)``."""
        return dot(state, candidates)


def naml(inputs: Inputs, *, query: int = 50, dropout: float = 0.2) -> NewsHead:
    """NAML over sentence vectors; the news vector is as wide as the encoder's."""
    width = inputs.dim
    return NewsHead(
        news=AttendedViews(width, len(inputs.categories), query=query, dropout=dropout),
        user=AttentiveReader(width, query),
    )


def naml_cat(
    inputs: Inputs, *, width: int = 768, query: int = 200, dropout: float = 0.2
) -> NewsHead:
    """NAML that sees no text: a table of categories, random at first.

    387,468 parameters of table 2 (0.387 M) are these 233,468 and an attention over the only view,
    which weighs nothing and is left out here.
    """
    return NewsHead(
        news=OnlyCategory(width, len(inputs.categories), dropout=dropout),
        user=AttentiveReader(width, query),
    )
