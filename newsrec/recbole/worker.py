"""Trains one RecBole model and scores impressions: ``python -I worker.py JOB.json``.

Runs in RecBole's environment, which need not have newsrec: nothing here may import it. The current
folder is the worker's own; it holds the clicks (``clicks/clicks.inter``) and ``arrays.npz``, and
gets ``scores.npy (nnz,) float32`` and ``result.json``. The model never leaves this process: nothing
is unpickled, and no checkpoint is written or read.
"""

from __future__ import annotations

import json
import logging
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np

# Scores held at a time: 64 MB of float32; fewer where each takes a pass through the whole model.
_SCORES = 1 << 24
_PAIRS = 1 << 16

#: What the job decides; options of the user must leave them alone.
FIXED: dict[str, Any] = {
    "data_path": ".",
    "checkpoint_dir": "saved",
    "field_separator": "\t",
    "seq_separator": " ",
    "USER_ID_FIELD": "user_id",
    "ITEM_ID_FIELD": "item_id",
    "TIME_FIELD": "place",
    "load_col": {"inter": ["user_id", "item_id", "place"]},
    "eval_args": {"split": {"RS": [1, 0, 0]}, "order": "TO", "group_by": None, "mode": "full"},
    "show_progress": False,
    "reproducibility": True,
    "log_wandb": False,
    "save_dataset": False,
    "save_dataloaders": False,
    "benchmark_filename": None,
    "preload_weight": None,
    "additional_feat_suffix": None,
}


def main() -> None:
    job = json.loads(Path(sys.argv[1]).read_text("utf-8"))
    # RecBole reads the command line of whoever imports it.
    sys.argv = sys.argv[:1]
    logging.basicConfig(level=logging.INFO, stream=sys.stdout, format="%(asctime)s %(message)s")
    with np.load("arrays.npz", allow_pickle=False) as arrays:
        found = {name: arrays[name] for name in arrays.files}
    started = time.monotonic()
    config, dataset, model, losses = train(job)
    trained = time.monotonic()
    scores, counts = score(config, dataset, model, found)
    np.save("scores.npy", scores, allow_pickle=False)
    told = {
        "counts": counts,
        "losses": losses,
        "train_s": round(trained - started, 3),
        "score_s": round(time.monotonic() - trained, 3),
        "device": str(config["device"]),
    }
    Path("result.json").write_text(json.dumps(told), "utf-8")


def train(job: dict[str, Any]) -> tuple[Any, Any, Any, list[float]]:
    """RecBole's config, its whole dataset, the trained model, and the loss of each epoch."""
    from recbole.data.utils import create_dataset, create_samplers, get_dataloader
    from recbole.utils import get_model, get_trainer, init_seed

    config = configure(job)
    init_seed(config["seed"], config["reproducibility"])
    dataset = create_dataset(config)
    parts = dataset.build()
    # A set of one part has an empty rest, for which RecBole has no loader.
    sampler = create_samplers(config, dataset, parts)[0]
    loader = get_dataloader(config, "train")(config, parts[0], sampler, shuffle=True)
    init_seed(config["seed"], config["reproducibility"])
    model = get_model(config["model"])(config, loader._dataset).to(config["device"])
    logging.info("%s", model)
    trainer = get_trainer(config["MODEL_TYPE"], config["model"])(config, model)
    trainer.fit(loader, None, saved=False, show_progress=False)
    model.eval()
    losses = [float(x) for x in trainer.train_loss_dict.values()]
    if not np.isfinite(losses).all():
        raise ValueError(f"the training loss is not finite: {losses[-1]}")
    return config, dataset, model, losses


def configure(job: dict[str, Any]) -> Any:
    """The config of a job; `ValueError` for an option that RecBole does not have."""
    from recbole.config import Config
    from recbole.utils import ModelType, get_model

    given = {**FIXED, "seed": job["seed"]}
    if job["epochs"] is not None:
        given["epochs"] = job["epochs"]
    given.update(job["options"])
    if get_model(job["model"]).type == ModelType.SEQUENTIAL:
        # RecBole refuses negatives where the loss is a softmax over all items, by default and not.
        plain = Config(job["model"], "clicks", config_dict={**given, "train_neg_sample_args": None})
        if plain["loss_type"] == "CE":
            given["train_neg_sample_args"] = None
    config = Config(job["model"], "clicks", config_dict=given)
    for option in job["options"]:
        if option not in config.internal_config_dict:
            raise ValueError(f"RecBole's {job['model']} has no option {option!r}")
    return config


def score(
    config: Any, dataset: Any, model: Any, arrays: dict[str, Any]
) -> tuple[np.ndarray, dict[str, int]]:
    """``(nnz,) float32`` scores of the candidates, and how many fell back to what.

    A list whose reader (general models) or whose whole history (sequential ones) was not trained on
    gets the number of training clicks of each candidate; elsewhere a candidate that was not trained
    on gets the reader's mean over the articles that were.
    """
    item_of = numbers(dataset, "item_id", arrays["item_tokens"])
    user_of = numbers(dataset, "user_id", arrays["user_tokens"])
    clicks = np.bincount(item_of[arrays["clicked"]], minlength=dataset.item_num)
    candidates, offsets = item_of[arrays["candidates"]], arrays["candidates_offsets"]
    owner = np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))
    users = user_of[arrays["user"]]
    sequences = histories(config, arrays, item_of)
    if is_sequential(config):
        known = sequences[1][arrays["history_of"]] > 0
        keys = np.stack([arrays["history_of"], users], axis=1)
    else:
        known = users > 0
        keys = users[:, None]
    scores = np.asarray(clicks[candidates], np.float32)
    scores[candidates == 0] = 0
    readers, of = np.unique(keys[known], axis=0, return_inverse=True)
    rows = np.flatnonzero(known)[np.argsort(of.reshape(-1), kind="stable")]
    fill(config, model, readers, sequences, rows, np.sort(of.reshape(-1)),
         candidates, offsets, scores)  # fmt: skip
    unseen = candidates == 0
    return scores, {
        "impressions": len(users),
        "impressions_of_unknown_readers": int(np.count_nonzero(~known)),
        "candidates": len(candidates),
        "candidates_not_trained_on": int(np.count_nonzero(unseen & known[owner])),
        "trained_clicks": len(arrays["clicked"]),
        "trained_readers": int(dataset.user_num) - 1,
        "trained_articles": int(dataset.item_num) - 1,
    }


def is_sequential(config: Any) -> bool:
    from recbole.utils import ModelType

    return bool(config["MODEL_TYPE"] == ModelType.SEQUENTIAL)


def numbers(dataset: Any, field: str, tokens: np.ndarray) -> np.ndarray:
    """RecBole's numbers of ``tokens (n,)``, 0 where it has none."""
    of = dataset.field2token_id[field]
    return np.asarray([of.get(token, 0) for token in tokens.tolist()], np.int64)


def histories(
    config: Any, arrays: dict[str, Any], item_of: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """The newest clicks of every distinct history that RecBole has numbers for, oldest first,
    ``(n, MAX_ITEM_LIST_LENGTH)`` with zeros at the end, and how many ``(n,)``."""
    limit = int(config["MAX_ITEM_LIST_LENGTH"])
    values, offsets = item_of[arrays["history"]], arrays["history_offsets"]
    lists = np.zeros((len(offsets) - 1, limit), np.int64)
    lengths = np.zeros(len(offsets) - 1, np.int64)
    if is_sequential(config):
        for i in range(len(lists)):
            read = values[offsets[i] : offsets[i + 1]]
            read = read[read > 0][-limit:]
            lists[i, : len(read)] = read
            lengths[i] = len(read)
    return lists, lengths


def fill(
    config: Any,
    model: Any,
    readers: np.ndarray,
    sequences: tuple[np.ndarray, np.ndarray],
    rows: np.ndarray,
    of: np.ndarray,
    candidates: np.ndarray,
    offsets: np.ndarray,
    scores: np.ndarray,
) -> None:
    """Write into ``scores`` the lists ``rows (k,)`` of ``readers[of] (k,)``; ``of`` rises."""
    import torch

    n_items = int(model.n_items)
    step = max(1, (_SCORES if sorts_all(model) else _PAIRS) // n_items)
    for first in range(0, len(readers), step):
        part = readers[first : first + step]
        with torch.no_grad():
            found = all_scores(config, model, batch(config, part, sequences))
        table = found.detach().reshape(len(part), -1).float().cpu().numpy()[:, :n_items]
        mean = table[:, 1:].mean(axis=1)
        a, b = np.searchsorted(of, [first, first + len(part)])
        for row, reader in zip(rows[a:b].tolist(), (of[a:b] - first).tolist(), strict=True):
            at = slice(offsets[row], offsets[row + 1])
            shown = candidates[at]
            scores[at] = np.where(shown > 0, table[reader, shown], mean[reader])


def sorts_all(model: Any) -> bool:
    """Whether the model scores all articles for a reader at once."""
    from recbole.model.abstract_recommender import AbstractRecommender

    return type(model).full_sort_predict is not AbstractRecommender.full_sort_predict


def all_scores(config: Any, model: Any, readers: Any) -> Any:
    """Scores of all articles for each of ``readers``: ``(n * n_items,)`` or ``(n, n_items)``."""
    import torch
    from recbole.data.interaction import Interaction

    if sorts_all(model):
        return model.full_sort_predict(readers)
    n_items = int(model.n_items)
    items = torch.arange(n_items, device=config["device"]).repeat(len(readers))
    pairs = readers.repeat_interleave(n_items)
    pairs.update(Interaction({config["ITEM_ID_FIELD"]: items}))
    return model.predict(pairs)


def batch(config: Any, part: np.ndarray, sequences: tuple[np.ndarray, np.ndarray]) -> Any:
    """Readers as RecBole's interactions; columns of ``part``: (history,) reader."""
    import torch
    from recbole.data.interaction import Interaction

    fields = {config["USER_ID_FIELD"]: torch.from_numpy(np.ascontiguousarray(part[:, -1]))}
    if is_sequential(config):
        lists, lengths = (array[part[:, 0]] for array in sequences)
        fields[config["ITEM_ID_FIELD"] + config["LIST_SUFFIX"]] = torch.from_numpy(lists)
        fields[config["ITEM_LIST_LENGTH_FIELD"]] = torch.from_numpy(lengths)
    return Interaction(fields).to(config["device"])


if __name__ == "__main__":
    main()
