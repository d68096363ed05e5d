"""Settings of the trainer."""

from __future__ import annotations

from pydantic import Field

from gradegpt.chain import PromptSettings
from gradegpt.settings import Settings


class BaseSettings(Settings):
    """Pre-training of the embedded base: a Qwen3-shaped decoder and tokenizer, from scratch."""

    name: str
    data: str
    """Folder with train.jsonl and dev.jsonl from data_gen (``kind: base``)."""
    out: str = ""
    seed: int = 0
    vocab_size: int = Field(default=4096, ge=512)
    hidden_size: int = 192
    intermediate_size: int = 576
    num_hidden_layers: int = 6
    num_attention_heads: int = 4
    head_dim: int = 48
    max_position_embeddings: int = 2048
    max_length: int = 1024
    """Rows with more tokens are left out."""
    batch_tokens: int = 8192
    max_steps: int = Field(default=1000, ge=1)
    learning_rate: float = 3e-3
    warmup_steps: int = 50
    weight_decay: float = 0.05
    prompt_weight: float = 0.1
    """Loss weight of a prompt token; a reply token counts 1."""
    verdict_weight: float = 4.0
    """Loss weight of a verdict tag in a reply: one token in many, and the one that decides."""
    bf16: bool = True
    threads: int = Field(default=2, ge=1)
    eval_every: int = 100
    save_every: int = 100

    @property
    def folder(self) -> str:
        """Where the model goes: ``out``, or ``runs/<name>``."""
        return self.out or f"runs/{self.name}"


class SFTSettings(Settings):
    """LoRA supervised fine-tuning with TRL and PEFT."""

    name: str
    data: str
    """Folder with train.jsonl and dev.jsonl from data_gen (``kind: judge``)."""
    model: str = "nano"
    """``nano``, a local folder, or a hub name."""
    out: str = ""
    seed: int = 0
    prompt: PromptSettings | None = None
    """Stored beside the adapter; none takes what the rows were made with, by their manifest."""
    max_length: int = 1024
    max_steps: int = -1
    epochs: float = 1.0
    batch_size: int = 16
    gradient_accumulation: int = 1
    eval_batch_size: int = 32
    learning_rate: float = 2e-4
    warmup_ratio: float = 0.03
    weight_decay: float = 0.0
    lr_scheduler: str = "cosine"
    lora_rank: int = Field(default=16, ge=1)
    lora_alpha: int = 32
    lora_dropout: float = 0.0
    target_modules: str = "all-linear"
    use_dora: bool = False
    use_rslora: bool = False
    qlora: bool = False
    """Load the base in 4-bit nf4 (bitsandbytes) and train the adapter on top."""
    bf16: bool = True
    gradient_checkpointing: bool = False
    verdict_weight: float = 1.0
    """Loss weight of the verdict tag's tokens; every other token of the chain counts 1."""
    threads: int | None = None
    eval_steps: int = 200
    save_steps: int = 200
    logging_steps: int = 20
    report_to: str = "tensorboard"
    resume: bool = True
    """Go on from the last checkpoint in ``out`` where there is one."""

    @property
    def folder(self) -> str:
        """Where checkpoints go: ``out``, or ``runs/<name>``; the adapter is in its ``adapter/``."""
        return self.out or f"runs/{self.name}"
