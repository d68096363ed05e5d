"""The same training step in fewer operations: in a small model moving data is what costs."""
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


def fold_adapters(model: Any) -> int:
    """Let LoRA layers multiply once, by ``W + sBA``, where that costs less; return how many do.

    A layer of ``m x n`` with rank ``r`` costs ``r(m + n)`` more multiplications a token than its
    base, forward and twice backward; folded it costs ``mn`` once, for the gradient of the sum. The
    first is more in a model of some hundred dimensions, the second in any large one. Outputs and
    gradients are the same but for rounding (LoRA, arXiv 2106.09685, section 4.1). Layers with
    dropout, DoRA or a quantized base stay as they are, and all of them outside training.
    """
    folded = 0
    for layer in model.modules():
        if _folds(layer):
            layer.forward = _Folded(layer)
            folded += 1
    return folded


def _folds(layer: Any) -> bool:
    if not isinstance(layer, LoraLinear) or type(layer.base_layer) is not torch.nn.Linear:
        return False
    (name, *others) = layer.lora_A
    plain = isinstance(layer.lora_dropout[name], torch.nn.Identity) and not layer.lora_variant
    rank, rows, columns = layer.r[name], layer.out_features, layer.in_features
    return plain and not others and 3 * rank * (rows + columns) > rows * columns


class _Folded:
    """A LoRA layer's forward pass with one product; not a closure, so that it is pickled whole."""

    def __init__(self, layer: Any) -> None:
        self._layer, (self._name,) = layer, layer.lora_A

    def __call__(self, x: torch.Tensor, *args: Any, **kwargs: Any) -> Any:
        layer, name = self._layer, self._name
        if not layer.training or layer.disable_adapters or layer.merged or args or kwargs:
            return type(layer).forward(layer, x, *args, **kwargs)
        base, up, down = layer.base_layer, layer.lora_B[name].weight, layer.lora_A[name].weight
        with torch.autocast(x.device.type, enabled=False):
            weight = torch.addmm(base.weight, up, down, alpha=layer.scaling[name])
        return linear(x, weight, base.bias)


def compiled_backbone(model: Any) -> Any:
    """A context in which the model's backbone runs compiled, for lines of any length.

    Generation stays as it is, and so does evaluation: both would be compiled anew.

    Raises:
        MissingError: on a CPU, and there is no C++ compiler.

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
