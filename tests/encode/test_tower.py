"""A sentence encoder that learns: the same vectors, and only the weights that are named."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from newsrec.encode import TextTower, Tuning, load_encoder
from newsrec.encode.policies import choose, layers_of
from newsrec.encode.tuning import POLICIES
from newsrec.errors import ConfigError, MissingExtra
from tests.encode import models

TEXTS = [*models.sentences(12), "", "w3", "unknown words!", "w5 " * 300, " "]
LAYERS = {"num_hidden_layers": 6}

SHAPES: dict[str, Callable[[Path], Any]] = {
    "mean": lambda f: load_encoder(str(models.bert(f / "m", **LAYERS))),
    "nase": lambda f: load_encoder(f"nase={models.bert(f / 'm', **LAYERS)}"),
    "labse": lambda f: load_encoder(f"labse={models.pipeline(f / 'm')}"),
    "me5-base": lambda f: load_encoder(f"me5-base={models.xlm_roberta(f / 'm')}"),
    "mpnet": lambda f: load_encoder(str(models.mpnet(f / "m")), max_tokens=40),
    "no marks": lambda f: load_encoder(str(models.bert(f / "m", marks=False))),
    "normalized, 20 tokens": lambda f: load_encoder(
        str(models.bert(f / "m")), normalize=True, max_tokens=20, prefix="w1 w2 "
    ),
}


def tower_of(folder: Path, shape: str = "mean", **tuning: Any) -> TextTower:
    return TextTower(SHAPES[shape](folder), TEXTS, Tuning(**tuning), seed=3)


def every(tower: TextTower) -> torch.Tensor:
    return tower(torch.arange(tower.n_texts))


def vectors(tower: TextTower) -> np.ndarray:
    tower.eval()
    with torch.inference_mode():
        return every(tower).numpy()


def learn(tower: TextTower, steps: int = 3) -> None:
    """Move every weight that may move."""
    tower.train()
    trained = [p for p in tower.parameters() if p.requires_grad]
    optimiser = torch.optim.Adam(trained, lr=1e-2)
    torch.manual_seed(0)
    for _ in range(steps):
        optimiser.zero_grad()
        every(tower).square().sum(1).add(1).log().mean().sub(every(tower)[:, 0].mean()).backward()
        optimiser.step()


@pytest.mark.parametrize("shape", SHAPES)
def test_a_text_has_the_vector_that_the_encoder_gives_it(tmp_path: Path, shape: str) -> None:
    encoder = SHAPES[shape](tmp_path)
    wanted = encoder.encode(TEXTS)
    tower = TextTower(encoder, TEXTS)
    np.testing.assert_allclose(vectors(tower), wanted, atol=1e-5)
    some = torch.tensor([5, 2, 5])
    with torch.inference_mode():
        np.testing.assert_allclose(tower(some).numpy(), wanted[[5, 2, 5]], atol=1e-5)
        assert tower(some[:0]).shape == (0, encoder.spec.dim)


def names(tower: TextTower) -> set[str]:
    return {name for name, p in tower.named_parameters() if p.requires_grad}


@pytest.mark.parametrize("policy", POLICIES)
def test_a_policy_trains_what_it_says_and_nothing_else(tmp_path: Path, policy: str) -> None:
    tower = tower_of(tmp_path, "nase", policy=policy)
    layers = {f"encoder.layer.{i}." for i in range(6)}

    def of(name: str) -> str:
        return next((layer for layer in layers if layer in name), name.rpartition(".model.")[2])

    trained = {of(name) for name in names(tower)}
    last = {f"encoder.layer.{i}." for i in range(2, 6)}
    if policy == "none":
        assert not trained
    elif policy == "last4":
        assert trained == last
    elif policy == "last4+embeddings":
        others = {name.split(".")[0] for name in trained - last}
        assert last < trained
        assert others == {"embeddings", "pooler"}
    elif policy == "all":
        assert names(tower) == {name for name, _ in tower.named_parameters()}
    else:
        assert trained == layers
        assert all("lora_" in name for name in names(tower))
        # Query, key, value and three dense layers in each of six, two matrices each.
        assert len(names(tower)) == 6 * 6 * 2


@pytest.mark.parametrize("policy", [p for p in POLICIES if p != "none"])
def test_trained_weights_move_and_frozen_ones_do_not(tmp_path: Path, policy: str) -> None:
    tower = tower_of(tmp_path, "nase", policy=policy)
    before = {name: p.detach().clone() for name, p in tower.named_parameters()}
    was = vectors(tower)
    learn(tower)
    trained = names(tower)
    for name, weights in tower.named_parameters():
        assert torch.equal(weights, before[name]) == (name not in trained), name
    assert np.abs(vectors(tower) - was).max() > 1e-3


def test_a_pooler_that_nothing_reads_is_not_trained(tmp_path: Path) -> None:
    assert not any("pooler" in name for name in names(tower_of(tmp_path, "mean", policy="all")))
    own = names(tower_of(tmp_path, "labse", policy="all"))
    assert any(name.startswith("model.2.linear") for name in own)
    assert not any("pooler" in name for name in own)


def test_of_labse_the_last_four_layers_are_28_million_and_414_with_the_embeddings() -> None:
    """Protocol §3, table 2 of paper 004: of 471 M. Nothing is allocated."""
    from transformers import BertConfig, BertModel

    with torch.device("meta"):
        labse = BertModel(BertConfig(vocab_size=501_153))
    assert len(layers_of(labse)) == 12

    def trained(policy: str) -> int:
        choose(labse, [], Tuning(policy), pooler=True, seed=0)
        return sum(p.numel() for p in labse.parameters() if p.requires_grad)

    layer = 4 * (768 * 768 + 768) + 2 * 768 * 3072 + 3072 + 768 + 4 * 768
    assert trained("all") == 470_926_848
    assert trained("last4") == 4 * layer == 28_351_488
    assert trained("last4+embeddings") == 470_926_848 - 8 * layer == 414_223_872
    assert trained("none") == 0


def test_adapters_begin_as_nothing_and_follow_from_the_seed(tmp_path: Path) -> None:
    plain = vectors(tower_of(tmp_path / "a", policy="none"))
    state = torch.get_rng_state()
    lora = tower_of(tmp_path / "b", policy="lora")
    assert torch.equal(torch.get_rng_state(), state)
    np.testing.assert_allclose(vectors(lora), plain, atol=1e-6)
    again = tower_of(tmp_path / "c", policy="lora")
    for a, b in zip(lora.parameters(), again.parameters(), strict=True):
        assert torch.equal(a, b)


@pytest.mark.parametrize("shape", [s for s in SHAPES if s != "no marks"])
@pytest.mark.parametrize("policy", ["all", "lora"])
def test_a_saved_tower_is_an_encoder_with_its_vectors(
    tmp_path: Path, shape: str, policy: str
) -> None:
    tower = tower_of(tmp_path, shape, policy=policy, rank=4)
    learn(tower)
    wanted = vectors(tower)
    spec = tower.save(tmp_path / "saved")
    assert np.array_equal(vectors(tower), wanted)  # saving changes nothing
    assert {p.suffix for p in (tmp_path / "saved").rglob("*") if p.is_file()} <= {
        ".json", ".safetensors", ".txt",
    }  # fmt: skip
    (tmp_path / "saved").rename(tmp_path / "moved")
    found = load_encoder(str(tmp_path / "moved"), precision="fp32")
    assert found.spec == spec
    assert spec.name == f"{tower.spec.name}-{policy}"
    assert spec.revision != tower.spec.revision
    same = ("dim", "normalized", "prefix", "max_tokens")
    assert all(getattr(spec, field) == getattr(tower.spec, field) for field in same)
    np.testing.assert_allclose(found.encode(TEXTS), wanted, atol=2e-5)


def test_another_state_is_another_revision(tmp_path: Path) -> None:
    tower = tower_of(tmp_path)
    learn(tower)
    one, same = tower.save(tmp_path / "one"), tower.save(tmp_path / "same")
    learn(tower, steps=1)
    assert one == same != tower.save(tmp_path / "two")


def gradients(tower: TextTower) -> list[torch.Tensor]:
    tower.train()
    torch.manual_seed(1)
    every(tower)[:, 0].sum().backward()
    return [p.grad for p in tower.parameters() if p.grad is not None]


@pytest.mark.parametrize("policy", ["last4", "lora"])
def test_checkpointing_changes_no_gradient(tmp_path: Path, policy: str) -> None:
    plain = gradients(tower_of(tmp_path / "a", policy=policy))
    again = tower_of(tmp_path / "b", policy=policy, checkpointing=True)
    found, calls = gradients(again), [0]
    assert len(plain) == len(found) > 0
    for a, b in zip(plain, found, strict=True):
        torch.testing.assert_close(a, b)
    last = layers_of(again.model[0].auto_model)[-1]
    last.output.register_forward_pre_hook(lambda *_: calls.__setitem__(0, calls[0] + 1))
    every(again).sum().backward()
    passes = len(list(again._encoder.passes(again._tokens.lengths)))
    assert calls[0] == 2 * passes  # forward, and again for the gradient


def test_bf16_gives_nearly_the_same_and_leaves_weights_whole(tmp_path: Path) -> None:
    half = tower_of(tmp_path, "nase", precision="bf16")
    wanted = load_encoder(f"nase={tmp_path / 'm'}").encode(TEXTS)
    found = vectors(half)
    assert found.dtype == np.float32
    assert 0 < np.abs(found - wanted).max() < 0.1
    learn(half)
    assert {p.dtype for p in half.parameters()} == {torch.float32}


def test_texts_are_tokenized_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    encoder = SHAPES["mean"](tmp_path)
    seen: list[int] = []
    tokens = encoder.tokens
    monkeypatch.setattr(encoder, "tokens", lambda texts: seen.append(len(texts)) or tokens(texts))
    tower = TextTower(encoder, TEXTS)
    vectors(tower), vectors(tower)
    assert seen == [len(TEXTS)]


def test_other_texts_or_another_policy_is_told_apart(tmp_path: Path) -> None:
    encoder = SHAPES["mean"](tmp_path)
    one = TextTower(encoder, TEXTS).told
    assert one == TextTower(encoder, TEXTS).told
    assert one != TextTower(encoder, TEXTS[1:]).told
    assert one != TextTower(encoder, TEXTS, Tuning("all")).told
    # What adapters would be does not matter where there are none, nor does saving memory.
    assert one == TextTower(encoder, TEXTS, Tuning(rank=3, checkpointing=True)).told


def test_what_cannot_be_trained_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ConfigError, match=r"unknown trainable 'last5'; known: .*last4\+embed"):
        Tuning("last5")
    for wrong in ({"rank": 0}, {"alpha": 0}, {"dropout": 1.0}, {"precision": "int8"}):
        with pytest.raises(ConfigError, match=next(iter(wrong))):
            Tuning("lora", **wrong)  # type: ignore[arg-type]
    with pytest.raises(ConfigError, match=r"'mini' .*no transformer layers.*trainable: none"):
        TextTower(load_encoder("mini"), TEXTS)
    bag = load_encoder(str(models.static_pipeline(tmp_path / "bag")))
    with pytest.raises(ConfigError, match="no transformer layers"):
        TextTower(bag, TEXTS)
    rounded = load_encoder(str(models.bert(tmp_path / "bert")), precision="int8")
    with pytest.raises(ConfigError, match=r"loaded in int8.*precision fp32"):
        TextTower(rounded, TEXTS)
    monkeypatch.setitem(sys.modules, "peft", None)
    with pytest.raises(MissingExtra, match=r"lora needs peft.*newsrec\[llm\]"):
        tower_of(tmp_path, policy="lora")


def test_a_model_without_a_stack_of_layers_says_so() -> None:
    from transformers import AlbertConfig, AlbertModel

    shared = AlbertModel(AlbertConfig(
        vocab_size=50, embedding_size=8, hidden_size=16, num_attention_heads=2,
        intermediate_size=16, num_hidden_layers=6,
    ))  # fmt: skip
    for policy in ("last4", "lora"):
        with pytest.raises(ConfigError, match="AlbertModel has no stack of 6 layers"):
            choose(shared, [], Tuning(policy), pooler=True, seed=0)
    choose(shared, [], Tuning("all"), pooler=True, seed=0)
    assert all(p.requires_grad for p in shared.parameters())
