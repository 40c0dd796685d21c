"""`python -m tests.bench [--quick] [AREA ...]`: one markdown table on stdout."""

from __future__ import annotations

import argparse
import importlib
import sys

from tests.bench import Row

AREAS = (
    "cli", "corpus", "encode", "static", "rank", "cluster", "quality", "rerank", "evaluate",
    "heads",
)  # fmt: skip


def line(row: Row) -> str:
    """One row of the markdown table."""
    ratio = "" if row.ratio is None else f"{row.ratio:.1f}×"
    peak = "" if row.peak_mb is None else f"{row.peak_mb:,.0f} MB"
    return f"| {row.name} | {row.measured} | {row.target} | {row.reference} | {ratio} | {peak} |"


def main() -> None:
    """Run the areas named (default: all) and print rows as they come."""
    parser = argparse.ArgumentParser(prog="scripts/bench", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="small sizes, seconds in all")
    parser.add_argument("areas", nargs="*", metavar="AREA", help=", ".join(AREAS))
    options = parser.parse_args()
    for area in options.areas:
        if area not in AREAS:
            parser.error(f"unknown area {area!r}; known: {', '.join(AREAS)}")
    print("| what | measured | target | reference, same run | ratio | peak memory |")
    print("|---|---|---|---|---|---|")
    for area in options.areas or AREAS:
        for row in importlib.import_module(f"tests.bench.{area}").rows(quick=options.quick):
            print(line(row))
            sys.stdout.flush()


if __name__ == "__main__":
    main()
