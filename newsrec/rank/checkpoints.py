"""The state of a training run, so that a killed one goes on as if nothing had happened.

``last/``: ``state.safetensors`` (weights, Adam's moments, the best epoch's weights) and
``state.json`` (where the run is). Both are written at once or not at all; nothing is pickled.
Weights that are not trained are not in it: who makes the module again brings them along.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError
from safetensors.torch import load_file, save_file
from torch import Tensor, nn

from newsrec.errors import StaleCacheError
from newsrec.files import atomic_folder, write_json
from newsrec.plain import differences

_FORMAT = 2
_TENSORS, _STATE = "state.safetensors", "state.json"

Tensors = dict[str, Tensor]


@dataclass(slots=True)
class Progress:
    """Where a run is: ``step`` steps of ``epoch`` (from 0) are done, with a summed training loss;
    ``best_epoch`` (-1: none yet), its loss, and epochs since. ``done``: it has ended. ``threads``:
    torch's, on which the last bits of its sums depend; a run keeps the number it began with."""

    epoch: int = 0
    step: int = 0
    loss_sum: float = 0.0
    n_rows: int = 0
    best_epoch: int = -1
    best_loss: float | None = None
    done: bool = False
    threads: int = field(default_factory=torch.get_num_threads)
    best: Tensors = field(default_factory=dict)

    def numbers(self) -> dict[str, Any]:
        """Everything but the weights."""
        return {k: v for k, v in asdict(self).items() if k != "best"}


def learnt(module: nn.Module) -> Tensors:
    """All of the module's state but weights that are not trained; no copies."""
    frozen = {name for name, p in module.named_parameters() if not p.requires_grad}
    state = module.state_dict()
    return {name: tensor.detach() for name, tensor in state.items() if name not in frozen}


def copied(module: nn.Module) -> Tensors:
    """What training changes, as it is now."""
    return {name: tensor.clone() for name, tensor in learnt(module).items()}


def restore(module: nn.Module, weights: Tensors) -> None:
    """Put back what `copied` gave; `ValueError` when these are weights of another module."""
    wanted = set(learnt(module))
    if wanted != set(weights):
        other = sorted(wanted ^ set(weights))[0]
        raise ValueError(f"{other}: on one side only of checkpoint and module")
    module.load_state_dict(weights, strict=False)


def save_progress(
    folder: Path,
    module: nn.Module,
    optimiser: torch.optim.Optimizer,
    progress: Progress,
    told: Mapping[str, Any],
) -> None:
    """Write ``folder / "last"``; ``told`` says what run this is."""
    tensors = {f"weights/{k}": v for k, v in learnt(module).items()}
    tensors |= {f"best/{k}": v for k, v in progress.best.items()}
    for name, parameter in module.named_parameters():
        for key, value in optimiser.state.get(parameter, {}).items():
            tensors[f"adam/{key}/{name}"] = value
    with atomic_folder(folder / "last") as work:
        save_file(_apart(tensors), work / _TENSORS)
        write_json(work / _STATE, {"format": _FORMAT, "run": told, "at": progress.numbers()})


def _apart(tensors: Tensors) -> Tensors:
    """On the CPU, none a view or a part of another, as safetensors wants them; what is so already
    is not copied, for a tuned encoder with its Adam moments takes gigabytes."""
    found: Tensors = {}
    seen: set[int] = set()
    for name, given in tensors.items():
        tensor = given.detach().cpu().contiguous()
        storage = tensor.untyped_storage()
        if storage.nbytes() != tensor.nbytes or storage.data_ptr() in seen:
            tensor = tensor.clone()
        seen.add(tensor.untyped_storage().data_ptr())
        found[name] = tensor
    return found


def load_progress(
    folder: Path, module: nn.Module, optimiser: torch.optim.Optimizer, told: Mapping[str, Any]
) -> Progress:
    """Go on with the run in ``folder / "last"``; a new `Progress` where there is none.

    `StaleCacheError` when it is damaged or another run's, with what differs.
    """
    last = folder / "last"
    if not last.exists():
        return Progress()
    try:
        state = json.loads((last / _STATE).read_bytes())
        if state["format"] != _FORMAT:
            raise ValueError(f"format {state['format']}, expected {_FORMAT}")
        other = differences(state["run"], told)
        if other:
            raise StaleCacheError(
                f"{last}: a checkpoint of another run ({other}); remove the folder, or name another"
            )
        tensors = load_file(last / _TENSORS)
        progress = Progress(**state["at"], best=_under(tensors, "best/"))
        restore(module, _under(tensors, "weights/"))
        _load_moments(module, optimiser, tensors)
    except (OSError, ValueError, KeyError, TypeError, RuntimeError, SafetensorError) as error:
        raise StaleCacheError(
            f"{last}: not a checkpoint of this head ({' '.join(str(error).split())[:200]}); "
            "remove the folder to begin anew"
        ) from error
    return progress


def _load_moments(
    module: nn.Module, optimiser: torch.optim.Optimizer, tensors: Tensors
) -> None:  # fmt: skip
    for name, parameter in module.named_parameters():
        found = {
            key.split("/")[1]: value
            for key, value in _under(tensors, "").items()
            if key.startswith("adam/") and key.split("/", 2)[2] == name
        }
        if found:
            optimiser.state[parameter] = {
                key: value if key == "step" else value.to(parameter.device)
                for key, value in found.items()
            }


def _under(tensors: Tensors, prefix: str) -> Tensors:
    return {k.removeprefix(prefix): v for k, v in tensors.items() if k.startswith(prefix)}
