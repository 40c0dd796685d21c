"""The objective against a loop that follows the equation word by word."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from newsrec.adapt.multipositive import multipositive_loss, nested_loss


def by_hand(vectors: np.ndarray, group: list[int], temperature: float) -> float:
    unit = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    terms = []
    for i in range(len(unit)):
        others = [j for j in range(len(unit)) if j != i]
        weight = {j: math.exp(float(unit[i] @ unit[j]) / temperature) for j in others}
        positives = [weight[j] for j in others if group[j] == group[i]]
        if positives:
            terms.append(-math.log(sum(positives) / sum(weight.values())))
    return sum(terms) / len(terms)


@st.composite
def batches(draw: st.DrawFn) -> tuple[np.ndarray, list[int]]:
    n = draw(st.integers(3, 14))
    group = [0, 0, *draw(st.lists(st.integers(0, 4), min_size=n - 2, max_size=n - 2))]
    seed = draw(st.integers(0, 2**16))
    return np.random.default_rng(seed).normal(size=(n, 8)), group


@given(batches(), st.sampled_from([0.05, 0.2, 1.0]))
@settings(max_examples=40, deadline=None)
def test_equals_the_equation(batch: tuple[np.ndarray, list[int]], temperature: float) -> None:
    vectors, group = batch
    loss = multipositive_loss(
        torch.from_numpy(vectors), torch.tensor(group), temperature=temperature
    )
    assert float(loss) == pytest.approx(by_hand(vectors, group, temperature), rel=1e-9)


@given(batches())
@settings(max_examples=40, deadline=None)
def test_nested_value_and_gradient_equal_autograd(batch: tuple[np.ndarray, list[int]]) -> None:
    vectors, group = batch
    levels, label = (2, 4, 8), torch.tensor(group)
    plain = torch.from_numpy(vectors).requires_grad_()
    fast = torch.from_numpy(vectors).requires_grad_()
    expected = sum(multipositive_loss(plain[:, :d], label, temperature=0.3) for d in levels) / 3
    found = nested_loss(fast, label, levels, temperature=0.3)
    expected.backward()
    found.backward()
    assert found.item() == pytest.approx(expected.item(), rel=1e-6)
    assert torch.allclose(fast.grad, plain.grad, atol=1e-6)


def test_more_anchors_than_a_block() -> None:
    rng = torch.Generator().manual_seed(0)
    vectors = torch.randn(1100, 8, generator=rng, dtype=torch.float64, requires_grad=True)
    label = torch.arange(1100) // 2
    plain = multipositive_loss(vectors, label)
    (expected,) = torch.autograd.grad(plain, vectors)
    (found,) = torch.autograd.grad(nested_loss(vectors, label, (8,)), vectors)
    assert torch.allclose(found, expected, atol=1e-9)


def test_rescaled_cosines_span_the_whole_range() -> None:
    """Per row without the diagonal: its nearest is 1, its farthest -1, whatever the spread."""
    vectors = torch.tensor([[1.0, 0.0], [0.999, 0.01], [0.99, 0.1], [0.98, 0.2]])
    loss = multipositive_loss(vectors, torch.tensor([0, 0, 1, 2]), temperature=1.0, rescale=True)
    unit = torch.nn.functional.normalize(vectors, dim=1)
    cosine = (unit @ unit.T).numpy()
    terms = []
    for i, j in ((0, 1), (1, 0)):
        row = np.delete(cosine[i], i)
        stretched = 2 * (row - row.min()) / (row.max() - row.min()) - 1
        own = 2 * (cosine[i, j] - row.min()) / (row.max() - row.min()) - 1
        terms.append(-math.log(math.exp(own) / np.exp(stretched).sum()))
    assert float(loss) == pytest.approx(sum(terms) / 2, rel=1e-4)
