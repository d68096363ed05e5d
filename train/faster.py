"""The same training step in fewer operations, as moving data dominates in a small model."""
# ruff: noqa: TID253  this module is imported only where training runs

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch
from peft.tuners.lora import Linear as LoraLinear
from torch.nn.functional import linear

from gradegpt.errors import MissingError


def speed_up_adapters(model: Any) -> int:
    """Fold LoRA layers where that costs less, else add in place; return the changed layers.

    With addition in place there is no second tensor of the output's size, nor its gradient: a step
    of a 0.5B model on a CPU takes the same time and a fifth less memory.
    """
    changed = fold_adapters(model)
    for layer in model.modules():
        if _is_plain(layer) and "forward" not in vars(layer):
            layer.forward = _Faster(layer, folded=False)
            changed += 1
    return changed


def fold_adapters(model: Any) -> int:
    """Let LoRA layers multiply once, by ``W + sBA``, where that costs less; return their number.

    A layer of ``m x n`` with rank ``r`` costs ``r(m + n)`` more multiplications per token than its
    base, once forward and twice backward; folded it costs ``mn`` once, for the gradient of the sum.
    The first is more in a model of some hundred dimensions, the second in a large one. Outputs and
    gradients are equal except for rounding (LoRA, arXiv 2106.09685, section 4.1). Layers with
    dropout, DoRA or a quantized base are unchanged, and so are all layers outside training.
    """
    folded = 0
    for layer in model.modules():
        if _folds(layer):
            layer.forward = _Faster(layer, folded=True)
            folded += 1
    return folded


def _is_plain(layer: Any) -> bool:
    if not isinstance(layer, LoraLinear) or type(layer.base_layer) is not torch.nn.Linear:
        return False
    (name, *others) = layer.lora_A
    plain = isinstance(layer.lora_dropout[name], torch.nn.Identity) and not layer.lora_variant
    return plain and not others


def _folds(layer: Any) -> bool:
    if not _is_plain(layer):
        return False
    (rank,), rows, columns = layer.r.values(), layer.out_features, layer.in_features
    return bool(3 * rank * (rows + columns) > rows * columns)


class _Faster:
    """A LoRA layer's forward pass in training; a class, as a closure cannot be pickled."""

    def __init__(self, layer: Any, *, folded: bool) -> None:
        self._layer, (self._name,), self._folded = layer, layer.lora_A, folded

    def __call__(self, x: torch.Tensor, *args: Any, **kwargs: Any) -> Any:
        layer, base, name = self._layer, self._layer.base_layer, self._name
        changed = layer.disable_adapters or layer.merged or args or kwargs
        # On a GPU autocast may change the type, and moving data costs less.
        in_place = x.device.type == "cpu" and x.dtype == base.weight.dtype
        if not layer.training or changed or not (self._folded or in_place):
            return type(layer).forward(layer, x, *args, **kwargs)
        with torch.autocast(x.device.type, enabled=False):
            down, up = (part[name].weight.to(base.weight) for part in (layer.lora_A, layer.lora_B))
            if not self._folded:
                return _LoraProduct.apply(x, base.weight, base.bias, down, up, layer.scaling[name])
            weight = torch.addmm(base.weight, up, down, alpha=layer.scaling[name])
        return linear(x, weight, base.bias)


class _LoraProduct(torch.autograd.Function):  # type: ignore[misc]  # torch is not followed
    """``xW' + b + s(xA')B'`` with a frozen ``W``, and its gradients (LoRA, section 4.1)."""

    @staticmethod
    def forward(
        ctx: Any, x: Any, weight: Any, bias: Any, down: Any, up: Any, scaling: float
    ) -> Any:
        flat = x.reshape(-1, x.shape[-1])
        low = flat @ down.t()
        out = linear(flat, weight, bias).addmm_(low, up.t(), alpha=scaling)
        ctx.save_for_backward(flat, low, weight, down, up)
        ctx.scaling = scaling
        return out.view(*x.shape[:-1], -1)

    @staticmethod
    def backward(ctx: Any, grad: Any) -> Any:
        flat, low, weight, down, up = ctx.saved_tensors
        shape, grad = grad.shape[:-1], grad.reshape(-1, grad.shape[-1])
        low_grad = (grad @ up).mul_(ctx.scaling)
        x_grad = None
        if ctx.needs_input_grad[0]:
            x_grad = (grad @ weight).addmm_(low_grad, down).view(*shape, -1)
        up_grad = (grad.t() @ low).mul_(ctx.scaling)
        return x_grad, None, None, low_grad.t() @ flat, up_grad, None


def compiled_backbone(model: Any) -> Any:
    """A context in which the model's backbone runs compiled, for lines of any length.

    Generation and evaluation are not compiled, as each would need another compilation.

    Raises:
        MissingError: there is no C++ compiler on a CPU.

    """
    compilers = [os.environ.get("CXX", ""), "c++", "g++", "clang++"]
    if not torch.cuda.is_available() and not any(map(shutil.which, filter(None, compilers))):
        raise MissingError(
            "torch_compile: needs a C++ compiler on a CPU; install g++, or set torch_compile=false"
        )
    whole = model.get_base_model()
    backbone = getattr(whole, whole.base_model_prefix)
    forward = torch.compile(backbone.forward, dynamic=True)

    @contextmanager
    def compiled() -> Iterator[None]:
        backbone.forward = forward
        try:
            yield
        finally:
            del backbone.forward

    return compiled
