"""LoRA fine-tuning: TRL's ``SFTTrainer`` with a PEFT adapter, loss on the chain alone."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gradegpt.engines.local import PROMPT_FILE, quiet_start
from gradegpt.errors import EngineError, InputError
from gradegpt.judges.build import embedded
from gradegpt.records import sha256_file, write_json
from train.rows import encode_file, prompt_settings_of, verdict_token_ids
from train.settings import SFTSettings

if TYPE_CHECKING:
    from datasets import Dataset
    from peft import LoraConfig
    from transformers import PreTrainedModel, PreTrainedTokenizerBase
    from trl import SFTConfig


def fine_tune(settings: SFTSettings) -> dict[str, Any]:
    """Train the adapter, save it with its prompt settings; return the manifest.

    Raises:
        MissingError: the data, the model or a package is not there.
        InputError: no row fits ``max_length``.
        EngineError: the model does not load.

    """
    quiet_start()
    import datasets
    import torch
    from transformers import set_seed
    from transformers.trainer_utils import get_last_checkpoint

    from train.trainer import JudgeTrainer

    datasets.disable_progress_bars()
    set_seed(settings.seed)
    if settings.threads:
        torch.set_num_threads(settings.threads)
    out, data = Path(settings.folder), Path(settings.data)
    prompt = settings.prompt or prompt_settings_of(data)
    base = embedded(settings.model, "gradegpt-nano")
    tokenizer, model = _load(base, settings)
    parts = {
        part: _dataset(data / f"{part}.jsonl", tokenizer, settings) for part in ("train", "dev")
    }
    trainer = JudgeTrainer(
        model=model,
        args=_arguments(settings, out, evaluate=len(parts["dev"]) > 0),
        train_dataset=parts["train"],
        eval_dataset=parts["dev"] if len(parts["dev"]) else None,
        processing_class=tokenizer,
        peft_config=_lora(settings),
        verdict_ids=verdict_token_ids(tokenizer),
        verdict_weight=settings.verdict_weight,
    )
    started = time.monotonic()
    checkpoint = get_last_checkpoint(str(out)) if settings.resume and out.is_dir() else None
    result = trainer.train(resume_from_checkpoint=checkpoint)
    metrics = result.metrics | (trainer.evaluate() if trainer.eval_dataset is not None else {})
    # PEFT writes the base into the adapter; a folder of this machine means nothing elsewhere.
    name = Path(base).name if Path(base).is_dir() else base
    trainer.model.peft_config["default"].base_model_name_or_path = name
    trainer.model.save_pretrained(out / "adapter", save_embedding_layers=False)
    write_json(out / "adapter" / PROMPT_FILE, prompt.model_dump(mode="json"))
    manifest = _manifest(settings, name, parts, metrics, time.monotonic() - started)
    write_json(out / "manifest.json", manifest)
    return manifest


def _load(base: str, settings: SFTSettings) -> tuple[PreTrainedTokenizerBase, PreTrainedModel]:
    import torch
    from safetensors import SafetensorError
    from transformers import AutoModelForCausalLM, AutoTokenizer, BitsAndBytesConfig

    on_gpu = torch.cuda.is_available()
    quantization = BitsAndBytesConfig(
        load_in_4bit=True,
        bnb_4bit_quant_type="nf4",
        bnb_4bit_use_double_quant=True,
        bnb_4bit_compute_dtype=torch.bfloat16 if settings.bf16 else torch.float32,
    )
    try:
        tokenizer = AutoTokenizer.from_pretrained(base)
        model = AutoModelForCausalLM.from_pretrained(
            base,
            dtype=torch.bfloat16 if on_gpu and settings.bf16 else torch.float32,
            quantization_config=quantization if settings.qlora else None,
        )
    except (OSError, ValueError, RuntimeError, SafetensorError) as error:
        raise EngineError(f"{base}: does not load: {str(error).splitlines()[0]}") from error
    if tokenizer.chat_template is None:
        raise EngineError(
            f"{base}: its tokenizer has no chat template; take the model's chat or instruct version"
        )
    if tokenizer.pad_token_id is None:
        tokenizer.pad_token = tokenizer.eos_token
    return tokenizer, model


def _dataset(path: Path, tokenizer: PreTrainedTokenizerBase, settings: SFTSettings) -> Dataset:
    from datasets import Dataset

    rows = list(encode_file(path, tokenizer, settings.max_length))
    if not rows and path.stem == "train":
        raise InputError(
            f"{path}: no row fits max_length={settings.max_length}; raise it or shorten the prompts"
        )
    return Dataset.from_list(rows)


def _lora(settings: SFTSettings) -> LoraConfig:
    from peft import LoraConfig

    modules: str | list[str] = settings.target_modules
    return LoraConfig(
        task_type="CAUSAL_LM",
        r=settings.lora_rank,
        lora_alpha=settings.lora_alpha,
        lora_dropout=settings.lora_dropout,
        target_modules=modules if modules == "all-linear" else str(modules).split(","),
        use_dora=settings.use_dora,
        use_rslora=settings.use_rslora,
    )


def _arguments(settings: SFTSettings, out: Path, *, evaluate: bool) -> SFTConfig:
    import torch
    from trl import SFTConfig

    return SFTConfig(
        output_dir=str(out),
        seed=settings.seed,
        max_steps=settings.max_steps,
        num_train_epochs=settings.epochs,
        per_device_train_batch_size=settings.batch_size,
        per_device_eval_batch_size=settings.eval_batch_size,
        gradient_accumulation_steps=settings.gradient_accumulation,
        learning_rate=settings.learning_rate,
        warmup_steps=settings.warmup_ratio,
        weight_decay=settings.weight_decay,
        lr_scheduler_type=settings.lr_scheduler,
        max_length=settings.max_length,
        completion_only_loss=True,
        packing=False,
        train_sampling_strategy="group_by_length",
        bf16=settings.bf16,
        use_cpu=not torch.cuda.is_available(),
        gradient_checkpointing=settings.gradient_checkpointing,
        eval_strategy="steps" if settings.eval_steps and evaluate else "no",
        eval_steps=settings.eval_steps or None,
        save_steps=settings.save_steps,
        save_total_limit=2,
        logging_steps=settings.logging_steps,
        report_to=settings.report_to,
        dataloader_pin_memory=torch.cuda.is_available(),
    )


def _manifest(
    settings: SFTSettings,
    base: str,
    parts: dict[str, Dataset],
    metrics: dict[str, Any],
    seconds: float,
) -> dict[str, Any]:
    import peft
    import torch
    import transformers
    import trl

    return {
        "stage": "train",
        "settings": settings.model_dump(mode="json"),
        "base": base,
        "data": {part: sha256_file(Path(settings.data) / f"{part}.jsonl") for part in parts},
        "rows": {part: len(rows) for part, rows in parts.items()},
        "tokens": sum(len(ids) for ids in parts["train"]["input_ids"]),
        "metrics": {k: round(v, 5) for k, v in metrics.items() if isinstance(v, float)},
        "minutes": round(seconds / 60, 1),
        "versions": {m.__name__: m.__version__ for m in (torch, transformers, trl, peft)},
    }
