"""LoRA layers that add in place compute the same."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.train.options import settings_of
from train.loading import load_base

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

    settings = settings_of(name="x", data="", model=str(base / "model"), bf16=False)
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


def test_layers_that_add_in_place_compute_the_same(base: Path) -> None:
    """Outputs and gradients are equal in training; outside training nothing is changed."""
    import torch

    from train.faster import speed_up_adapters

    model = wrapped(base)
    plain, gradients = step(model)
    assert speed_up_adapters(model) == len(gradients) // 2 > 0
    fast, others = step(model)
    torch.testing.assert_close(fast, plain, rtol=1e-4, atol=1e-5)
    for one, other in zip(gradients, others, strict=True):
        torch.testing.assert_close(other, one, rtol=1e-3, atol=1e-4)
    logits = model.eval()(input_ids=ids()).logits
    assert torch.equal(logits, wrapped(base).eval()(input_ids=ids()).logits)


@pytest.mark.parametrize(
    "lora", [{"lora_dropout": 0.1}, {"use_dora": True}], ids=lambda lora: next(iter(lora))
)
def test_other_layers_are_left_alone(base: Path, lora: dict[str, Any]) -> None:
    """These are layers that one product cannot express."""
    from train.faster import speed_up_adapters

    model = wrapped(base, **lora)
    assert speed_up_adapters(model) == 0
    assert not [m for m in model.modules() if hasattr(m, "lora_A") and "forward" in vars(m)]
