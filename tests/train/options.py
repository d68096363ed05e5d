"""Settings of small runs, with the options of TRL and PEFT beside the trainer's own."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

from train import sft
from train.checkpoints import Plan
from train.loading import load_base
from train.settings import LORA, OF_ADAPTER, SFTSettings

_LORA: Final = {*LORA, *OF_ADAPTER}
QUICK: Final = {
    "bf16": False, "eval_strategy": "no", "report_to": "none", "logging_steps": 1,
}  # fmt: skip
"""No reports, and no evaluation but the last one."""


def settings_of(**given: Any) -> SFTSettings:
    """Settings from one flat mapping."""
    own = {name: value for name, value in given.items() if name in SFTSettings.model_fields}
    rest = {name: value for name, value in given.items() if name not in own}
    lora = {name: rest.pop(name) for name in _LORA & rest.keys()}
    return SFTSettings.model_validate(own | {"sft": rest, "lora": lora})


def two_steps(base: Path, data: Path, out: Path, **changes: Any) -> SFTSettings:
    """Settings of two steps in which the verdict weighs more."""
    values = {
        "name": "two", "data": str(data), "model": str(base / "model"), "out": str(out),
        "max_steps": 2, "rows_per_step": 6, "r": 4, "learning_rate": 1e-2,
        "verdict_weight": 3, "max_length": 1200,
    }  # fmt: skip
    return settings_of(**(QUICK | values | changes))


def trainer_of(settings: SFTSettings) -> Any:
    """A trainer before its first step, with a drawn adapter: a fresh one changes nothing."""
    import torch

    tokenizer, model = load_base(settings)
    parts = {
        part: sft._dataset(Path(settings.data) / f"{part}.jsonl", tokenizer, settings)
        for part in ("train", "dev")
    }
    made = sft._trainer(settings, tokenizer, model, parts, Plan({}, 2))
    torch.manual_seed(0)
    for name, parameter in made.model.named_parameters():
        if "lora_B" in name:
            torch.nn.init.normal_(parameter, std=0.1)
    return made
