"""Settings of the trainer."""

from __future__ import annotations

from typing import ClassVar, Literal

from pydantic import Field, ValidationInfo, field_validator

from gradegpt.chain import PromptSettings
from gradegpt.settings import Settings


class SFTSettings(Settings):
    """LoRA supervised fine-tuning with TRL and PEFT."""

    command: ClassVar[str] = "train"
    name: str
    data: str
    """Folder with train.jsonl and dev.jsonl from data_gen."""
    model: str
    """A local folder, a hub name, or ``nano``, the built-in base."""
    base_name: str = ""
    """The base's name in the adapter, such as its hub name where ``model`` is a local folder."""
    adapter: str = ""
    """Start from this adapter of the model instead of a new one; its LoRA settings must equal the
    ones here."""
    interpolate: float = Field(default=1.0, gt=0, le=1)
    """The weight of the trained adapter against the initial ``adapter``: 0.5 saves their mean,
    which forgets less of the initial one (WiSE-FT, arXiv 2109.01903)."""
    out: str = ""
    seed: int = 0
    """Seeds the adapter's initial weights and dropout, and without data_seed the order of rows."""
    data_seed: int | None = None
    prompt: PromptSettings | None = None
    """Stored beside the adapter; by default the settings in the manifest of the rows."""
    max_length: int = Field(default=1024, ge=1)
    """Rows with more tokens are left out, never cut; with packing, also a sequence's length."""
    packing: bool = False
    """Pack the rows of a batch into few sequences; no row sees another. Only the layout changes."""
    share_prefix: bool = False
    """Compute the common prefixes of a batch's rows once, such as the instruction, without padding.
    Lines of at most ``max_length`` tokens run one after another, so memory does not depend on
    ``batch_size``. Only the layout changes. For one process."""
    group_by_length: bool = True
    """Batches of rows of similar length, to save padding; not needed with packing."""
    max_steps: int = -1
    """Optimizer steps; -1 uses ``epochs``."""
    epochs: float = Field(default=1.0, gt=0)
    batch_size: int = Field(default=16, ge=1)
    """Rows per forward pass of a process; a step has this times ``gradient_accumulation`` times the
    number of processes."""
    gradient_accumulation: int = Field(default=1, ge=1)
    eval_batch_size: int = Field(default=32, ge=1)
    learning_rate: float = Field(default=2e-4, gt=0)
    warmup_ratio: float = Field(default=0.03, ge=0, lt=1)
    weight_decay: float = 0.0
    lr_scheduler: str = "cosine"
    optim: str = "adamw_torch_fused"
    """An optimizer by its name in transformers: adamw_torch, paged_adamw_8bit, ..."""
    max_grad_norm: float = Field(default=1.0, ge=0)
    """Gradients are clipped to this norm; 0 does not clip."""
    lora_rank: int = Field(default=16, ge=1)
    lora_alpha: int = 32
    lora_dropout: float = Field(default=0.0, ge=0, lt=1)
    lora_layers: int = Field(default=0, ge=0)
    """Adapt only this many last layers, or all with 0: the others run forward only, which with
    half of the layers saves a quarter of a step's time and about half of its memory."""
    target_modules: str = "all-linear"
    use_dora: bool = False
    use_rslora: bool = False
    qlora: bool = False
    """Load the base in 4-bit nf4 (bitsandbytes) and train the adapter on top."""
    bf16: bool = True
    """Compute in bfloat16. A CPU without bfloat16 products (AVX512-BF16, AMX) uses float32 instead,
    as emulated products take many times as long."""
    attn_implementation: str = "auto"
    """auto: flash_attention_2 on a GPU where it is installed; eager on a CPU for rows of at most
    1,024 tokens without share_prefix; else sdpa."""
    gradient_checkpointing: bool = False
    torch_compile: bool = Field(default=False, validate_default=True)
    """Compile the model for the training steps: two or three minutes to begin with, and on a CPU
    a step of a small model then takes about 0.7 of its time."""
    verdict_weight: float = Field(default=1.0, gt=0)
    """Loss weight of the verdict tag's tokens; every other token of the chain counts 1."""
    threads: int | None = None
    eval_steps: int = Field(default=200, ge=0)
    """Steps between evaluations on dev, each with a checkpoint. 0 evaluates only at the end."""
    dev_rows: int = Field(default=200, ge=0)
    """Rows of dev for which an evaluation generates chains; 0 measures only the loss."""
    dev_loss_rows: int = Field(default=0, ge=0)
    """The number of first rows of dev whose loss an evaluation measures; 0 uses all rows."""
    best_by: Literal["verdict_accuracy", "kappa", "loss"] = Field(
        default="verdict_accuracy", validate_default=True
    )
    """The metric by which the best evaluated step is chosen as the adapter."""
    early_stop: int = Field(default=0, ge=0)
    """Stop after this many evaluations in a row without a new best; 0 never stops."""
    save_steps: int = Field(default=200, ge=1)
    """Steps between checkpoints, besides those of the evaluations."""
    logging_steps: int = Field(default=20, ge=1)
    report_to: str = "tensorboard"
    """Where logs go besides the screen: tensorboard, wandb, mlflow, ..., or none."""
    logging_dir: str = ""
    """TensorBoard's folder; empty uses ``<out>/logs``."""
    save_dtype: Literal["float32", "bfloat16"] = "float32"
    """The type of the saved adapter's weights; checkpoints keep the type used in training."""
    push_to_hub: str = Field(default="", pattern=r"^$|^[\w.-]+(/[\w.-]+)?$")
    """A hub repository, such as ``me/my-judge``, for the adapter's folder at the end."""
    hub_private_repo: bool = True
    resume: bool = True
    """Resume from the last checkpoint in ``out``; false removes the checkpoints and restarts."""

    @field_validator("best_by")
    @classmethod
    def _has_chains(cls, value: str, info: ValidationInfo) -> str:
        if value != "loss" and info.data.get("eval_steps") and info.data.get("dev_rows") == 0:
            raise ValueError("needs generated chains; set dev_rows too, or best_by=loss")
        return value

    @field_validator("torch_compile")
    @classmethod
    def _has_one_layout(cls, value: bool, info: ValidationInfo) -> bool:
        if info.data.get("share_prefix") and (value or info.data.get("packing")):
            raise ValueError("cannot be combined with share_prefix; set packing and this to false")
        return value

    @field_validator("interpolate")
    @classmethod
    def _has_two_ends(cls, value: float, info: ValidationInfo) -> float:
        if value < 1 and not info.data.get("adapter"):
            raise ValueError("a value below 1 requires adapter; set adapter too")
        return value

    @field_validator("early_stop")
    @classmethod
    def _has_evaluations(cls, value: int, info: ValidationInfo) -> int:
        if value and info.data.get("eval_steps") == 0:
            raise ValueError("requires evaluations; set eval_steps too")
        return value

    @property
    def folder(self) -> str:
        """Where checkpoints go: ``out``, or ``runs/<name>``; the adapter is in its ``adapter/``."""
        return self.out or f"runs/{self.name}"
