"""Training heads on MINDsmall-train-shaped impressions, against this machine's own products and
against a loop that encodes the texts of every impression again."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch.utils.flop_counter import FlopCounterMode

from newsrec.rank.articles import articles_of
from newsrec.rank.batches import ClickRows
from newsrec.rank.checkpoints import Progress
from newsrec.rank.fit_options import FitOptions
from newsrec.rank.heads import make_head
from newsrec.rank.inputs import Inputs
from newsrec.rank.loop import train_step
from newsrec.rank.peers import Peers
from newsrec.rank.train import ClickTask
from newsrec.types import Embeddings, Features, Impressions, NewsTable, Ragged
from tests.bench import Row, best_of, measure
from tests.bench.rank import VIEW, mind_like

N, N_NEWS, N_CATEGORIES, N_ENTITIES = 124_229, 51_282, 18, 9_300


def rows(quick: bool) -> Iterator[Row]:
    """The lines of the table."""
    shape = {"n": 2_000, "n_news": 2_000} if quick else {"n": N, "n_news": N_NEWS}
    slow = again(batches=1, batch=1) if quick else again(batches=20)
    for name in ("naml", "mins", "caum", "manner"):
        got, _, peak = measure(
            "tests.bench.heads:train", name=name, seconds=2.0 if quick else 20.0, **shape
        )
        share = got["flop_per_s"] / got["product_per_s"]
        target = "≥ 1,500 impressions/s" if name == "naml" else "≥ 40 % of products"
        yield Row(
            f"train {name}, {shape['n']:,} impressions, {shape['n_news']:,} x 768",
            f"{got['impressions_per_s']:,.0f} impressions/s, {share:.0%} of products",
            f"{target}, ≥ 200×, ≤ 2 GB" if name != "manner" else "",
            f"products {got['product_per_s'] / 1e9:.0f} GFLOP/s; texts encoded again "
            f"{slow:.2f} impressions/s",
            got["impressions_per_s"] / slow,
            peak,
        )


def mind_train(n: int, n_news: int, folder: Path) -> tuple[Impressions, Features]:
    """`mind_like` with clicks (1.5 an impression), categories, entities, vectors in a file."""
    impressions, features = mind_like(n, n_news)
    rng = np.random.default_rng(1)
    lists = impressions.candidates
    clicked = np.zeros(len(lists.values), np.bool_)
    for who in (np.arange(n), np.flatnonzero(rng.random(n) < 0.5)):
        place = (rng.random(len(who)) * lists.lengths[who]).astype(np.int64)
        clicked[lists.offsets[who] + place] = True
    impressions = replace(impressions, clicked=clicked)
    np.save(folder / "vectors.npy", features.candidates[VIEW].vectors)
    old = features.candidates[VIEW]
    vectors = np.load(folder / "vectors.npy", mmap_mode="r")
    news = NewsTable(
        features.news.ids,
        rng.integers(0, N_CATEGORIES, n_news).astype(np.int16),
        features.news.subcategory,
        tuple(f"category {i}" for i in range(N_CATEGORIES)),
        (),
        features.news.published,
        features.news.story,
        Ragged.from_lengths(
            rng.integers(0, N_ENTITIES, 3 * n_news).astype(np.int32), np.full(n_news, 3)
        ),
        tuple(f"Q{i}" for i in range(N_ENTITIES)),
    )
    views = {VIEW: Embeddings(vectors, old.present, old.spec)}
    return impressions, Features(news, views, views)


def train(name: str, n: int, n_news: int, seconds: float) -> dict[str, float]:
    """Steps of the loop over batches that stand for an epoch, as often as some seconds allow:
    impressions and floating point operations a second, beside those of plain matrix products
    before, between and after."""
    options = FitOptions()
    with tempfile.TemporaryDirectory() as folder:
        impressions, features = mind_train(n, n_news, Path(folder))
        head = make_head(name, Inputs.of(features))
        one_click = name != "manner"
        articles = articles_of(impressions, features, head.inputs)
        rows = ClickRows.of(impressions, articles, one_click=one_click)
        del impressions, features
        task = ClickTask(rows, None, options, "ce" if one_click else "scl", 1.0)
        optimiser = torch.optim.Adam(head.parameters(), fused=True)
        parts = (options, optimiser, Progress(), Peers())
        batches = spread(task.batches(0), rows)
        head.train()
        train_step(head, task, batches[0], *parts)
        done, spent, flops, products = 0, 0.0, 0, [product_rate()]
        while not done or spent < seconds:
            for i, batch in enumerate(batches):
                start = time.perf_counter()
                train_step(head, task, batch, *parts)
                spent += time.perf_counter() - start
                done += len(batch)
                if i % 4 == 0:
                    products.append(product_rate())
        for batch in batches:
            with FlopCounterMode(display=False) as counter:
                train_step(head, task, batch, *parts)
            flops += counter.get_total_flops()
        a_row = flops / sum(len(batch) for batch in batches)
        share = rows.counts["used"] / len(rows)
    return {
        "impressions_per_s": done * share / spent,
        "rows_per_s": done / spent,
        "flop_per_s": a_row * done / spent,
        "product_per_s": float(np.median(products)),
    }


def spread(batches: list[NDArray[np.int64]], rows: ClickRows) -> list[NDArray[np.int64]]:
    """32 of an epoch's ``batches``, of every length of history (a batch has rows of like length),
    in the epoch's order."""
    lengths = [int(rows.articles.history.lengths[rows.history_of[x]].sum()) for x in batches]
    by_length = np.argsort(lengths, kind="stable")
    chosen = by_length[((np.arange(32) + 0.5) * len(batches) / 32).astype(np.int64)]
    return [batches[i] for i in np.unique(chosen)]


def product_rate(size: int = 1024) -> float:
    """Floating point operations a second of a square product of float32."""
    a, b = torch.rand(size, size), torch.rand(size, size)
    return 2 * size**3 / best_of(3, lambda: a @ b)


def again(batches: int, batch: int = 8, tokens: int = 56) -> float:
    """Impressions a second of a loop that encodes each impression's 5 candidates and 25 clicks
    with a frozen LaBSE-shaped transformer of random weights.

    ``tokens``: the mean of title and abstract of 2,121 real MIND articles, cut at NaSE's 96
    (55.5 word pieces of an English vocabulary); nothing is padded.
    """
    from transformers import BertConfig, BertModel

    model: Any = BertModel(BertConfig(vocab_size=1000)).eval()
    spent = 0.0
    with torch.inference_mode():
        for _ in range(batches):
            ids = torch.randint(5, 1000, (batch * 30, tokens))
            start = time.perf_counter()
            model(input_ids=ids)
            spent += time.perf_counter() - start
    return batches * batch / spent
