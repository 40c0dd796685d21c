"""Plain values: flattened, told apart, digested."""

from __future__ import annotations

from pathlib import Path

from newsrec.plain import differences, digest, flat


def test_nested_fields_are_flattened() -> None:
    assert flat({"a": {"b": {"c": 1}}, "d": 2}) == {"a.b.c": 1, "d": 2}


def test_a_digest_is_that_of_the_values_whatever_their_order() -> None:
    assert digest({"a": 1, "b": [1, 2]}) == digest({"b": (1, 2), "a": 1})
    assert digest({"a": 1}) != digest({"a": 2})
    assert digest({"a": Path("x")}) == digest({"a": "x"})
    assert len(digest("\ud800")) == 16  # not every text is Unicode


def test_differences_are_named_by_key_and_are_few() -> None:
    before = {"options": {"epochs": 2, "seed": 1}, "head": "naml", "views": ["title"]}
    now = {"options": {"epochs": 3, "seed": 1}, "head": "naml", "views": ("title",)}
    assert differences(before, now) == "options.epochs: 2, now 3"
    assert differences(before, before) == ""
    assert differences({"a": 1}, {}) == "a: 1, now None"
    many = {str(i): i for i in range(9)}
    assert differences(many, {}, most=2) == "0: 0, now None; 1: 1, now None"
    assert len(differences({"a": "x" * 999}, {})) <= 160
