"""The same step in fewer operations: folded LoRA layers, a compiled backbone."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from gradegpt.errors import MissingError
from train.loading import load_base
from train.settings import SFTSettings

# PEFT uses transformers' old names for itinternally.
pytestmark = pytest.mark.filterwarnings(
    "ignore:`(is_)?gradient_checkpointing(_\\w+)?` is deprecated:FutureWarning"
)


def ids() -> Any:
    """Two rows of twenty tokens."""
    import torch

    return torch.arange(40).reshape(2, 20)


def wrapped(base: Path, **lora: Any) -> Any:
    """The tiny base with a drawn adapter, in training mode."""
    import peft
    import torch

    settings = SFTSettings(name="x", data="", model=str(base / "model"), bf16=False)
    config = peft.LoraConfig(**({"r": 8, "target_modules": "all-linear"} | lora))
    torch.manual_seed(0)
    model = peft.get_peft_model(load_base(settings)[1], config)
    for name, parameter in model.named_parameters():
        if "lora_B" in name:
            torch.nn.init.normal_(parameter, std=0.1)
    return model.train()


def step(model: Any) -> tuple[Any, list[Any]]:
    """The logits, and the gradients of their sum of squares."""
    model.zero_grad()
    logits = model(input_ids=ids(), use_cache=False).logits
    logits.square().sum().backward()
    return logits.detach(), [p.grad.clone() for p in model.parameters() if p.grad is not None]


def test_folded_layers_compute_the_same(base: Path) -> None:
    """Outputs and gradients are equal in training; outside training nothing is folded."""
    import torch

    from train.faster import fold_adapters

    model = wrapped(base)
    plain, gradients = step(model)
    layers = sum("lora_A" in name for name, _ in model.named_parameters())
    assert fold_adapters(model) == layers > 0
    folded, others = step(model)
    assert not torch.equal(plain, folded), "nothing was folded"
    torch.testing.assert_close(folded, plain, rtol=1e-4, atol=1e-5)
    assert len(gradients) == len(others) == 2 * layers
    for one, other in zip(gradients, others, strict=True):
        torch.testing.assert_close(other, one, rtol=1e-3, atol=1e-4)

    model.eval()
    logits = model(input_ids=ids()).logits
    assert torch.equal(logits, wrapped(base).eval()(input_ids=ids()).logits)
    with model.disable_adapter():
        assert not torch.equal(model.train()(input_ids=ids()).logits, folded)


def test_layers_that_add_in_place_compute_the_same(base: Path) -> None:
    """Outputs and gradients of layers with a rank too small for folding are equal."""
    import torch

    from train.faster import fold_adapters, speed_up_adapters

    model = wrapped(base, r=1)
    plain, gradients = step(model)
    assert fold_adapters(model) == 0
    assert speed_up_adapters(model) == len(gradients) // 2 > 0
    fast, others = step(model)
    torch.testing.assert_close(fast, plain, rtol=1e-4, atol=1e-5)
    for one, other in zip(gradients, others, strict=True):
        torch.testing.assert_close(other, one, rtol=1e-3, atol=1e-4)


@pytest.mark.parametrize(
    "lora", [{"lora_dropout": 0.1}, {"use_dora": True}, {"r": 1}], ids=lambda lora: next(iter(lora))
)
def test_other_layers_are_left_alone(base: Path, lora: dict[str, Any]) -> None:
    """These are layers that one product cannot express, and ranks for which it would cost more."""
    from train.faster import fold_adapters

    model = wrapped(base, **lora)
    folded = fold_adapters(model)
    left = [m for m in model.modules() if hasattr(m, "lora_A") and "forward" not in vars(m)]
    assert folded == 0
    assert left


def test_compiling_needs_a_compiler(base: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The error comes before the first step and says what to do."""
    import torch

    from train import faster
    from train.faster import compiled_backbone

    monkeypatch.setattr(faster.shutil, "which", lambda _: None)
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    with pytest.raises(MissingError, match=r"needs a C\+\+ compiler.*torch_compile=false"):
        compiled_backbone(wrapped(base))


def test_the_backbone_is_compiled_inside_the_context_alone(
    base: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It compiles the forward pass of the model with the adapter."""
    import torch

    from train.faster import compiled_backbone

    calls: list[str] = []

    def compile_(function: Any, *, dynamic: bool) -> Any:
        assert dynamic
        return lambda *args, **kwargs: calls.append("compiled") or function(*args, **kwargs)

    monkeypatch.setattr(torch, "compile", compile_)
    model = wrapped(base)
    compiled = compiled_backbone(model)
    plain = model(input_ids=ids()).logits
    assert not calls
    with compiled():
        assert torch.equal(model(input_ids=ids()).logits, plain)
    model(input_ids=ids())
    assert calls == ["compiled"]


@pytest.mark.slow
def test_compiled_steps_compute_the_same(base: Path) -> None:
    """Folded and compiled steps equal plain ones."""
    import torch

    from train.faster import compiled_backbone, fold_adapters

    model = wrapped(base)
    plain, gradients = step(model)
    fold_adapters(model)
    with compiled_backbone(model)():
        logits, others = step(model)
    torch.testing.assert_close(logits, plain, rtol=1e-4, atol=1e-5)
    for one, other in zip(gradients, others, strict=True):
        torch.testing.assert_close(other, one, rtol=1e-3, atol=1e-4)
