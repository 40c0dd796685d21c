"""An adapter learns its examples, is kept at its best, and leaves the base model as it was."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from newsrec.adapt.lora import Lora, Turn, finetune, loss_of, mean_loss
from newsrec.errors import DataError
from tests.cluster.tiny import llama

#: What is asked says which answer is due.
TURNS = [Turn((1, 3, 40 + i, 2), (60 + i, 70 + i, 4)) for i in range(6)]
QUICK = Lora(
    rank=8, alpha=16, dropout=0.0, learning_rate=2e-2, batch_size=3, epochs=12, check_every=4
)


def loaded(folder: Path) -> Any:
    from transformers import LlamaForCausalLM

    return LlamaForCausalLM.from_pretrained(folder)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return llama(tmp_path_factory.mktemp("tiny") / "llama")


def test_an_adapter_learns_and_the_best_one_is_kept(folder: Path, tmp_path: Path) -> None:
    from peft import PeftModel

    seen: list[tuple[int, float]] = []
    before = mean_loss(loaded(folder), TURNS, 3)
    best = finetune(
        loaded(folder), TURNS, TURNS, QUICK, tmp_path / "adapter", base=str(folder),
        report=lambda step, loss: seen.append((step, loss)),
    )  # fmt: skip
    assert [step for step, _ in seen] == [4, 8, 12, 16, 20, 24]
    assert best == min(loss for _, loss in seen)
    assert best < before / 2
    kept = PeftModel.from_pretrained(loaded(folder), str(tmp_path / "adapter"))
    assert mean_loss(kept, TURNS, 3) == pytest.approx(best, rel=1e-4)
    assert kept.peft_config["default"].base_model_name_or_path == str(folder)
    assert sorted(kept.peft_config["default"].target_modules) == sorted(QUICK.targets)
    assert not list((tmp_path / "adapter").glob("*.bin"))


def test_same_seed_same_adapter_and_no_global_seed(folder: Path, tmp_path: Path) -> None:
    import torch

    recipe = Lora(rank=4, learning_rate=1e-2, batch_size=4, epochs=2)
    state = torch.get_rng_state()
    losses = [
        finetune(loaded(folder), TURNS, TURNS, recipe, tmp_path / name, base="b", seed=seed)
        for name, seed in (("a", 3), ("b", 3), ("c", 4))
    ]
    assert losses[0] == losses[1] != losses[2]
    assert torch.equal(torch.get_rng_state(), state)


def test_only_answers_count_and_padding_does_not(folder: Path) -> None:
    model = loaded(folder).eval()
    long = Turn((1, *range(10, 40), 2), (50, 4))
    alone = [float(loss_of(model, [turn]).detach()) for turn in (TURNS[0], long)]
    together = float(loss_of(model, [TURNS[0], long]).detach())
    assert together == pytest.approx(np.average(alone, weights=[3, 2]), rel=1e-4)
    assert mean_loss(model, [TURNS[0], long], 1) == pytest.approx(together, rel=1e-4)


def test_examples_that_are_too_long_are_left_out(folder: Path, tmp_path: Path) -> None:
    with pytest.raises(DataError, match="none of 6 examples has at most 5 tokens"):
        finetune(loaded(folder), TURNS, TURNS, Lora(max_tokens=5), tmp_path / "a", base="b")


def test_a_loss_that_is_no_number_is_an_error(folder: Path, tmp_path: Path) -> None:
    wild = Lora(learning_rate=1e30, batch_size=2, epochs=3)
    with pytest.raises(DataError, match="lower learning_rate"):
        finetune(loaded(folder), TURNS, TURNS, wild, tmp_path / "a", base="b")
    assert not (tmp_path / "a").exists()
