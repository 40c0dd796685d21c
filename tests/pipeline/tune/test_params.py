"""A space against what it is a space of: names, types and values are checked before anything."""

from __future__ import annotations

import pytest

from newsrec.config import EncoderConfig, TrainConfig, load_training
from newsrec.config.named import HeadConfig
from newsrec.config.space import load_space
from newsrec.errors import ConfigError
from newsrec.pipeline.tune.params import Plan, plan
from newsrec.pipeline.tune.spaces import default_space
from newsrec.rank import HEADS


def planned(space: str, head: str = "naml", **given: object) -> Plan:
    config = TrainConfig(head=HeadConfig(name=head), **given)  # type: ignore[arg-type]
    return plan(config, load_space(space))


def test_names_go_where_they_belong() -> None:
    found = planned(
        "learning_rate=1e-4..1e-2 log, query=50..200 step 50, pooling=[cls, mean], "
        "trainable=[none, last4], epochs=3, dropout=0.1, max_tokens=64",
        encoder=EncoderConfig(name="labse"),
    )
    assert [(p.name, p.part, p.whole) for p in found.params] == [
        ("learning_rate", "options", False),
        ("query", "head", True),
        ("pooling", "encoder", True),
        ("trainable", "trainable", True),
    ]
    made = found.apply(
        {"learning_rate": 1e-3, "query": 150, "pooling": "cls", "trainable": "last4"}
    )
    assert made.options == {"epochs": 3, "learning_rate": 1e-3}
    assert made.head.options == {"dropout": 0.1, "query": 150}
    assert made.encoder.options == {"max_tokens": 64, "pooling": "cls"}
    assert made.trainable == "last4"


@pytest.mark.parametrize(
    ("space", "said"),
    [
        ("lerning_rate=1e-4..1e-2", "unknown name in space of head 'naml'.*Did you mean 'learning"),
        ("heads=[8, 16]", "unknown name in space of head 'naml'"),  # NAML has none
        ("pooling=[cls, mean]", "unknown name in space"),  # nor has the built-in encoder
        ("query=0.5..2", "query is a whole number, found the range 0.5..2"),
        ("query=50..200 step 12.5", "query is a whole number"),
        ("query=0..50", "query: 0, expected at least 1"),
        ("query=[50, 99.5]", "query: 99.5, expected int"),
        ("query=[50, true]", "query: True, expected int"),
        ("epochs=0..5", "epochs: 0, expected at least 1"),
        ("learning_rate=0..1", "learning_rate: 0, expected a positive number"),
        ("learning_rate=[1e-3, fast]", "learning_rate: 'fast', expected float"),
        ("loss=1..2", "loss: the range 1..2, expected a list of values"),
        ("loss=[ce, hinge]", "unknown loss 'hinge'"),
        ("newest=0..1", "newest: the range 0..1, expected a list of values"),
        ("schedule=[linear, 3]", "schedule: 3, expected str"),
        ("dropout=0..1", "dropout: 1, expected a share from 0 to less than 1"),
        ("warmup=0..2", "warmup: 2, expected a share"),
        ("trainable=[none, half]", "trainable: .*found 'half'"),
        ("seed=[1, 2]", "seed is no matter of search"),
        ("device=[cpu, cuda]", "device is no matter of search"),
        ("epochs=3", "nothing varies"),
    ],
)
def test_what_does_not_fit_is_refused_by_name(space: str, said: str) -> None:
    with pytest.raises(ConfigError, match=said):
        planned(space)


def test_lists_that_are_one_value_are_told_how() -> None:
    assert planned("hidden=[[40, 8], [20, 4]]", "caum").params[0].whole
    with pytest.raises(ConfigError, match=r"hidden: 400, expected .*one list is \[\[…\]\]"):
        planned("hidden=[400, 256]", "caum")


def test_an_unknown_head_and_a_head_without_anything_to_learn_are_refused() -> None:
    with pytest.raises(ConfigError, match=r"unknown head 'nmal'.*Did you mean 'naml'"):
        planned("epochs=1..3", "nmal")
    with pytest.raises(ConfigError, match=r"'lfrec-scl' has no weights of its own.*trainable"):
        planned("epochs=1..3", "lfrec-scl")
    assert planned("epochs=1..3", "lfrec-scl", trainable="last4").params
    assert planned("trainable=[last4, all]", "lfrec-scl").params


def test_losses_cannot_be_compared_where_the_loss_itself_is_searched() -> None:
    assert planned("learning_rate=1e-4..1e-2 log, batch=[8, 16]").comparable_losses
    for space in ("temperature=0.1..0.5", "loss=[ce, scl]", "negatives=1..8"):
        assert not planned(space).comparable_losses


def test_defaults_are_those_of_the_head_or_of_the_config_if_the_space_holds_them() -> None:
    space = "query=50..200 step 50, dropout=0.3..0.5, batch=[64, 256], clip=[null, 1.0]"
    assert planned(space).defaults() == {"query": 50, "batch": 256}
    config = load_training(None, {"head": "naml:query=125:dropout=0.4", "options": {"clip": 1.0}})
    assert plan(config, load_space(space)).defaults() == {
        "dropout": 0.4, "batch": 256, "clip": 1.0,
    }  # fmt: skip


@pytest.mark.parametrize("head", sorted(set(HEADS) - {"lfrec"}))
@pytest.mark.parametrize("trainable", ["none", "last4"])
def test_every_head_has_a_space_of_its_own(head: str, trainable: str) -> None:
    config = load_training(None, {"head": head, "trainable": trainable})
    space = default_space(config)
    if HEADS[head].encoder_only and trainable == "none":
        return
    found = plan(config, space)
    assert "learning_rate" in found.defaults()
    own = [p.name for p in found.params if p.part == "head"]
    assert own or not HEADS[head].options


def test_what_the_config_fixes_is_not_searched_by_default() -> None:
    config = load_training(None, {"head": "naml:query=75", "options": {"learning_rate": 1e-4}})
    assert set(default_space(config).names) == {"batch", "dropout"}
    few = config.model_copy(update={"shots": (10,)})
    assert set(default_space(few).names) == {"dropout"}
