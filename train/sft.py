"""LoRA fine-tuning: TRL's ``SFTTrainer`` with a PEFT adapter, loss on the chain alone."""

from __future__ import annotations

import math
import random
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from gradegpt.engines.files import name_with_digest
from gradegpt.engines.local import quiet_start
from gradegpt.errors import InputError, MissingError, SettingsError
from gradegpt.records import sha256_file, write_json
from gradegpt.shipped import adapter_of, base_of

from .adapter import Run, manifest_of, push, save_adapter
from .checkpoints import Checkpoint, Plan, remove_checkpoints, resume_point
from .dev import DevEvaluation, check_decides, dev_sample
from .loading import linear_names, load_base, load_errors
from .memory import keep_freed_memory
from .rows import encode_file, labelled, prompt_settings_of, verdict_token_ids
from .settings import SFTSettings

if TYPE_CHECKING:
    from datasets import Dataset
    from peft import LoraConfig, PeftModel
    from transformers import PreTrainedModel, PreTrainedTokenizerBase
    from trl import SFTConfig

    from .trainer import JudgeTrainer

Parts = dict[str, "Dataset"]

_SHAPING: Final = (
    "seed", "max_length", "packing", "share_prefix", "group_by_length", "learning_rate",
    "warmup_ratio", "weight_decay", "lr_scheduler", "optim", "max_grad_norm", "lora_rank",
    "lora_alpha", "lora_dropout", "lora_layers", "target_modules", "use_dora", "use_rslora",
    "qlora", "bf16", "verdict_weight",
)  # fmt: skip
"""Settings that shape the weights; ``_plan`` adds those that it stores in another form."""

_OF_ADAPTER: Final = {
    "lora_rank": "r", "lora_alpha": "lora_alpha", "lora_dropout": "lora_dropout",
    "lora_layers": "layers_to_transform", "use_dora": "use_dora", "use_rslora": "use_rslora",
}  # fmt: skip
"""Settings that an initial adapter already has, with their names in PEFT."""


def fine_tune(settings: SFTSettings) -> dict[str, Any]:
    """Train the adapter, save it with its prompt settings; return the manifest.

    With several processes (``accelerate launch``) the first one writes and returns it, and the
    others return an empty dict.

    Raises:
        MissingError: the data, the model or a package is missing.
        InputError: no row fits ``max_length``.
        SettingsError: settings contradict each other, or differ from those of the checkpoint in
            ``out``.
        EngineError: the model does not load.
        OutputError: the upload to the hub failed; the adapter is in ``out``.

    """
    data = Path(settings.data)  # checked first: the imports take long
    prompt = settings.prompt or prompt_settings_of(data)
    for part in ("train", "dev"):
        if not (data / f"{part}.jsonl").is_file():
            raise MissingError(f"{data / part}.jsonl: no such file; run gradegpt data first")
    _set_up(settings)
    tokenizer, model = load_base(settings)
    parts = {
        part: _dataset(data / f"{part}.jsonl", tokenizer, settings) for part in ("train", "dev")
    }
    if settings.dev_loss_rows:
        parts["dev"] = parts["dev"].select(range(min(settings.dev_loss_rows, len(parts["dev"]))))
    plan = _plan(settings, len(parts["train"]))
    checkpoint = _resume_point(settings, plan)
    trainer = _trainer(settings, tokenizer, model, parts, plan)
    started = time.monotonic()
    run = _train(trainer, checkpoint, settings)
    # All processes gather the weights together where each holds a shard.
    whole = trainer.accelerator.get_state_dict
    weights = whole(trainer.model_wrapped) if _sharded(trainer) else None
    if not trainer.is_world_process_zero():
        return {}
    # PEFT writes the base into the adapter; a local folder would be invalid on another machine.
    base = base_of(settings.model)
    digests = {path.name: sha256_file(path) for path in sorted(Path(base).glob("*.safetensors"))}
    base = settings.base_name or (Path(base).name if Path(base).is_dir() else base)
    seconds = time.monotonic() - started
    manifest = manifest_of(settings, base, parts, run, seconds) | {"base_sha256": digests}
    save_adapter(trainer.model, Path(settings.folder) / "adapter", prompt, manifest, weights)
    write_json(Path(settings.folder) / "manifest.json", manifest)
    if settings.push_to_hub:
        push(
            Path(settings.folder) / "adapter",
            settings.push_to_hub,
            private=settings.hub_private_repo,
        )
    return manifest


def _set_up(settings: SFTSettings) -> None:
    quiet_start()
    import datasets
    import torch
    from transformers import set_seed
    from transformers.integrations import get_available_reporting_integrations

    reporters = {*get_available_reporting_integrations(), "none", "all"}
    if settings.report_to not in reporters:
        raise MissingError(
            f"report_to={settings.report_to}: not installed, or unknown; "
            f"choose one of: {', '.join(sorted(reporters))}"
        )
    datasets.disable_progress_bars()
    set_seed(settings.seed)
    if settings.threads:
        torch.set_num_threads(settings.threads)
    if not torch.cuda.is_available():
        keep_freed_memory()


def _dataset(path: Path, tokenizer: PreTrainedTokenizerBase, settings: SFTSettings) -> Dataset:
    from datasets import Dataset

    rows = [labelled(row) for row in encode_file(path, tokenizer, settings.max_length)]
    if not rows and path.stem == "train":
        raise InputError(
            f"{path}: no row fits max_length={settings.max_length}; raise it or shorten the prompts"
        )
    return Dataset.from_list(rows)


def _trainer(
    settings: SFTSettings,
    tokenizer: PreTrainedTokenizerBase,
    model: PreTrainedModel,
    parts: Parts,
    plan: Plan,
) -> JudgeTrainer:
    from transformers.integrations import TensorBoardCallback

    from .callbacks import EarlyStop, Pace, Saves, Stamp, Trim
    from .trainer import JudgeTrainer

    evaluates = bool(settings.eval_steps) and len(parts["dev"]) > 0
    stops = [EarlyStop(settings.early_stop)] if evaluates and settings.early_stop else []
    trainer = JudgeTrainer(
        model=_continued(model, settings) if settings.adapter else model,
        args=_arguments(settings, Path(settings.folder), evaluate=evaluates),
        train_dataset=parts["train"],
        eval_dataset=parts["dev"] if len(parts["dev"]) else None,
        processing_class=tokenizer,
        peft_config=None if settings.adapter else _lora(settings, model),
        callbacks=[Trim(), Pace(), Saves(settings.save_steps), Stamp(plan), *stops],
        verdict_ids=verdict_token_ids(tokenizer),
        verdict_weight=settings.verdict_weight,
        packing=_packing(settings, tokenizer, model),
        group_by_length=settings.group_by_length,
        dev=_dev(settings, tokenizer),
        torch_compile=settings.torch_compile,
    )
    if _sharded(trainer) and settings.dev_rows:
        raise SettingsError(
            "dev_rows: chains cannot be generated while the weights are in shards (FSDP, ZeRO-3); "
            "set dev_rows=0 best_by=loss"
        )
    for callback in trainer.callback_handler.callbacks:
        if isinstance(callback, TensorBoardCallback):
            callback.logging_dir = settings.logging_dir or str(Path(settings.folder) / "logs")
    return trainer


def _packing(settings: SFTSettings, tokenizer: Any, model: Any) -> Any:
    """The collator of training batches, or None for the padding collator."""
    from .prefix import PrefixCollator
    from .trainer import PackingCollator

    if settings.share_prefix:
        return PrefixCollator(settings.max_length)
    flash = "flash" in str(model.config._attn_implementation)
    made = PackingCollator(tokenizer.pad_token_id, settings.max_length, one_line=flash)
    return made if settings.packing else None


def _sharded(trainer: JudgeTrainer) -> bool:
    return bool(trainer.is_fsdp_enabled or trainer.is_deepspeed_enabled)


def _dev(settings: SFTSettings, tokenizer: PreTrainedTokenizerBase) -> DevEvaluation | None:
    path = Path(settings.data) / "dev.jsonl"
    rng = random.Random(settings.seed)
    rows = dev_sample(path, settings.dev_rows, tokenizer, settings.max_length, rng)
    if rows and settings.eval_steps:
        check_decides(rows, settings.best_by)
    return DevEvaluation(rows, settings.eval_batch_size) if rows else None


def _lora(settings: SFTSettings, model: PreTrainedModel) -> LoraConfig:
    from peft import LoraConfig

    modules = settings.target_modules
    layers: list[int] | None = None
    if settings.lora_layers:
        count = model.config.get_text_config().num_hidden_layers
        layers = [*range(max(0, count - settings.lora_layers), count)]
        # PEFT does not accept layer numbers together with "all-linear".
        modules = ",".join(linear_names(model)) if modules == "all-linear" else modules
    return LoraConfig(
        task_type="CAUSAL_LM",
        r=settings.lora_rank,
        lora_alpha=settings.lora_alpha,
        lora_dropout=settings.lora_dropout,
        layers_to_transform=layers,
        target_modules=modules if modules == "all-linear" else modules.split(","),
        use_dora=settings.use_dora,
        use_rslora=settings.use_rslora,
    )


def _continued(model: PreTrainedModel, settings: SFTSettings) -> PeftModel:
    """The model with the adapter that training starts from."""
    from peft import PeftModel

    folder = adapter_of(settings.adapter)
    with load_errors(folder):
        wrapped = PeftModel.from_pretrained(model, folder, is_trainable=True)
    found, wanted = wrapped.peft_config["default"], _lora(settings, model)
    # The base's name in the adapter may be unknown here, and PEFT would look it up on the hub.
    found.base_model_name_or_path = base_of(settings.model)
    for setting, field in _OF_ADAPTER.items():
        has, asked = (_value(config, field) for config in (found, wanted))
        if has != asked:
            raise SettingsError(f"{setting}={asked}: {folder} has {has}; set {setting}={has}")
    return wrapped


def _value(config: Any, field: str) -> Any:
    """The value of a field as a setting: for layers their number, 0 for all layers."""
    value = getattr(config, field)
    return len(value or ()) if field == "layers_to_transform" else value


def _interpolate(model: PeftModel, settings: SFTSettings) -> None:
    """Interpolate the adapter's weights between the initial and the trained ones."""
    from peft import get_peft_model_state_dict, load_peft_weights, set_peft_model_state_dict

    start = load_peft_weights(adapter_of(settings.adapter), device="cpu")
    end = get_peft_model_state_dict(model)
    mixed = {
        name: start[name].to(value).lerp(value, settings.interpolate) for name, value in end.items()
    }
    set_peft_model_state_dict(model, mixed)


def _arguments(settings: SFTSettings, out: Path, *, evaluate: bool) -> SFTConfig:
    import torch
    from trl import SFTConfig

    on_gpu = torch.cuda.is_available()
    # Every evaluated step is saved, as it may be the best; the callback ``Saves`` adds others.
    evaluation = {
        "eval_strategy": "steps",
        "eval_steps": settings.eval_steps,
        "save_steps": settings.eval_steps,
        "metric_for_best_model": f"eval_{settings.best_by}",
        "greater_is_better": settings.best_by != "loss",
        "load_best_model_at_end": True,
    }
    try:
        return SFTConfig(
            output_dir=str(out),
            seed=settings.seed,
            data_seed=settings.data_seed,
            max_steps=settings.max_steps,
            num_train_epochs=settings.epochs,
            per_device_train_batch_size=settings.batch_size,
            per_device_eval_batch_size=settings.eval_batch_size,
            gradient_accumulation_steps=settings.gradient_accumulation,
            learning_rate=settings.learning_rate,
            warmup_steps=settings.warmup_ratio,
            weight_decay=settings.weight_decay,
            lr_scheduler_type=settings.lr_scheduler,
            optim=settings.optim,
            max_grad_norm=settings.max_grad_norm,
            max_length=settings.max_length,
            completion_only_loss=True,
            # The rows are ids and labels already; the collator packs them.
            dataset_kwargs={"skip_prepare_dataset": True},
            train_sampling_strategy="group_by_length",
            # Autocast casts the base in every product; on a CPU it is loaded in its compute type.
            bf16=settings.bf16 and on_gpu,
            use_cpu=not on_gpu,
            gradient_checkpointing=settings.gradient_checkpointing,
            ddp_find_unused_parameters=False,
            # The newest may be incomplete when a run is killed, and the best is kept besides.
            save_total_limit=3,
            logging_steps=settings.logging_steps,
            include_num_input_tokens_seen="non_padding",
            report_to=settings.report_to,
            dataloader_pin_memory=on_gpu,
            **(evaluation if evaluate else {"save_steps": settings.save_steps}),
        )
    except ValueError as error:
        raise SettingsError(
            f"transformers rejects a setting: {str(error).splitlines()[0]}"
        ) from error


def _plan(settings: SFTSettings, rows: int) -> Plan:
    from accelerate import PartialState

    data = Path(settings.data)
    processes = PartialState().num_processes
    step_rows = settings.batch_size * settings.gradient_accumulation * processes
    shaping = {name: getattr(settings, name) for name in _SHAPING} | {
        "data_seed": settings.seed if settings.data_seed is None else settings.data_seed,
        "model": name_with_digest(base_of(settings.model)),
        "rows_per_step": step_rows,
        "train.jsonl": sha256_file(data / "train.jsonl"),
    }
    if settings.adapter:
        shaping["adapter"] = name_with_digest(adapter_of(settings.adapter))
    if settings.eval_steps:  # the settings that chose the best step so far
        shaping |= {
            "best_by": settings.best_by,
            "dev_rows": settings.dev_rows,
            "dev_loss_rows": settings.dev_loss_rows,
            "dev.jsonl": sha256_file(data / "dev.jsonl"),
        }
    by_epochs = math.ceil(settings.epochs * -(-rows // step_rows))
    return Plan(shaping, settings.max_steps if settings.max_steps > 0 else by_epochs)


def _resume_point(settings: SFTSettings, plan: Plan) -> Checkpoint | None:
    from accelerate import PartialState

    out = Path(settings.folder)
    if settings.resume:
        return resume_point(out, plan, any_length=settings.lr_scheduler == "constant")
    if PartialState().is_main_process:
        remove_checkpoints(out)
    return None


def _train(trainer: JudgeTrainer, checkpoint: Checkpoint | None, settings: SFTSettings) -> Run:
    """Train, or restore a finished run, and measure the adapter to save."""
    from .callbacks import Pace, restore

    if checkpoint is not None and checkpoint.finished:
        restore(trainer, checkpoint)
        metrics: dict[str, Any] = {}
    else:
        resume = None if checkpoint is None else str(checkpoint.path)
        metrics = trainer.train(resume_from_checkpoint=resume).metrics
    state, by = trainer.state, trainer.args.metric_for_best_model
    best = None
    if settings.interpolate < 1:
        _interpolate(trainer.model, settings)
        metrics |= trainer.evaluate() if trainer.eval_dataset is not None else {}
    elif trainer.args.load_best_model_at_end and state.best_global_step:
        best = {"step": state.best_global_step, "by": by, "value": state.best_metric}
        logged = [e for e in state.log_history if e["step"] == state.best_global_step and by in e]
        metrics |= logged[0]
    elif trainer.eval_dataset is not None:
        metrics |= trainer.evaluate()
    (pace,) = (c for c in trainer.callback_handler.callbacks if isinstance(c, Pace))
    return Run(
        steps=state.global_step,
        best=best,
        metrics={k: round(v, 5) for k, v in metrics.items() if isinstance(v, float)},
        parameters=trainer.model.get_nb_trainable_parameters(),
        tokens_per_second=pace.tokens_per_second,
        processes=trainer.args.world_size,
    )
