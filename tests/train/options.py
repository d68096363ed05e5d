"""Settings of small runs, with the options of TRL and PEFT beside the trainer's own."""

from __future__ import annotations

from typing import Any, Final

from train.settings import LORA, SFTSettings

_LORA: Final = {*LORA, "layers_to_transform", "use_dora", "use_rslora"}
QUICK: Final = {
    "bf16": False, "eval_strategy": "no", "dev_rows": 0, "report_to": "none", "logging_steps": 1,
}  # fmt: skip
"""No reports, and no evaluation but the last one."""


def settings_of(**given: Any) -> SFTSettings:
    """Settings from one flat mapping."""
    own = {name: value for name, value in given.items() if name in SFTSettings.model_fields}
    rest = {name: value for name, value in given.items() if name not in own}
    lora = {name: rest.pop(name) for name in _LORA & rest.keys()}
    return SFTSettings.model_validate(own | {"sft": rest, "lora": lora})
