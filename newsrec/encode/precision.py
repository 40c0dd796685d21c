"""The arithmetic of a model: half precision and int8, one row at a time.

Half precision keeps the weights of linear layers in 16 bits and everything between them in 32
(autocast). int8 rounds each row of activations with its own scale, so a text's vector does not
depend on its neighbours; torch's dynamic quantisation takes one scale for the whole batch, and its
does.
"""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext

import torch
from torch import Tensor, nn

from newsrec.errors import ConfigError

_HALF = {"bf16": torch.bfloat16, "fp16": torch.float16}
#: Weights in linear layers from which half precision pays on a CPU; below, casting eats the gain.
_LARGE = 10_000_000


def choose(wanted: str, device: torch.device, model: nn.Module, backend: str = "torch") -> str:
    """``fp32``, ``bf16``, ``fp16`` or ``int8`` for ``wanted``, which may be ``auto``; only models
    of ``backend`` torch that newsrec runs itself have a choice.

    ``auto``: bf16 (else fp16) on CUDA; bf16 for a large model on a CPU that multiplies it natively
    (AVX512_BF16, AMX); else fp32. Raises `ConfigError` for what the device cannot do.
    """
    if backend != "torch":
        if wanted not in ("auto", "fp32"):
            raise ConfigError(f"precision {wanted!r} is for transformers in torch; use 'auto'")
        return "fp32"
    if wanted == "auto":
        return _automatic(device, model)
    if wanted == "int8" and device.type != "cpu":
        raise ConfigError(f"precision 'int8' is for CPUs, the device is {device}; use 'auto'")
    if wanted == "fp16" and device.type == "cpu":
        raise ConfigError("precision 'fp16' is for GPUs; on a CPU use 'bf16' or 'int8'")
    return wanted


def apply(model: nn.Module, precision: str) -> None:
    """Convert the linear layers of ``model`` in place."""
    for parent in list(model.modules()):
        for name, layer in parent.named_children():
            if type(layer) is not nn.Linear:
                continue
            if precision == "int8":
                setattr(parent, name, Int8Linear(layer))
            elif precision in _HALF:
                layer.to(_HALF[precision])


def arithmetic(precision: str, device: torch.device) -> AbstractContextManager[object]:
    """The context in which a converted model runs."""
    if precision in _HALF:
        return torch.autocast(device.type, dtype=_HALF[precision])
    return nullcontext()


class Int8Linear(nn.Module):
    """``y = x W' + b`` with W as int8 and a scale per output, x as int8 and a scale per row.

    Products are summed in int32, so the result of a row is the same in any batch.
    """

    def __init__(self, layer: nn.Linear) -> None:
        super().__init__()
        weight = layer.weight.detach().float()
        # Without VNNI the CPU adds two products in int16; 6 bits of weight keep that in range.
        top = 127 if torch.cpu._is_vnni_supported() else 63
        scale = weight.abs().amax(1).clamp_min(1e-12) / top
        self.weight_t: Tensor
        self.scale: Tensor
        self.register_buffer("weight_t", (weight / scale[:, None]).round().to(torch.int8).t())
        self.register_buffer("scale", scale)
        bias = torch.zeros(len(weight)) if layer.bias is None else layer.bias.detach().float()
        self.bias: Tensor
        self.register_buffer("bias", bias)

    def forward(self, x: Tensor) -> Tensor:
        """``(…, in)`` to ``(…, out)`` float32."""
        rows = x.reshape(-1, x.shape[-1]).float()  # (n, in)
        step = rows.abs().amax(1, keepdim=True).clamp_min(1e-12) / 127  # (n, 1)
        products = torch._int_mm((rows / step).round_().to(torch.int8), self.weight_t)
        y = torch.addcmul(self.bias, products.float().mul_(step), self.scale)
        return y.reshape(*x.shape[:-1], -1)


def _automatic(device: torch.device, model: nn.Module) -> str:
    if device.type == "cuda":
        return "bf16" if torch.cuda.is_bf16_supported(including_emulation=False) else "fp16"
    if device.type != "cpu" or not native_bf16():
        return "fp32"
    linear = (layer.weight.numel() for layer in model.modules() if isinstance(layer, nn.Linear))
    return "bf16" if sum(linear) >= _LARGE else "fp32"


def native_bf16() -> bool:
    """Whether this CPU multiplies bf16 without emulating it."""
    asks = ("_is_avx512_bf16_supported", "_is_amx_tile_supported")
    return any(bool(getattr(torch.cpu, ask, bool)()) for ask in asks)
