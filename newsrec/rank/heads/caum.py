"""CAUM: candidate-aware user modelling (Qi et al. 2022).

News: text, category and entities end to end, one linear layer to ``width``. User, for every
candidate: (1) a convolution over three neighbouring clicks and the candidate, (2) self-attention
among clicks that each see the candidate, both joined by a linear layer, (3) attention over the
clicks by a small network that sees the candidate, too. At the ends of a history the convolution
sees zeros.

Every layer before the first non-linearity is linear in click and candidate, so what belongs to a
click is worked out once, whatever the number of candidates; a part of a key that is the same for
all keys changes no softmax, and one of a value passes through it. The weighted sum of (3) is
linear, too: what joins (1) and (2) is applied to the sum, not to every click.

With 768 numbers, width 400, attention 400 and 256, 18 categories and 9,300 entities: news 968·400 +
400 = 387,600 and 12,000 (categories) and 60,800 + 930,100 (entities); user 640,400 + 320,400 +
641,600 + 320,400 + 320,400 + 102,656 + 257; together 3,736,613 (table 2: 3.7 M).
"""

from __future__ import annotations

import torch
from torch import Tensor, nn

from newsrec.rank.heads.head import NewsHead
from newsrec.rank.inputs import Inputs
from newsrec.rank.layers import attend, divisor, gather, masked_softmax, split
from newsrec.rank.news_modules import JoinedParts

State = tuple[Tensor, Tensor, Tensor, Tensor, Tensor]


class CandidateAwareReader(nn.Module):
    """Clicks as each candidate sees them, all candidates at once."""

    one_vector = False

    def __init__(self, width: int, heads: int, hidden: tuple[int, int]) -> None:
        super().__init__()
        self.heads = divisor(width, heads)
        self.near = nn.Linear(4 * width, width)  # left, itself, right, candidate
        self.pair = nn.Linear(2 * width, width)  # candidate, click
        self.into = nn.Linear(width, 3 * width)
        self.out = nn.Linear(width, width)
        self.both = nn.Linear(2 * width, width)  # convolution, self-attention
        self.first = nn.Linear(2 * width, hidden[0])  # click, candidate
        self.second = nn.Linear(hidden[0], hidden[1])
        self.third = nn.Linear(hidden[1], 1)

    def read(self, news: Tensor, history: Tensor, mask: Tensor) -> State:
        """``clicks (b, t, width)``: all of ``both`` that belongs to clicks; queries, keys and
        values ``(b, heads, t, d)``; ``mask (b, t)``."""
        near, local = self._near_weights()
        left, itself, right = (news @ part.T for part in near)
        empty = news.new_zeros(1, news.shape[1])
        left, right = torch.cat([left, empty]), torch.cat([right, empty])
        outside = history.new_full((len(history), 1), len(news))
        inside = torch.where(mask, history, len(news))
        before = torch.cat([outside, inside[:, :-1]], 1)
        after = torch.cat([inside[:, 1:], outside], 1)
        clicks = gather(itself, history) + gather(left, before) + gather(right, after) + local
        pair = self.pair.weight.chunk(2, 1)[1]
        parts = gather((news @ pair.T + self.pair.bias) @ self.into.weight.T, history)
        query, key, value = (
            split(part, self.heads) for part in (parts + self.into.bias).chunk(3, -1)
        )
        return clicks, query, key, value, mask

    def score(self, state: State, candidates: Tensor) -> Tensor:
        """``(b, c)``."""
        clicks, query, key, value, mask = state
        (b, c, width), t = candidates.shape, clicks.shape[1]
        own, asked = self._of_candidate(candidates)
        asked = split(asked, self.heads)[:, :, :, None]  # (b, heads, c, 1, d)
        queries = (query[:, :, None] + asked).flatten(2, 3)
        mixed = attend(queries, key, value, mask).transpose(1, 2).reshape(b, c, t, width)
        mixing = self.both.weight.chunk(2, 1)[1] @ self.out.weight
        of_click, of_candidate = self.first.weight.chunk(2, 1)
        beside = own @ of_click.T + candidates @ of_candidate.T + self.first.bias
        # In place: these hold a number for every pair and unit, 50 MB in a step of training.
        seen = (mixed @ (of_click @ mixing).T).add_((clicks @ of_click.T)[:, None])
        hidden = seen.add_(beside[:, :, None]).tanh_()
        logits = self.third(self.second(hidden).tanh_())[..., 0]
        weights = masked_softmax(logits, mask[:, None])
        told = torch.einsum("bct,bctd->bcd", weights, mixed) @ mixing.T + weights @ clicks
        return ((told + own * mask.any(1)[:, None, None]) * candidates).sum(-1)

    def _near_weights(self) -> tuple[tuple[Tensor, ...], Tensor]:
        """``near`` seen through ``both``: weights of left, itself and right, and all biases that
        end in a click's vector."""
        by_near, by_self = self.both.weight.chunk(2, 1)
        weights = (by_near @ self.near.weight[:, : -len(by_near)]).chunk(3, 1)
        bias = by_near @ self.near.bias + by_self @ self.out.bias + self.both.bias
        return weights, bias

    def _of_candidate(self, candidates: Tensor) -> tuple[Tensor, Tensor]:
        """What a candidate adds to every click's vector, and to every query: ``(b, c, width)``."""
        paired = candidates @ self.pair.weight.chunk(2, 1)[0].T
        query, _, value = self.into.weight.chunk(3)
        near = candidates @ self.near.weight.chunk(4, 1)[3].T
        mixed = paired @ value.T @ self.out.weight.T
        return torch.cat([near, mixed], -1) @ self.both.weight.T, paired @ query.T


def caum(
    inputs: Inputs,
    *,
    width: int = 400,
    heads: int = 8,
    hidden: tuple[int, int] = (400, 256),
    dropout: float = 0.2,
) -> NewsHead:
    """CAUM over sentence vectors."""
    return NewsHead(
        news=JoinedParts(
            width, len(inputs.views), inputs.dim, len(inputs.entities), len(inputs.categories),
            category_size=100, dropout=dropout,
        ),
        user=CandidateAwareReader(width, heads, hidden),
    )  # fmt: skip
