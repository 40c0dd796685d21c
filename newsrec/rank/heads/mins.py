"""MINS: multi-interest news sequences (Wang et al. 2022).

News as in NAML. User: self-attention among the clicked news, the result cut into channels with a
GRU over the clicks of each, and additive attention over the states after every click.

With vectors of 768 numbers, 18 categories and query 100: 79,468 for the categories, 2 · 77,000 for
the attentions, 4 · 768 · 769 = 2,362,368 for self-attention, and 6·128·129 = 99,072 a GRU. Table 2
(2.7 M) counts one GRU: the public code runs the same one over all six channels, which makes
2,694,908; with a GRU for each channel, as the paper has it and as is the default here, 3,190,268.
"""

from __future__ import annotations

from torch import Tensor, nn

from newsrec.rank.heads.head import NewsHead
from newsrec.rank.inputs import Inputs
from newsrec.rank.layers import AdditiveAttention, Channels, SelfAttention, dot, gather
from newsrec.rank.news_modules import AttendedViews


class SequenceReader(nn.Module):
    """Clicks in their order."""

    one_vector = True

    def __init__(self, width: int, heads: int, channels: int, one_gru: bool, query: int) -> None:
        super().__init__()
        self.among = SelfAttention(width, heads)
        self.channels = Channels(width, channels, one_gru)
        self.attention = AdditiveAttention(width, query)

    def read(self, news: Tensor, history: Tensor, mask: Tensor) -> Tensor:
        """``(b, width)``."""
        mixed = self.among(gather(news, history), mask)
        found: Tensor = self.attention(self.channels(mixed, mask), mask)
        return found

    def score(self, state: Tensor, candidates: Tensor) -> Tensor:
        """``(b, c)``."""
        return dot(state, candidates)


def mins(
    inputs: Inputs,
    *,
    heads: int = 16,
    channels: int = 6,
    one_gru: bool = False,
    query: int = 100,
    dropout: float = 0.2,
) -> NewsHead:
    """MINS over sentence vectors. ``heads`` and ``channels`` are at most these: the largest number
    that divides the width is taken. ``one_gru``: all channels share one (protocol newsreclib)."""
    width = inputs.dim
    return NewsHead(
        news=AttendedViews(width, len(inputs.categories), query=query, dropout=dropout),
        user=SequenceReader(width, heads, channels, one_gru, query),
    )
