"""A head: a news module and a user module, composed once."""

from __future__ import annotations

from collections.abc import Mapping

from torch import Tensor, nn

from newsrec.rank.inputs import Inputs
from newsrec.rank.layers import Reader, gather
from newsrec.rank.news_modules import Items


class NewsHead(nn.Module):
    """``news`` turns `Items` into vectors ``(m, width)``, ``user`` is a `Reader` of them.

    ``inputs``, ``name`` and ``options`` say how `newsrec.rank.heads.make_head` makes it again.
    """

    inputs: Inputs

    def __init__(self, *, news: nn.Module, user: nn.Module) -> None:
        super().__init__()
        self.news = news
        self.user = user
        self.name = ""
        self.options: Mapping[str, object] = {}

    @property
    def reader(self) -> Reader:
        """The user module by its contract."""
        return self.user  # type: ignore[return-value]

    def forward(self, items: Items, history: Tensor, mask: Tensor, candidates: Tensor) -> Tensor:
        """``(b, c)`` scores; ``history (b, t)``, ``candidates (b, c)`` number the items."""
        vectors = self.news(items)
        state = self.reader.read(vectors, history, mask)
        return self.reader.score(state, gather(vectors, candidates))

    def n_trainable(self) -> int:
        """How many numbers training changes."""
        return sum(p.numel() for p in self.parameters() if p.requires_grad)
