"""Blocks that heads are composed of. Batch first, masked, no reader sees another.

Masks are True where an item counts. A reader without any item gets zeros.
"""

from __future__ import annotations

from typing import Protocol

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional


class Reader(Protocol):
    """A head's user module.

    ``read`` turns histories into a state: numbers of news rows ``history (b, t)``, valid where
    ``mask (b, t)``, of vectors ``news (m, width)``. ``score`` gives candidates ``(b, c, width)``
    one number each, ``(b, c)``. Where ``one_vector``, the state is ``(b, width)`` and the score
    the dot product with it, so that a reader is read once for all candidates.
    """

    one_vector: bool

    def read(self, news: Tensor, history: Tensor, mask: Tensor) -> Tensor | tuple[Tensor, ...]: ...

    def score(self, state: Tensor | tuple[Tensor, ...], candidates: Tensor) -> Tensor: ...


def gather(rows: Tensor, which: Tensor) -> Tensor:
    """``rows (m, width)`` at ``which (…)``: ``(…, width)``."""
    return functional.embedding(which, rows)


def dot(users: Tensor, candidates: Tensor) -> Tensor:
    """The click predictor: ``users (b, width)`` times ``candidates (b, c, width)``, ``(b, c)``."""
    return torch.einsum("bcd,bd->bc", candidates, users)


def masked_softmax(logits: Tensor, mask: Tensor) -> Tensor:
    """Softmax over the last axis where ``mask``, 0 elsewhere; all 0 where nothing counts."""
    some = mask.any(-1, keepdim=True)
    filled = logits.masked_fill(~mask & some, -torch.inf)
    return filled.softmax(-1) * (mask & some)


def split(rows: Tensor, heads: int) -> Tensor:
    """``(b, n, width)`` to ``(b, heads, n, width / heads)``."""
    return rows.view(*rows.shape[:-1], heads, -1).transpose(1, 2)


def divisor(width: int, wanted: int) -> int:
    """The largest number up to ``wanted`` that divides ``width``."""
    return next(n for n in range(min(wanted, width), 0, -1) if width % n == 0)


class Dropout(nn.Module):
    """Drops each value with a chance of ``share``, to the nearest 1/256, and scales up the rest.

    Random bytes, eight times as fast on a CPU as a random float for each value. torch's generator
    seeds them.
    """

    def __init__(self, share: float) -> None:
        super().__init__()
        self.below = round(256 * share)

    def forward(self, x: Tensor) -> Tensor:
        """The same shape; ``x`` itself when not training."""
        if not self.training or not self.below:
            return x
        seed = int(torch.randint(1 << 62, ()))
        noise = np.random.Generator(np.random.SFC64(seed)).bytes(x.numel())
        kept = torch.from_numpy(np.frombuffer(noise, np.uint8) >= self.below).view(x.shape)
        return x * (kept.to(x.device) * (256 / (256 - self.below)))


class AdditiveAttention(nn.Module):
    """Weights softmax(q · tanh(W x + b)) over items (Bahdanau et al. 2014); ``query`` is q's size.

    *Parameters:* width · query + 2 · query.
    """

    def __init__(self, width: int, query: int) -> None:
        super().__init__()
        self.inner = nn.Linear(width, query)
        self.query = nn.Parameter(torch.empty(query).uniform_(-0.1, 0.1))

    def logits(self, items: Tensor) -> Tensor:
        """``(…, width)`` to ``(…)``."""
        return torch.tanh(self.inner(items)) @ self.query

    def forward(self, items: Tensor, mask: Tensor) -> Tensor:
        """``items (b, n, width)``, ``mask (b, n)`` to ``(b, width)``."""
        weights = masked_softmax(self.logits(items), mask)
        return torch.einsum("bn,bnd->bd", weights, items)


class SelfAttention(nn.Module):
    """Multi-head self-attention (Vaswani et al. 2017) among the items of one list.

    *Parameters:* 4 · width · (width + 1).
    """

    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.heads = divisor(width, heads)
        self.into = nn.Linear(width, 3 * width)
        self.out = nn.Linear(width, width)
        nn.init.xavier_uniform_(self.into.weight)
        nn.init.zeros_(self.into.bias)

    def forward(self, items: Tensor, mask: Tensor) -> Tensor:
        """``items (b, n, width)``, ``mask (b, n)`` to ``(b, n, width)``, 0 where masked."""
        query, key, value = (split(part, self.heads) for part in self.into(items).chunk(3, -1))
        mixed = attend(query, key, value, mask).transpose(1, 2).flatten(2)
        found: Tensor = self.out(mixed) * mask[..., None]
        return found


def attend(query: Tensor, key: Tensor, value: Tensor, mask: Tensor) -> Tensor:
    """Attention of ``query (b, heads, m, d)`` to ``key``, ``value (b, heads, n, d)`` where ``mask
    (b, n)``. A list without items attends to its padding: the caller masks what comes out."""
    keys = mask | ~mask.any(-1, keepdim=True)
    return functional.scaled_dot_product_attention(query, key, value, keys[:, None, None, :])


class Channels(nn.Module):
    """The width cut into channels, a GRU over the items of each (Cho et al. 2014).

    ``shared``: one GRU for all channels, as in the public code of MINS.

    *Parameters:* GRUs · 6 · size · (size + 1), with size = width / channels.
    """

    def __init__(self, width: int, channels: int, shared: bool = False) -> None:
        super().__init__()
        self.channels = divisor(width, channels)
        size = width // self.channels
        n = 1 if shared else self.channels
        bound = size**-0.5
        for name, shape in (
            ("into", (n, size, 3 * size)),
            ("again", (n, size, 3 * size)),
            ("into_bias", (n, 1, 3 * size)),
            ("again_bias", (n, 1, 3 * size)),
        ):
            values = torch.empty(shape).uniform_(-bound, bound)
            self.register_parameter(name, nn.Parameter(values))

    def forward(self, items: Tensor, mask: Tensor) -> Tensor:
        """States after every item, ``(b, n, width)``; ``mask (b, n)`` is True up to each list's
        length, and what comes later is not part of the list."""
        b, n, width = items.shape
        cut = items.view(b, n, self.channels, -1).permute(2, 1, 0, 3)  # (channels, n, b, size)
        wide = (self.channels, -1, -1)
        into = self.get_parameter("into").expand(wide)
        again = self.get_parameter("again").expand(wide)
        bias = self.get_parameter("again_bias").expand(wide)
        gates = torch.baddbmm(
            self.get_parameter("into_bias").expand(wide), cut.flatten(1, 2), into
        ).view(self.channels, n, b, -1)
        state = items.new_zeros(self.channels, b, width // self.channels)
        states = []
        for given in gates.unbind(1):
            here = torch.baddbmm(bias, state, again)
            size = state.shape[-1]
            reset, update = torch.sigmoid(given[..., : 2 * size] + here[..., : 2 * size]).chunk(
                2, -1
            )
            new = torch.tanh(given[..., 2 * size :] + reset * here[..., 2 * size :])
            state = torch.lerp(new, state, update)
            states.append(state)
        found = torch.stack(states, 0).permute(2, 0, 1, 3).reshape(b, n, width)
        return found * mask[..., None]


class Categories(nn.Module):
    """A table of categories, row 0 unknown, brought to ``width`` by a linear layer and ReLU.

    *Parameters:* rows · size + size · width + width.
    """

    def __init__(self, n: int, width: int, size: int = 100) -> None:
        super().__init__()
        self.table = nn.Embedding(n + 1, size)
        self.linear = nn.Linear(size, width)
        with torch.no_grad():
            self.table.weight[0] = 0

    def every(self) -> Tensor:
        """The vector of every row, ``(n + 1, width)``."""
        return functional.relu(self.linear(self.table.weight))

    def forward(self, rows: Tensor) -> Tensor:
        """``rows (m,)`` to ``(m, width)``; each category is worked out once."""
        return gather(self.every(), rows)


def weighed(rows: Tensor, weight: Tensor, table: Tensor) -> Tensor:
    """``weight (m,)`` times ``table (n, width)`` at ``rows (m,)``: ``(m, width)``, for a small n.

    As a product: its gradient is one, too, and no ``(m, width)`` is gathered.
    """
    chosen = torch.zeros(len(rows), len(table), dtype=table.dtype, device=table.device)
    return chosen.scatter(1, rows[:, None], weight[:, None]) @ table


class Entities(nn.Module):
    """A table of entities, row 0 none: self-attention among an article's, then additive attention.

    *Parameters:* rows · size + 4 · size · (size + 1) + (size + 2) · query.
    """

    def __init__(self, n: int, size: int = 100, heads: int = 10, query: int = 200) -> None:
        super().__init__()
        self.table = nn.Embedding(n + 1, size)
        self.among = SelfAttention(size, heads)
        self.pool = AdditiveAttention(size, query)
        self.size = size
        with torch.no_grad():
            self.table.weight[0] = 0

    def forward(self, rows: Tensor) -> Tensor:
        """``rows (m, n)`` to ``(m, size)``; zeros without entities."""
        mask = rows > 0
        found: Tensor = self.pool(self.among(self.table(rows), mask), mask)
        return found
