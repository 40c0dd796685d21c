"""Impressions to a trained head: `fit`.

The text encoder is frozen here: a head reads stored vectors and no text. `newsrec.rank.tuned`
trains the encoder in the same loop, on the same `ClickTask`.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from newsrec.errors import ConfigError, NewsrecError
from newsrec.plain import digest
from newsrec.rank.articles import articles_of
from newsrec.rank.batches import VALID, Batch, ClickRows
from newsrec.rank.fit_options import TEMPERATURES, FitOptions
from newsrec.rank.heads.head import NewsHead
from newsrec.rank.heads.table import HEADS
from newsrec.rank.inputs import Ints
from newsrec.rank.loop import OnEpoch, run
from newsrec.rank.losses import cross_entropy, supervised_contrast
from newsrec.rank.model_folder import check_best, load_ranker, save_ranker
from newsrec.rank.neural import NeuralRanker
from newsrec.rank.news_modules import Items
from newsrec.rank.peers import Peers
from newsrec.types import Features, Impressions

_LOSS: dict[str, Callable[[Tensor, Tensor, Tensor, float], Tensor]] = {
    "ce": cross_entropy,
    "scl": supervised_contrast,
}


def fit(
    head: NewsHead,
    train: Impressions,
    valid: Impressions | None,
    features: Features,
    options: FitOptions | None = None,
    *,
    valid_features: Features | None = None,
    folder: Path | None = None,
    on_epoch: OnEpoch | None = None,
    made: Mapping[str, Any] | None = None,
) -> NeuralRanker:
    """A ranker: ``head`` trained on ``train`` until it gets no better on ``valid``.

    ``head`` itself stays as it is. ``valid`` None: all epochs, and the last one counts;
    ``valid_features``: its features where they are not those of ``train``. ``folder``: ``last``
    is the state of the run, which goes on from there if it is there already, ``best`` the best
    ranker so far. ``made``: provenance, kept with the ranker.

    `ConfigError` for a head without anything to train or for features of another encoder,
    `DataError` when no impression is usable or the loss is not a number.
    """
    options = FitOptions() if options is None else options
    _check_trainable(head)
    loss = loss_of(head, options)
    rows = click_rows(head, train, features, options)
    valid_rows = None
    if valid is not None:
        valid_rows = click_rows(head, valid, valid_features or features, options)
    task = ClickTask.of(rows, valid_rows, options, loss)
    run_of = told_of(head, features, valid_features)
    apart = digest({"options": options.lasting, **task.told(), **run_of})
    told = {**task.made, **(made or {}), "run": apart}
    if folder is not None:
        check_best(folder, apart)

    def ranker(module: nn.Module) -> NeuralRanker:
        assert isinstance(module, NewsHead)
        return NeuralRanker(module, options.history_limit, options.newest, told)

    module = copy.deepcopy(head).to(options.device)
    trained = run(
        module,
        task,
        options,
        folder=folder,
        on_epoch=on_epoch,
        on_best=None if folder is None else lambda m: save_ranker(folder / "best", ranker(m)),
        told=run_of,
    )
    if folder is not None and Peers.here().rank == 0:
        _mended(folder / "best", ranker(trained))
    return ranker(trained)


def _mended(best: Path, ranker: NeuralRanker) -> None:
    """A ranker that was lost or damaged is written again."""
    try:
        load_ranker(best)
    except NewsrecError:
        save_ranker(best, ranker)


def untrained(head: NewsHead, **options: Any) -> NeuralRanker:
    """A head that has nothing to train, as a ranker; `ConfigError` for any other."""
    if head.n_trainable():
        raise ConfigError(f"head {head.name!r} has weights that nothing has trained; fit it first")
    return NeuralRanker(head.eval(), **options)


@dataclass(frozen=True, slots=True, eq=False)
class ClickTask:
    """A `newsrec.rank.loop.Task`: tell clicks from non-clicks."""

    rows: ClickRows
    valid: ClickRows | None
    options: FitOptions
    loss_name: str
    temperature: float

    @classmethod
    def of(
        cls, rows: ClickRows, valid: ClickRows | None, options: FitOptions, loss: str
    ) -> ClickTask:
        """With the temperature of ``options``, else the loss's own."""
        return cls(rows, valid, options, loss, options.temperature or TEMPERATURES[loss])

    @property
    def made(self) -> dict[str, Any]:
        """Provenance of what is trained by it."""
        said = {"loss": self.loss_name, "temperature": self.temperature}
        return {"options": self.options.to_dict() | said, "impressions": self.rows.counts}

    def batches(self, epoch: int) -> list[Ints]:
        """Rows of like history length, in an order of the epoch's own."""
        return self.rows.batches(epoch, self.options.batch)

    def valid_batches(self) -> list[Ints]:
        """Rows of like history length."""
        return [] if self.valid is None else self.valid.batches(VALID, self.options.micro_batch)

    def loss(self, module: nn.Module, rows: Ints, epoch: int | None) -> Tensor:
        """``(len(rows),)``."""
        source = self.valid if epoch is None and self.valid is not None else self.rows
        batch = source.batch(rows, VALID if epoch is None else epoch)
        device = self.options.device
        items = Items.of(source.articles, batch.articles, device)
        history, history_mask, candidates, mask, clicked = tensors(batch, device)
        scores = module(items, history, history_mask, candidates)
        return _LOSS[self.loss_name](scores, clicked, mask, self.temperature)

    def told(self) -> Mapping[str, Any]:
        """Numbers that another corpus or split does not share."""
        valid = {"rows": 0, "data": ""} if self.valid is None else self.valid.told()
        return {**self.rows.told(), "valid": valid, "loss": self.loss_name,
                "temperature": self.temperature}  # fmt: skip


def tensors(batch: Batch, device: str) -> tuple[Tensor, Tensor, Tensor, Tensor, Tensor]:
    """``history, history_mask, candidates, mask, clicked`` of a batch."""
    parts = (batch.history, batch.history_mask, batch.candidates, batch.mask, batch.clicked)
    found = [torch.from_numpy(part).to(device) for part in parts]
    return found[0], found[1], found[2], found[3], found[4]


def loss_of(head: NewsHead, options: FitOptions) -> str:
    """The name of the loss that is asked for, or the head's own."""
    return options.loss or (HEADS[head.name].loss if head.name in HEADS else "ce")


def click_rows(
    head: NewsHead, impressions: Impressions, features: Features, options: FitOptions
) -> ClickRows:
    """What ``head`` learns from ``impressions``; `DataError` for nothing."""
    articles = articles_of(
        impressions,
        features,
        head.inputs,
        history_limit=options.history_limit,
        newest=options.newest,
    )
    return ClickRows.of(
        impressions,
        articles,
        one_click=loss_of(head, options) == "ce",
        negatives=options.negatives,
        seed=options.seed,
    )


def _check_trainable(head: NewsHead) -> None:
    if head.n_trainable():
        return
    raise ConfigError(
        f"head {head.name!r} has no weights of its own, only the encoder can learn, and it is "
        "frozen (trainable: none): train the encoder (last4, last4+embeddings, all, lora), or use "
        "'lfrec', which needs no training"
    )


def told_of(head: NewsHead, *seen: Features | None) -> dict[str, Any]:
    """Which head this is and which vectors it has ``seen``, in a few values: a run goes on only
    with the same."""
    vectors = sorted(
        f"{side} {view} {found.spec.hash}"
        for features in seen
        if features is not None
        for side, views in (("history", features.history), ("shelf", features.candidates))
        for view, found in views.items()
    )
    return {"head": head.name, "head_options": dict(head.options),
            "inputs": digest(head.inputs.to_dict()), "vectors": vectors}  # fmt: skip
