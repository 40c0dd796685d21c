"""What heads make of an article: blocks that turn its inputs into one vector."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor, nn

from newsrec.rank.articles import Articles
from newsrec.rank.inputs import Ints
from newsrec.rank.layers import (
    AdditiveAttention,
    Categories,
    Dropout,
    Entities,
    gather,
    masked_softmax,
    weighed,
)


@dataclass(frozen=True, slots=True, eq=False)
class Items:
    """``m`` articles as a head's news module gets them.

    ``views (m, n_views, dim)``, zeros where not ``present (m, n_views)``; ``category (m,)`` and
    ``entities (m, n)``: rows of the head's tables. ``text (m, n_views)``: the numbers of texts that
    are to be encoded anew (`newsrec.rank.tuned`), -1 for none; ``views`` are zeros then. None:
    ``views`` are stored vectors.
    """

    views: Tensor
    present: Tensor
    category: Tensor
    entities: Tensor
    text: Tensor | None = None

    @classmethod
    def of(cls, articles: Articles, which: Ints, device: str = "cpu", trim: bool = True) -> Items:
        """Articles ``which (m,)``; ``trim``: no more entity places than these need."""
        entities = articles.entities[which]
        if trim:
            entities = entities[:, : max(1, int((entities > 0).sum(1).max(initial=0)))]
        text = None if articles.text is None else torch.from_numpy(articles.text[which])
        if text is None:
            views = torch.from_numpy(articles.vectors(which)).to(device)
        else:
            views = torch.zeros((), device=device).expand(*text.shape, articles.inputs.dim)
        return cls(
            views,
            torch.from_numpy(articles.present[which]).to(device),
            torch.from_numpy(articles.category[which]).to(device),
            torch.from_numpy(entities).to(device),
            text,
        )


class AttendedViews(nn.Module):
    """Views and category as equals, weighed by additive attention (NAML, MINS)."""

    def __init__(self, width: int, n_categories: int, *, query: int, dropout: float) -> None:
        super().__init__()
        self.category = Categories(n_categories, width)
        self.attention = AdditiveAttention(width, query)
        self.dropout = Dropout(dropout)

    def forward(self, items: Items) -> Tensor:
        """``(m, width)``."""
        categories = self.dropout(self.category.every())
        views = self.dropout(items.views)
        logits = torch.cat([
            self.attention.logits(views),
            gather(self.attention.logits(categories)[:, None], items.category),
        ], 1)  # fmt: skip
        known = torch.ones_like(items.category, dtype=torch.bool)[:, None]
        weights = masked_softmax(logits, torch.cat([items.present, known], 1))
        found = weighed(items.category, weights[:, -1], categories)
        for view in range(views.shape[1]):
            found = torch.addcmul(found, views[:, view], weights[:, view, None])
        return found


class OnlyCategory(nn.Module):
    """The category's vector and nothing else (NAML_CAT)."""

    def __init__(self, width: int, n_categories: int, *, dropout: float) -> None:
        super().__init__()
        self.category = Categories(n_categories, width)
        self.dropout = Dropout(dropout)

    def forward(self, items: Items) -> Tensor:
        """``(m, width)``."""
        return gather(self.dropout(self.category.every()), items.category)


class JoinedParts(nn.Module):
    """Views, entities and, with ``category_size``, category end to end, then one linear layer
    (CAUM, MANNeR)."""

    def __init__(
        self, width: int, n_views: int, dim: int, n_entities: int, n_categories: int = 0,
        *, category_size: int = 0, dropout: float,
    ) -> None:  # fmt: skip
        super().__init__()
        self.entities = Entities(n_entities)
        self.category = (
            Categories(n_categories, category_size, category_size) if category_size else None
        )
        self.join = nn.Linear(n_views * dim + self.entities.size + category_size, width)
        self.dropout = Dropout(dropout)

    def forward(self, items: Items) -> Tensor:
        """``(m, width)``."""
        parts = [items.views.flatten(1), self.entities(items.entities)]
        if self.category is not None:
            parts.append(self.category(items.category))
        found: Tensor = self.join(self.dropout(torch.cat(parts, 1)))
        return found


class MeanOfViews(nn.Module):
    """The mean of the views that are there, as the encoder gave them (LFRec)."""

    def forward(self, items: Items) -> Tensor:
        """``(m, dim)``."""
        return items.views.sum(1) / items.present.sum(1, keepdim=True).clamp_min(1)
