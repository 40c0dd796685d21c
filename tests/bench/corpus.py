"""Parsing behaviors of MINDlarge's shape, against pandas in the same run.

The file is generated: 2.2 million impressions of 711 thousand readers over 101,527 news, 37
candidates and 33 history items on average with long tails, about 1.3 GB. pandas reads the first
tenth of it (what it does takes time in proportion to the lines) and the ratio is one of MB/s.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from tests.bench import Row, measure

N_NEWS = 101_527
N_IMPRESSIONS = 2_232_748
IMPRESSIONS_OF_A_READER = 3.14
_SLICE = 10


def rows(quick: bool) -> Iterator[Row]:
    """One row; ``quick`` parses a hundredth of the size."""
    n = N_IMPRESSIONS // (100 if quick else 1)
    with tempfile.TemporaryDirectory() as folder:
        whole, part = (str(Path(folder) / name) for name in ("behaviors.tsv", "slice.tsv"))
        ids = str(Path(folder) / "ids.txt")
        n_slice = n // (2 if quick else _SLICE)
        generate(whole, ids, n, part, n_slice)
        size, part_size = Path(whole).stat().st_size, Path(part).stat().st_size
        ours, theirs = [], []
        for _ in range(2):
            theirs.append(measure("tests.bench.corpus:parse_pandas", path=part, ids=ids))
            ours.append(measure("tests.bench.corpus:parse_ours", path=whole, ids=ids))
        same, _, _ = measure("tests.bench.corpus:parse_ours", path=part, ids=ids)
    for key in ("impressions", "candidates", "history", "clicks", "sum"):
        if same[key] != theirs[0][0][key]:
            raise AssertionError(f"{key}: {same[key]}, pandas finds {theirs[0][0][key]}")
    seconds = min(result["seconds"] for result, _, _ in ours)
    pandas_seconds = min(result["seconds"] for result, _, _ in theirs)
    rate, pandas_rate = size / seconds / 1e6, part_size / pandas_seconds / 1e6
    yield Row(
        name=f"parse behaviors: {n:,} impressions, {size / 1e9:.2f} GB",
        measured=f"{rate:.0f} MB/s ({seconds:.1f} s)",
        target="≥ 60 MB/s, ≤ 6 GB, ≥ 5 × pandas",
        reference=f"pandas {pandas_rate:.0f} MB/s on the first {part_size / 1e9:.2f} GB",
        ratio=rate / pandas_rate,
        peak_mb=max(peak for _, _, peak in ours),
    )


def generate(path: str, ids: str, n: int, part: str, n_slice: int) -> None:
    """Write behaviors of ``n`` impressions to ``path``, its first ``n_slice`` to ``part`` and the
    ids of the news to ``ids``."""
    rng = np.random.default_rng(20191109)
    names = np.array([f"N{k}" for k in rng.choice(130_000, N_NEWS, replace=False)])
    Path(ids).write_text("\n".join(names))
    weight = 1 / np.arange(1, N_NEWS + 1) ** 0.7
    cumulated = np.cumsum(weight / weight.sum())

    def draw(k: int) -> list[str]:
        return names[np.minimum(np.searchsorted(cumulated, rng.random(k)), N_NEWS - 1)].tolist()

    n_readers = max(1, int(n / IMPRESSIONS_OF_A_READER))
    histories = _joined(draw, _lengths(rng, n_readers, 33, 800), [""])
    with Path(path).open("w") as file, Path(part).open("w") as first:
        for start in range(0, n, 20_000):
            k = min(20_000, n - start)
            shown = _joined(draw, _lengths(rng, k, 37, 300), _LABELS)
            readers = rng.integers(0, n_readers, k).tolist()
            clock = rng.integers((9, 1, 0, 0), (15, 13, 60, 60), (k, 4)).tolist()
            lines = [
                f"{start + i + 1}\tU{u}\t11/{d}/2019 {h}:{m:02}:{s:02} AM\t{histories[u]}\t{c}\n"
                for i, (u, (d, h, m, s), c) in enumerate(zip(readers, clock, shown, strict=True))
            ]
            file.writelines(lines)
            first.writelines(lines[: max(0, n_slice - start)])


_LABELS = ["-1"] + ["-0"] * 24


def _lengths(rng: np.random.Generator, n: int, mean: float, most: int) -> list[int]:
    """Log-normal lengths ``(n,)`` with about that mean."""
    sigma = 1.1
    drawn = rng.lognormal(np.log(mean) - sigma**2 / 2, sigma, n)
    return np.clip(drawn, 1, most).astype(int).tolist()


def _joined(draw: Any, lengths: list[int], suffixes: list[str]) -> list[str]:
    """Lists of ids of ``lengths (n,)`` as text; the suffixes go round."""
    tokens = draw(sum(lengths))
    tokens = [token + suffixes[k % len(suffixes)] for k, token in enumerate(tokens)]
    at, found = 0, []
    for length in lengths:
        found.append(" ".join(tokens[at : at + length]))
        at += length
    return found


def parse_ours(path: str, ids: str) -> dict[str, Any]:
    """newsrec's parser, index included."""
    from time import perf_counter

    from newsrec.corpus.behaviors import read_behaviors
    from newsrec.corpus.ids import IdIndex

    names = Path(ids).read_text().split("\n")
    start = perf_counter()
    with Path(path).open("rb") as stream:
        found = read_behaviors(stream, IdIndex.build(names)).impressions
    seconds = perf_counter() - start
    return {
        "seconds": seconds,
        "impressions": len(found),
        "candidates": len(found.candidates.values),
        "history": int(found.history_lengths.sum()),
        "clicks": int(np.count_nonzero(found.clicked)),
        "sum": int(found.candidates.values.sum(dtype=np.int64))
        + int(found.time.astype(np.int64).sum()),
    }


def parse_pandas(path: str, ids: str) -> dict[str, Any]:
    """The straightforward way to the same arrays: read_csv, str.split, a dictionary of rows."""
    from time import perf_counter

    import pandas as pd

    names = Path(ids).read_text().split("\n")
    start = perf_counter()
    row_of = {name: row for row, name in enumerate(names)}
    columns = ["id", "user", "time", "history", "impressions"]
    table = pd.read_csv(path, sep="\t", header=None, names=columns, quoting=3)
    time = pd.to_datetime(table["time"], format="%m/%d/%Y %I:%M:%S %p").to_numpy("datetime64[s]")
    user, _ = pd.factorize(table["user"])
    histories = [[row_of[x] for x in items] for items in table["history"].str.split()]
    pairs = [[x.split("-") for x in items] for items in table["impressions"].str.split()]
    candidates = [np.array([row_of[x] for x, _ in items], np.int32) for items in pairs]
    clicked = [np.array([label == "1" for _, label in items]) for items in pairs]
    history = [np.array(items, np.int32) for items in histories]
    seconds = perf_counter() - start
    return {
        "seconds": seconds,
        "impressions": len(user),
        "candidates": sum(map(len, candidates)),
        "history": sum(map(len, history)),
        "clicks": int(sum(c.sum() for c in clicked)),
        "sum": int(sum(c.sum(dtype=np.int64) for c in candidates))
        + int(time.astype(np.int64).sum()),
    }
