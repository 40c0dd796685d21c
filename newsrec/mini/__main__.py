"""``python -m newsrec.mini --data DIR --work DIR --out DIR``, what `scripts/train_mini` calls."""

from __future__ import annotations

import argparse
import logging
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from newsrec.adapt import static as training
from newsrec.mini.build import build
from newsrec.mini.recipe import QUICK, Recipe


def main(arguments: Sequence[str] | None = None) -> None:
    """Command line of `scripts/train_mini`."""
    parser = argparse.ArgumentParser(prog="python -m newsrec.mini", description=build.__doc__)
    parser.add_argument("--data", type=Path, required=True, help="the shared data folder")
    parser.add_argument("--work", type=Path, required=True, help="where a killed run goes on from")
    parser.add_argument("--out", type=Path, required=True, help="the folder of the weights")
    parser.add_argument("--steps", type=int, help="of every run; default: the recipe's")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--quick", action="store_true", help="a tiny model, to see it run")
    given = parser.parse_args(arguments)
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(message)s")
    recipe = QUICK if given.quick else Recipe()
    if given.steps:
        recipe = replace(recipe, plan=tuple((t, given.steps) for t, _ in recipe.plan))
    training.set_threads(2)
    build(given.data, given.work, given.out, recipe, given.seed)


if __name__ == "__main__":
    main()
