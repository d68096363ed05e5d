"""Settings of the trainer: its own, and those that are handed to TRL and PEFT."""

from __future__ import annotations

import math
from typing import Any, ClassVar, Final, Literal, Self

from pydantic import Field, field_validator, model_validator

from gradegpt.chains.chain import PromptSettings
from gradegpt.core.errors import SettingsError
from gradegpt.core.settings import RunSettings, typed

SFT: Final[dict[str, Any]] = {
    "seed": 0, "max_length": 1024, "max_steps": -1, "num_train_epochs": 1,
    "per_device_train_batch_size": 16, "per_device_eval_batch_size": 32, "learning_rate": 2e-4,
    "lr_scheduler_type": "cosine", "warmup_steps": 0.03, "bf16": True,
    "train_sampling_strategy": "group_by_length", "gradient_checkpointing": False,
    "eval_strategy": "steps", "eval_steps": 200, "metric_for_best_model": "loss",
    "save_steps": 200, "logging_steps": 20, "report_to": "tensorboard",
}  # fmt: skip
"""The options of TRL's ``SFTConfig`` whose default is another one here.

Rows of more than ``max_length`` tokens are left out, never cut. Batches have rows of similar length
(``group_by_length``) or random ones. A checkpoint is written every ``save_steps`` and with every
evaluation.
"""
LORA: Final[dict[str, Any]] = {
    "r": 16, "lora_alpha": 32, "lora_dropout": 0.0, "target_modules": "all-linear",
}  # fmt: skip
"""The options of PEFT's ``LoraConfig`` whose default is another one here."""
OF_ADAPTER: Final = (
    "r", "lora_alpha", "lora_dropout", "layers_to_transform", "use_dora", "use_rslora",
)  # fmt: skip
"""The options of LoRA that an adapter to train on from already has."""
_OURS: Final = {
    "gradient_accumulation_steps": "rows_per_step", "packing": "packing", "padding_free": "packing",
    "model_init_kwargs": "attention", "output_dir": "out",
    **dict.fromkeys(
        ("assistant_only_loss", "completion_only_loss", "dataset_kwargs", "load_best_model_at_end",
         "loss_type", "push_to_hub", "task_type")
    ),
}  # fmt: skip
"""Options of either class that this trainer sets itself, and the setting that there is instead."""


class SFTSettings(RunSettings):
    """LoRA supervised fine-tuning with TRL and PEFT.

    The best evaluated step by ``sft.metric_for_best_model`` (loss or verdict_accuracy, on rows of
    dev) becomes the adapter. With ``sft.eval_strategy: no`` it is the last step.
    """

    command: ClassVar[str] = "train"
    merged: ClassVar[tuple[str, ...]] = ("sft", "lora")
    data: str
    """Folder with train.jsonl and dev.jsonl from data_gen."""
    model: str
    """A local folder, a hub name, or ``nano``, the built-in base."""
    base_name: str = ""
    """The base's name in the adapter, such as its hub name where ``model`` is a local folder."""
    adapter: str = ""
    """Start from this adapter of the model instead of a new one; its LoRA settings must equal the
    ones here."""
    prompt: PromptSettings | None = None
    """Stored beside the adapter; by default the settings in the manifest of the rows."""
    rows_per_step: int = Field(default=16, ge=1)
    """Rows of an optimizer step over all processes, which share them equally. A process takes its
    share in passes of at most ``sft.per_device_train_batch_size`` rows."""
    sft: dict[str, Any] = Field(default={}, validate_default=True, examples=[SFT])
    """Options of TRL's ``SFTConfig``, besides those in ``SFT``."""
    lora: dict[str, Any] = Field(default={}, validate_default=True, examples=[LORA])
    """Options of PEFT's ``LoraConfig``, besides those in ``LORA``. ``layers_to_transform`` with the
    later layers alone leaves the others without a backward pass: with half of them a step takes
    three quarters of the time and half of the memory."""
    qlora: bool = False
    """Load the base in 4-bit nf4 (bitsandbytes) and train the adapter on top."""
    share_prefix: bool = False
    """Compute the common prefixes of a batch's rows once, such as the instruction, without padding.
    Lines of at most ``max_length`` tokens run one after another, so memory does not depend on the
    batch. The step is the same. For one process."""
    packing: bool = False
    """Put the rows of a batch one after another instead of padding them. No row sees another. For
    a GPU with flash attention; other kernels compute the attention between rows, too."""
    attention: str | None = None
    """The attention's name in transformers, such as ``sdpa``, ``flash_attention_2`` or
    ``kernels-community/flash-attn2`` (``pip install kernels``). By default flash attention where
    its package is installed, else sdpa, on a CPU with short rows eager."""
    verdict_weight: float = Field(default=1.0, gt=0)
    """Loss weight of the verdict tag's tokens; every other token of the chain counts 1."""
    chain_weight: float | None = Field(default=None, ge=0)
    """Makes the loss of a row that of its verdict, plus ``chain_weight`` times the mean loss of the
    other tokens of its chain; of a tag alone nothing else counts. So a long chain weighs no more
    than a short one. Instead of ``verdict_weight``."""
    twin_weight: float = Field(default=0.0, ge=0)
    """Weight of the margin between twins, the right and wrong answers to one question that
    data_gen marks: ``max(0, twin_margin - (right - wrong))`` of each such pair, where a verdict's
    value is the logit of ``<Yes>`` less that of ``<No>``. Cross-entropy alone over-learns how they
    differ (PairCFR, arXiv 2406.06633). Needs ``chain_weight``."""
    twin_margin: float = Field(default=2.0, ge=0)
    dev_rows: int = Field(default=0, ge=0)
    """The number of first rows of dev that an evaluation measures; 0 uses all rows."""
    save_dtype: Literal["float32", "bfloat16"] = "float32"
    """The type of the saved adapter's weights; checkpoints keep the type used in training."""

    @field_validator("sft", "lora")
    @classmethod
    def _complete(cls, given: dict[str, Any], info: Any) -> dict[str, Any]:
        """The options given, typed, over the defaults."""
        defaults = SFT if info.field_name == "sft" else LORA
        for name in sorted(_OURS.keys() & given.keys()):
            instead = f", and set {_OURS[name]}" if _OURS[name] else ""
            raise ValueError(f"{name}: set by this trainer; leave it out{instead}")
        made = defaults | {name: typed(value) for name, value in given.items()}
        for name, usual in defaults.items():
            if type(usual) in (int, float) and type(made[name]) not in (int, float):
                raise ValueError(f"{name}: expected a number, got {made[name]!r}")
            if type(usual) is int and usual >= 1 and made[name] <= 0:
                raise ValueError(f"{name}: expected more than 0, got {made[name]!r}")
        return made

    @model_validator(mode="after")
    def _fit_together(self) -> Self:
        if self.metric not in ("loss", "verdict_accuracy"):
            raise ValueError(
                f"sft.metric_for_best_model: {self.metric} is not measured; use loss or "
                "verdict_accuracy"
            )
        if self.packing and self.share_prefix:
            raise ValueError("packing: share_prefix packs rows already; leave one of them out")
        if self.chain_weight is None and self.twin_weight:
            raise ValueError("twin_weight: needs the loss of whole rows; set chain_weight too")
        if self.chain_weight is not None and self.verdict_weight != 1:
            raise ValueError("verdict_weight: has no meaning beside chain_weight; leave it out")
        return self

    @property
    def evaluates(self) -> bool:
        """Whether the training is interrupted by evaluations."""
        return bool(self.sft["eval_strategy"] != "no")

    @property
    def metric(self) -> str:
        """The metric that chooses the adapter among the evaluated steps."""
        return str(self.sft["metric_for_best_model"]).removeprefix("eval_")

    def passes(self, processes: int) -> tuple[int, int]:
        """The rows of a pass and the passes of a step, in each of so many processes.

        Raises:
            SettingsError: the processes cannot have equal shares.

        """
        share, rest = divmod(self.rows_per_step, processes)
        if rest:
            raise SettingsError(
                f"rows_per_step: {self.rows_per_step} rows cannot be shared by {processes} "
                f"processes; set rows_per_step={max(1, share) * processes}"
            )
        # Shared prefixes bound memory by lines, not by rows.
        most = share if self.share_prefix else int(self.sft["per_device_train_batch_size"])
        rows = next(n for n in range(min(share, most), 0, -1) if share % n == 0)
        return rows, share // rows

    def steps(self, rows: int) -> int:
        """The optimizer steps of a training on so many rows."""
        if self.sft["max_steps"] > 0:
            return int(self.sft["max_steps"])
        return math.ceil(float(self.sft["num_train_epochs"]) * -(-rows // self.rows_per_step))
