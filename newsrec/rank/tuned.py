"""A head and the encoder before it, trained together: `fit_tuned`.

A batch's distinct texts go through the encoder once, whatever lists name them. What comes out is
two things that belong together, a head and an encoder: the encoder is one like any other
afterwards, its vectors are stored, and the head reads them.
"""

from __future__ import annotations

import copy
import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import torch
from torch import Tensor, nn

from newsrec.errors import ConfigError, DataError, NewsrecError
from newsrec.files import atomic_folder
from newsrec.plain import digest
from newsrec.rank.articles import Articles
from newsrec.rank.batches import ClickRows
from newsrec.rank.checkpoints import learnt
from newsrec.rank.fit_options import FitOptions
from newsrec.rank.heads.head import NewsHead
from newsrec.rank.inputs import Ints
from newsrec.rank.layers import gather
from newsrec.rank.loop import OnEpoch, run
from newsrec.rank.model_folder import check_best, load_ranker, write_ranker
from newsrec.rank.neural import NeuralRanker
from newsrec.rank.news_modules import Items
from newsrec.rank.peers import Peers
from newsrec.rank.train import ClickTask, click_rows, loss_of, told_of
from newsrec.rank.trained import ENCODER
from newsrec.types import EncoderSpec, Features, Impressions


class Tower(Protocol):
    """A torch module from numbers of texts to their vectors (`newsrec.encode.tower.TextTower`)."""

    @property
    def n_texts(self) -> int: ...

    @property
    def told(self) -> Mapping[str, Any]:
        """What it is, in a few values."""
        ...

    def __call__(self, which: Tensor) -> Tensor:
        """``which (k,)`` to ``(k, dim)``."""
        ...

    def save(self, folder: Path) -> EncoderSpec:
        """Write the encoder as it is now; the spec of the one that is read from there."""
        ...


@dataclass(frozen=True, slots=True, eq=False)
class Worded:
    """Impressions, and the texts behind the rows of their features.

    ``history (n, n_views)``, ``shelf (m, n_views)``: number of the text of each row of the two
    matrices, -1 where there is none. Of ``features`` only ``present`` and the encoder's spec are
    read, no vector.
    """

    impressions: Impressions
    features: Features
    history: Ints
    shelf: Ints

    def numbers(self, articles: Articles) -> Ints:
        """The texts of ``articles``: ``(n, n_views)``."""
        text = np.empty((len(articles), len(articles.sides)), np.int64)
        clicked = articles.clicked
        text[clicked] = self.history[articles.row[clicked]]
        text[~clicked] = self.shelf[articles.row[~clicked]]
        if np.any(articles.present & (text < 0)):
            raise DataError("an article that is present has no text to encode")
        return np.where(articles.present, text, -1)


class TunedHead(nn.Module):
    """``head`` behind ``tower``: the call of `NewsHead`, on `Items` whose texts are numbered.

    Where no gradient is wanted and nothing drops out, as in validation, a text keeps its vector
    until training goes on.
    """

    def __init__(self, head: NewsHead, tower: Tower) -> None:
        super().__init__()
        self.head = head
        self.tower = tower
        self._n, self._kept, self._row = 0, torch.zeros(0, 0), torch.zeros(0)
        self._forget()

    def train(self, mode: bool = True) -> TunedHead:
        """As `nn.Module.train`; vectors of weights that will change are forgotten."""
        self._forget()
        super().train(mode)
        return self

    def forward(self, items: Items, history: Tensor, mask: Tensor, candidates: Tensor) -> Tensor:
        """``(b, c)`` scores; ``history (b, t)``, ``candidates (b, c)`` number the items."""
        found: Tensor = self.head(
            replace(items, views=self.views(items)), history, mask, candidates
        )
        return found

    def views(self, items: Items) -> Tensor:
        """``(m, n_views, dim)``: each distinct text of the items encoded once, zeros for none."""
        assert items.text is not None
        here = items.text >= 0
        numbers, places = torch.unique(items.text[here], return_inverse=True)
        if not len(numbers):
            return items.views
        place = torch.zeros_like(items.text)
        place[here] = places
        device = items.views.device
        vectors = self._vectors(numbers) * self.head.inputs.length
        return gather(vectors, place.to(device)).masked_fill(~here.to(device)[..., None], 0)

    def _vectors(self, numbers: Tensor) -> Tensor:
        if self.training or torch.is_grad_enabled():
            return self.tower(numbers)
        missing = numbers[self._row[numbers] < 0]
        if len(missing):
            self._row[missing] = torch.arange(len(missing)) + self._n
            found = self.tower(missing)
            if not len(self._kept):
                self._kept = found.new_empty(self.tower.n_texts, found.shape[1])
            self._kept[self._n : self._n + len(missing)] = found
            self._n += len(missing)
        return self._kept[self._row[numbers].to(self._kept.device)]

    def _forget(self) -> None:
        self._n, self._kept = 0, torch.zeros(0, 0)
        self._row = torch.full((self.tower.n_texts,), -1)


def fit_tuned(
    head: NewsHead,
    tower: Tower,
    train: Worded,
    valid: Worded | None,
    options: FitOptions | None = None,
    *,
    folder: Path,
    on_epoch: OnEpoch | None = None,
    made: Mapping[str, Any] | None = None,
) -> NeuralRanker:
    """A ranker: ``head`` and what ``tower`` lets learn, trained as `newsrec.rank.fit` does.

    ``head`` stays as it is, ``tower`` is trained in place. ``folder``: ``last`` is the state of the
    run, without weights that are not trained; ``best``, written when the run has ended, is the
    ranker, and ``best/encoder`` the encoder whose vectors it reads, and no others.

    `ConfigError` for a head that reads no text or centred vectors, and where nothing is to be
    trained; `DataError` when no impression is usable or the loss is not a number.
    """
    options = FitOptions() if options is None else options
    module = TunedHead(copy.deepcopy(head), tower).to(options.device)
    _check(module)
    rows = _numbered(head, train, options)
    task = ClickTask.of(
        rows,
        None if valid is None else _numbered(head, valid, options),
        options,
        loss_of(head, options),
    )
    run_of = {
        **told_of(head, train.features, None if valid is None else valid.features),
        "tower": tower.told,
    }
    apart = digest({"options": options.lasting, **task.told(), **run_of})
    check_best(folder, apart)
    trained = run(
        module, task, options, folder=folder, on_epoch=on_epoch,
        told=run_of,
    )  # fmt: skip
    assert isinstance(trained, TunedHead)
    told = {**task.made, "tower": tower.told, "base": _base(head),
            "weights": _digest(trained), **(made or {}), "run": apart}  # fmt: skip
    peers = Peers.here()
    if peers.rank == 0 and not _written(folder / "best", told["weights"]):
        _write(folder / "best", trained, options, told)
    peers.wait()
    found = load_ranker(folder / "best")
    assert isinstance(found, NeuralRanker)
    return found


def _check(module: TunedHead) -> None:
    head = module.head
    if not head.inputs.views:
        raise ConfigError(f"head {head.name!r} reads no text: there is no encoder to train")
    if head.inputs.centre != "none":
        raise ConfigError(
            f"head {head.name!r} reads vectors without their mean (centre: "
            f"{head.inputs.centre}), and there is none while the encoder learns; use centre: none"
        )
    if not any(p.requires_grad for p in module.parameters()):
        raise ConfigError(
            f"head {head.name!r} has no weights of its own, and the encoder is frozen (trainable: "
            "none): train the encoder (last4, last4+embeddings, all, lora)"
        )


def _numbered(head: NewsHead, worded: Worded, options: FitOptions) -> ClickRows:
    rows = click_rows(head, worded.impressions, worded.features, options)
    return replace(rows, articles=replace(rows.articles, text=worded.numbers(rows.articles)))


def _base(head: NewsHead) -> dict[str, Any]:
    spec = head.inputs.encoder
    return {} if spec is None else {"name": spec.name, "revision": spec.revision}


def _digest(module: nn.Module) -> str:
    """16 hex digits over every trained weight."""
    total = hashlib.blake2b(digest_size=8)
    for name, weights in sorted(learnt(module).items()):
        total.update(name.encode())
        total.update(np.ascontiguousarray(weights.cpu().numpy()).tobytes())
    return total.hexdigest()


def _written(best: Path, weights: str) -> bool:
    """Whether ``best`` holds just these weights already."""
    try:
        found = load_ranker(best)
    except NewsrecError:
        return False
    return isinstance(found, NeuralRanker) and found.made.get("weights") == weights


def _write(
    best: Path, module: TunedHead, options: FitOptions, made: Mapping[str, Any]
) -> None:  # fmt: skip
    head = module.head
    with atomic_folder(best) as work:
        spec = module.tower.save(work / ENCODER)
        head.inputs = replace(head.inputs, encoder=spec)
        write_ranker(work, NeuralRanker(head, options.history_limit, options.newest, made))
