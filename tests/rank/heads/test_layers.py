"""Blocks: masked, batch first, equal to plain definitions."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
from torch import Tensor, nn
from torch.nn import functional

from newsrec.rank.heads.caum import CandidateAwareReader
from newsrec.rank.heads.lfrec import MeanReader
from newsrec.rank.heads.mins import SequenceReader
from newsrec.rank.heads.naml import AttentiveReader
from newsrec.rank.layers import (
    AdditiveAttention,
    Channels,
    Dropout,
    Entities,
    Reader,
    SelfAttention,
    divisor,
    masked_softmax,
    weighed,
)

WIDTH = 12

READERS: dict[str, Callable[[], nn.Module]] = {
    "naml": lambda: AttentiveReader(WIDTH, 5),
    "mins": lambda: SequenceReader(WIDTH, 4, 3, False, 5),
    "caum": lambda: CandidateAwareReader(WIDTH, 4, (7, 6)),
    "mean": MeanReader,
}
BLOCKS: dict[str, Callable[[], nn.Module]] = {
    "additive": lambda: AdditiveAttention(WIDTH, 5),
    "self-attention": lambda: SelfAttention(WIDTH, 4),
    "channels": lambda: Channels(WIDTH, 3),
    "one channel for all": lambda: Channels(WIDTH, 3, shared=True),
}


@pytest.fixture(autouse=True)
def _seeded() -> object:
    with torch.random.fork_rng():
        torch.manual_seed(0)
        yield


@pytest.fixture(params=READERS)
def reader(request: pytest.FixtureRequest) -> nn.Module:
    return READERS[request.param]().double()


def news() -> Tensor:
    return torch.randn(9, WIDTH, dtype=torch.float64)


def scores(
    reader: Reader, news: Tensor, lists: list[list[int]], pad: int = 0, junk: int = 0
) -> Tensor:
    """Scores of all news for readers of ``lists``, with ``pad`` places more, all on ``junk``."""
    longest = max(len(one) for one in lists) + pad
    history = torch.full((len(lists), longest), junk)
    mask = torch.zeros(len(lists), longest, dtype=torch.bool)
    for i, one in enumerate(lists):
        history[i, : len(one)] = torch.tensor(one, dtype=torch.int64)
        mask[i, : len(one)] = True
    state = reader.read(news, history, mask)
    return reader.score(state, news[None].expand(len(lists), -1, -1))


def test_readers_do_not_see_each_other_nor_padding(reader: Reader) -> None:
    x, lists = news(), [[1, 2, 3], [4], [5, 6, 7, 8, 0]]
    together = scores(reader, x, lists)
    for i, one in enumerate(lists):
        torch.testing.assert_close(scores(reader, x, [one])[0], together[i])
        torch.testing.assert_close(scores(reader, x, [one], pad=4, junk=8)[0], together[i])


def test_candidates_do_not_see_each_other(reader: Reader) -> None:
    x = news()
    history, mask = torch.tensor([[1, 2, 3]]), torch.ones(1, 3, dtype=torch.bool)
    state = reader.read(x, history, mask)
    all_at_once = reader.score(state, x[None])[0]
    one_by_one = [reader.score(state, x[None, i : i + 1])[0, 0] for i in range(len(x))]
    torch.testing.assert_close(torch.stack(one_by_one), all_at_once)


def test_a_reader_of_nothing_scores_zero(reader: Reader) -> None:
    found = scores(reader, news(), [[], [1]], pad=1)
    assert torch.equal(found[0], torch.zeros_like(found[0]))
    assert torch.isfinite(found).all()


def test_padding_gets_no_gradient(reader: nn.Module) -> None:
    x = news().requires_grad_()
    history = torch.tensor([[1, 2, 7, 7], [3, 7, 7, 7]])
    mask = torch.tensor([[True, True, False, False], [True, False, False, False]])
    state = reader.read(x, history, mask)  # type: ignore[operator]
    reader.score(state, x[torch.tensor([[4, 5], [4, 6]])]).sum().backward()  # type: ignore[operator]
    assert x.grad is not None
    assert torch.equal(x.grad[7], torch.zeros(WIDTH, dtype=torch.float64))
    assert (x.grad[1:7].abs().sum(1) > 0).all()


@pytest.mark.parametrize("block", BLOCKS)
def test_blocks_ignore_what_is_masked(block: str) -> None:
    made = BLOCKS[block]().double()
    x = torch.randn(2, 5, WIDTH, dtype=torch.float64)
    mask = torch.arange(5) < torch.tensor([[3], [5]])
    other = torch.where(mask[..., None], x, 99.0)
    torch.testing.assert_close(made(other, mask), made(x, mask))
    assert torch.isfinite(made(x, torch.zeros_like(mask))).all()


def test_order_matters_to_those_that_read_it_only() -> None:
    x = news()
    for name, sees in (("naml", False), ("mean", False), ("mins", True), ("caum", True)):
        made: Reader = READERS[name]().double()  # type: ignore[assignment]
        one, other = scores(made, x, [[1, 2, 3]]), scores(made, x, [[3, 1, 2]])
        assert torch.allclose(one, other) is not sees, name


def test_self_attention_is_torchs_batch_first() -> None:
    ours = SelfAttention(WIDTH, 4)
    theirs = nn.MultiheadAttention(WIDTH, 4, batch_first=True)
    theirs.in_proj_weight, theirs.in_proj_bias = ours.into.weight, ours.into.bias
    theirs.out_proj.weight, theirs.out_proj.bias = ours.out.weight, ours.out.bias
    x, mask = torch.randn(2, 5, WIDTH), torch.arange(5) < torch.tensor([[3], [5]])
    expected, _ = theirs(x, x, x, key_padding_mask=~mask)
    torch.testing.assert_close(ours(x, mask), expected * mask[..., None])


@pytest.mark.parametrize("shared", [False, True])
def test_channels_are_torchs_grus(shared: bool) -> None:
    ours = Channels(WIDTH, 3, shared)
    x, mask = torch.randn(2, 5, WIDTH), torch.ones(2, 5, dtype=torch.bool)
    found = ours(x, mask).chunk(3, -1)
    for i, part in enumerate(x.chunk(3, -1)):
        gru, n = nn.GRU(4, 4, batch_first=True), 0 if shared else i
        gru.weight_ih_l0 = nn.Parameter(ours.get_parameter("into")[n].T)
        gru.weight_hh_l0 = nn.Parameter(ours.get_parameter("again")[n].T)
        gru.bias_ih_l0 = nn.Parameter(ours.get_parameter("into_bias")[n, 0])
        gru.bias_hh_l0 = nn.Parameter(ours.get_parameter("again_bias")[n, 0])
        torch.testing.assert_close(found[i], gru(part)[0])


def test_caum_is_its_layers_one_after_the_other() -> None:
    reader = CandidateAwareReader(WIDTH, 4, (7, 6)).double()
    x, read = news(), [2, 5, 1, 8]
    for candidate in range(len(x)):
        wanted = step_by_step(reader, x[read], x[candidate])
        torch.testing.assert_close(scores(reader, x, [read])[0, candidate], wanted)


def step_by_step(reader: CandidateAwareReader, clicks: Tensor, candidate: Tensor) -> Tensor:
    """Equations 1 to 6 of Qi et al. 2022 as they stand, one candidate, no folding."""
    n = len(clicks)
    nothing = torch.zeros(1, WIDTH, dtype=clicks.dtype)
    beside = candidate.expand(n, -1)
    left, right = torch.cat([nothing, clicks[:-1]]), torch.cat([clicks[1:], nothing])
    near = reader.near(torch.cat([left, clicks, right, beside], 1))
    paired = reader.pair(torch.cat([beside, clicks], 1))
    query, key, value = reader.into(paired).view(n, 3, reader.heads, -1).permute(1, 2, 0, 3)
    mixed = functional.softmax(query @ key.mT / query.shape[-1] ** 0.5, -1) @ value
    far = reader.out(mixed.transpose(0, 1).reshape(n, -1))
    seen = reader.both(torch.cat([near, far], 1))
    hidden = torch.tanh(reader.first(torch.cat([seen, beside], 1)))
    logits = reader.third(torch.tanh(reader.second(hidden)))[:, 0]
    return (logits.softmax(0) @ seen) @ candidate


def test_softmax_over_nothing_is_nothing_and_its_gradient_finite() -> None:
    logits = torch.randn(2, 3, requires_grad=True)
    mask = torch.tensor([[True, False, True], [False, False, False]])
    weights = masked_softmax(logits, mask)
    assert torch.equal(weights[~mask], torch.zeros(4))
    torch.testing.assert_close(weights.sum(1), torch.tensor([1.0, 0.0]))
    weights.square().sum().backward()
    assert logits.grad is not None
    assert torch.isfinite(logits.grad).all()


def test_weighed_rows_are_gathered_rows_times_their_weight() -> None:
    rows, weight, table = torch.tensor([2, 0, 2, 1]), torch.randn(4), torch.randn(3, WIDTH)
    torch.testing.assert_close(weighed(rows, weight, table), weight[:, None] * table[rows])


def test_entities_without_any_are_zeros_in_any_order_the_same() -> None:
    made = Entities(5, 20, 4, 7).double()
    found = made(torch.tensor([[0, 0, 0], [1, 4, 0], [4, 1, 0]]))
    assert torch.equal(found[0], torch.zeros(20, dtype=torch.float64))
    torch.testing.assert_close(found[1], found[2])
    torch.testing.assert_close(made(torch.tensor([[1, 4]]))[0], found[1])


def test_dropout_keeps_the_mean_and_leaves_evaluation_alone() -> None:
    made, x = Dropout(0.2), torch.ones(500, 200)
    found = made(x)
    assert abs(float((found == 0).float().mean()) - 51 / 256) < 0.005
    assert abs(float(found.mean()) - 1) < 0.01
    assert made.eval()(x) is x


def test_heads_and_channels_divide_the_width() -> None:
    assert [divisor(256, 6), divisor(768, 6), divisor(400, 8), divisor(7, 6)] == [4, 6, 8, 1]
